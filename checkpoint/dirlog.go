package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

// dirLog is a folder in the hands of one run.
type dirLog struct {
	path     string
	pipeline string
	files    folder
	lease    lease

	mu    sync.Mutex // held by every method, so that Close may come from anywhere
	index []entry    // ascending
	tip   *facts     // of the newest; nil: not read yet
	out   *encoder
	// leftover is why files that nobody needs are still there. The next Save tries again; Close returns it.
	leftover error
	// refused is why the log can only be closed.
	refused error
	closed  bool
}

// usable returns an error if no method may run now.
func (l *dirLog) usable(ctx context.Context) error {
	if l.closed {
		return ErrClosed
	}
	if l.refused != nil {
		return l.refused
	}
	return ctx.Err()
}

func (l *dirLog) newest() link {
	if len(l.index) == 0 {
		return link{}
	}
	return l.index[len(l.index)-1].link
}

// Load reads n, or the newest, and all that its states build on.
func (l *dirLog) Load(ctx context.Context, n Number) (*Checkpoint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if n == 0 {
		n = l.newest().number
	}
	return l.load(ctx, n)
}

func (l *dirLog) load(ctx context.Context, n Number) (*Checkpoint, error) {
	if _, ok := find(l.index, n); !ok {
		return nil, l.notFound(n)
	}
	c, last, err := readChain(ctx, l.files, l.index, n)
	var d *damage
	if errors.As(err, &d) {
		intact, err := l.intactBefore(ctx, n)
		if err != nil {
			return nil, err
		}
		place := filepath.Join(l.path, storedName(d.number))
		return nil, &DamagedError{Number: n, Place: place, Intact: intact, Err: d.err}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: load %d from %s: %w", n, l.path, err)
	}
	if n == l.newest().number {
		l.tip = &last
	}
	return c, nil
}

func (l *dirLog) notFound(n Number) error {
	if n == 0 {
		return fmt.Errorf("%w: %s holds none", ErrNotFound, l.path)
	}
	return fmt.Errorf("%w: %d in %s", ErrNotFound, n, l.path)
}

// intactBefore returns the newest checkpoint before n that can be read, or 0.
func (l *dirLog) intactBefore(ctx context.Context, n Number) (Number, error) {
	var older []Number
	for _, e := range l.index {
		if e.number < n {
			older = append(older, e.number)
		}
	}
	var intact Number
	err := audit(ctx, l.files, older, func(n Number, _ *stored, err error) {
		if err == nil {
			intact = n
		}
	})
	return intact, err
}

// Close gives the lease back.
func (l *dirLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if err := errors.Join(l.leftover, l.lease.release()); err != nil {
		return fmt.Errorf("checkpoint: close %s: %w", l.path, err)
	}
	return nil
}

package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Save stores c: it is there once its file has its name and the folder is synced.
func (l *dirLog) Save(ctx context.Context, c *Checkpoint) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	h, err := l.header(ctx, c)
	if err != nil {
		return err
	}
	if err := l.lease.check(); err != nil {
		return err
	}
	temp := storedName(c.Number) + tempSuffix
	sum, err := l.write(temp, h, c)
	if err == nil {
		err = ctx.Err() // the last moment at which nothing has to be undone
	}
	if err != nil {
		l.discard(temp)
		return l.saveError(c.Number, err)
	}
	if err := l.publish(temp, c.Number); err != nil {
		return l.saveError(c.Number, err)
	}
	l.index = append(l.index, entry{link: h.link, pipeline: l.pipeline})
	l.tip = &facts{link: h.link, sum: sum, states: stateNames(c.States)}
	l.prune()
	return nil
}

func (l *dirLog) saveError(n Number, err error) error {
	return fmt.Errorf("checkpoint: save %d to %s: %w", n, l.path, err)
}

// header returns the header of c as the next one, or why it cannot be that.
func (l *dirLog) header(ctx context.Context, c *Checkpoint) (header, error) {
	at, err := c.place(l.pipeline, l.newest(), func() (map[string]bool, error) { return l.tipStates(ctx) })
	if err != nil {
		return header{}, err
	}
	h := header{link: at, taken: c.Taken, pipeline: l.pipeline}
	if !at.starts() {
		h.parentSum = l.tip.sum
	}
	return h, nil
}

// tipStates returns the stages of which the newest checkpoint holds states. Changes may only be put on one that can be
// read, so it is read if that has not happened yet.
func (l *dirLog) tipStates(ctx context.Context) (map[string]bool, error) {
	if len(l.index) == 0 {
		return nil, nil
	}
	if l.tip == nil {
		if _, err := l.load(ctx, l.newest().number); err != nil {
			return nil, err
		}
	}
	return l.tip.states, nil
}

// write writes and syncs a file whose name nobody reads yet.
func (l *dirLog) write(name string, h header, c *Checkpoint) (uint32, error) {
	f, err := l.files.Create(name)
	if err != nil {
		return 0, err
	}
	sum, err := l.out.file(f, h, c)
	if err == nil {
		err = f.Sync()
	}
	return sum, errors.Join(err, f.Close())
}

// discard removes a file that came to nothing. If that fails too, the next Save overwrites it or Open removes it.
func (l *dirLog) discard(temp string) {
	if err := l.files.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.leftover = err
	}
}

// publish gives a written file its name. When that fails it is undone; when that fails as well, nobody knows what a
// crash would leave, and the log refuses to go on.
func (l *dirLog) publish(temp string, n Number) error {
	err := l.files.Rename(temp, storedName(n))
	if err == nil {
		err = l.files.Sync()
	}
	if err == nil {
		return nil
	}
	if undo := l.unpublish(temp, n); undo != nil {
		l.refused = fmt.Errorf("%w: %w", ErrUncertain, errors.Join(err, undo))
		return l.refused
	}
	return err
}

func (l *dirLog) unpublish(temp string, n Number) error {
	for _, name := range []string{storedName(n), temp} {
		if err := l.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.files.Sync()
}

// prune removes chains that are no longer kept, newest file first: were it cut short, what is left can still be read.
// The folder is not synced for it: a file that comes back is removed again.
func (l *dirLog) prune() {
	links := make([]link, len(l.index))
	for i, e := range l.index {
		links[i] = e.link
	}
	l.leftover = nil
	for i := prunable(links) - 1; i >= 0; i-- {
		if err := l.files.Remove(storedName(links[i].number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.leftover = err
			return
		}
		l.index = slices.Delete(l.index, i, i+1)
	}
}

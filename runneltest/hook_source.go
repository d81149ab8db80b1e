package runneltest

import (
	"context"
	"io"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// HookSource returns a source whose calls go through a hook, and which is otherwise src.
func HookSource[T any](src runnel.Source[T], h Hook) runnel.Source[T] {
	return &hookedSource[T]{described: described{src}, src: src, h: newHooked(h)}
}

// described hands on what a source or sink declares of itself.
type described struct{ of any }

// Describe returns what the source or sink says.
func (d described) Describe() runnel.Traits {
	if of, ok := d.of.(runnel.Describer); ok {
		return of.Describe()
	}
	return runnel.Traits{}
}

// Validate returns what the source or sink says.
func (d described) Validate() error {
	if of, ok := d.of.(runnel.Validator); ok {
		return of.Validate()
	}
	return nil
}

type hookedSource[T any] struct {
	described
	src runnel.Source[T]
	h   *hooked
}

// Open opens the source.
func (s *hookedSource[T]) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	r := &hookedReader[T]{h: s.h}
	err := s.h.call(ctx, OpOpenSource, func() (err error) {
		r.r, err = s.src.Open(ctx, env, from)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// hookedReader has all optional abilities: where the reader does not, they say that nothing is known.
type hookedReader[T any] struct {
	h *hooked
	r runnel.Reader[T]
}

// Read reads. The end counts as a read that succeeded.
func (r *hookedReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	var f runnel.Fetch[T]
	var end error
	err := r.h.call(ctx, OpRead, func() (err error) {
		f, err = r.r.Read(ctx)
		if err == io.EOF { //nolint:errorlint // one that is wrapped is a failure
			end, err = err, nil
		}
		return err
	})
	if err != nil {
		return runnel.Fetch[T]{}, err
	}
	return f, end
}

// Commit commits.
func (r *hookedReader[T]) Commit(ctx context.Context, pos checkpoint.Position) error {
	return r.h.call(ctx, OpCommitSource, func() error { return r.r.Commit(ctx, pos) })
}

// Close closes.
func (r *hookedReader[T]) Close(ctx context.Context) error {
	return r.h.call(ctx, OpCloseSource, func() error { return r.r.Close(ctx) })
}

// Abandon tells the reader, unless the hook returns an error.
func (r *hookedReader[T]) Abandon(cause error) {
	_ = r.h.call(context.Background(), OpAbandon, func() error { // nobody could take the error
		if a, ok := r.r.(runnel.Abandoner); ok {
			a.Abandon(cause)
		}
		return nil
	})
}

// ComparePosition asks the reader.
func (r *hookedReader[T]) ComparePosition(partition string, a, b []byte) int {
	if c, ok := r.r.(runnel.PositionComparer); ok {
		return c.ComparePosition(partition, a, b)
	}
	return 0
}

// Lag asks the reader.
func (r *hookedReader[T]) Lag() map[string]int64 {
	if l, ok := r.r.(runnel.Lagger); ok {
		return l.Lag()
	}
	return nil
}

package source

import (
	"context"
	"io"
	"sync"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Func returns a source of what f returns, call by call, until it returns io.EOF itself. f waits for a value, and returns soon
// with any error when its context ends; calls come one at a time. Any other error ends the run. What f returned cannot
// be read again: at most once.
//
// Each value is handed on before the next call, so that none waits behind a slow one. Where values come fast,
// [FuncBatch] costs far less.
func Func[T any](f func(ctx context.Context) (T, error)) runnel.Source[T] {
	if f == nil {
		return funcSource[T]{}
	}
	return funcSource[T]{func(ctx context.Context, _ int) ([]T, error) {
		v, err := f(ctx)
		if err != nil {
			return nil, err
		}
		return []T{v}, nil
	}}
}

// FuncBatch is [Func] for many values at a time. f returns up to limit values, which it gives away, as soon as it has any.
// Values that come with an error are handed on before it.
func FuncBatch[T any](f func(ctx context.Context, limit int) ([]T, error)) runnel.Source[T] {
	return funcSource[T]{f}
}

type funcSource[T any] struct {
	f func(ctx context.Context, limit int) ([]T, error)
}

// Describe says that the source cannot be read again.
func (s funcSource[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "func"} }

// Validate refuses a nil function.
func (s funcSource[T]) Validate() error {
	if s.f == nil {
		return errNilFunc
	}
	return nil
}

// Open numbers the records on from a position.
func (s funcSource[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	numbers, err := newSequence(env, from)
	if err != nil {
		return nil, err
	}
	return &funcReader[T]{f: s.f, max: int(maxBatch(env)), numbers: numbers}, nil
}

// funcReader reads a function.
type funcReader[T any] struct {
	offsets
	f       func(ctx context.Context, limit int) ([]T, error)
	max     int
	numbers sequence
	err     error // what came with the values before

	mu     sync.Mutex
	closed bool                    // guarded by mu
	cancel context.CancelCauseFunc // of the call that is running, or was last; guarded by mu
}

// Read calls the function, whose context ends with ctx and with Close.
func (r *funcReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	if r.err != nil {
		return runnel.Fetch[T]{}, r.err
	}
	ctx, cancel, err := r.begin(ctx)
	if err != nil {
		return runnel.Fetch[T]{}, err
	}
	defer cancel(nil)
	values, err := r.f(ctx, r.max)
	if err != nil && err != io.EOF { //nolint:errorlint // one that is wrapped is a failure
		err = failed("func", r.numbers.next+int64(len(values)), err)
	}
	if len(values) == 0 {
		return runnel.Fetch[T]{}, err
	}
	r.err = err
	return fetchOf(&r.numbers, runnel.NewBatch(values, nil)), nil
}

// begin returns the context of a call.
func (r *funcReader[T]) begin(ctx context.Context) (context.Context, context.CancelCauseFunc, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, nil, runnel.ErrClosed
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	return ctx, r.cancel, nil
}

// Commit has nobody to tell.
func (r *funcReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

// Close ends the context of a call that is running.
func (r *funcReader[T]) Close(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.cancel != nil {
		r.cancel(runnel.ErrClosed)
	}
	return nil
}

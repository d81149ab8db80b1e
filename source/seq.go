package source

import (
	"context"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Seq returns a source of the values of an iterator. It can be read again: ranging over seq must give the same values
// each time, and a later start skips those before its position. For an iterator that can be ranged over only once, use
// [Channel] or [Func].
//
// Batches are filled before they are handed on, as an iterator cannot say whether its next value will take long. A run
// cannot end while the iterator is at work on a value.
func Seq[T any](seq iter.Seq[T]) runnel.Source[T] {
	if seq == nil {
		return seqSource[T]{}
	}
	return seqSource[T]{func(yield func(T, error) bool) {
		for v := range seq {
			if !yield(v, nil) {
				return
			}
		}
	}}
}

// Seq2 returns a source of the values of an iterator that can fail, and otherwise is as [Seq]. The first error ends the
// run; the values before it are handed on.
func Seq2[T any](seq iter.Seq2[T, error]) runnel.Source[T] { return seqSource[T]{seq} }

type seqSource[T any] struct{ seq iter.Seq2[T, error] }

// Describe says that the source can be read again.
func (s seqSource[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "seq", Replay: true} }

// Validate refuses a nil iterator.
func (s seqSource[T]) Validate() error {
	if s.seq == nil {
		return errNilFunc
	}
	return nil
}

// Open does not start the iterator; the first Read does.
func (s seqSource[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	numbers, err := newSequence(env, from)
	if err != nil {
		return nil, err
	}
	r := &seqReader[T]{max: maxBatch(env), numbers: numbers}
	r.next, r.stop = iter.Pull2(s.seq)
	return r, nil
}

// seqReader reads an iterator.
type seqReader[T any] struct {
	offsets
	max     int64
	numbers sequence
	closed  atomic.Bool

	mu     sync.Mutex // held while the iterator is at work
	next   func() (T, error, bool)
	stop   func()
	pulled int64 // values that the iterator gave
	err    error // what ended the iterator, once the values before it were handed on
}

// Read fills a batch.
func (r *seqReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	r.mu.Lock()
	defer r.unlock()
	if r.err != nil {
		return runnel.Fetch[T]{}, r.err
	}
	for r.pulled < r.numbers.next {
		if _, err := r.pull(ctx); err == io.EOF { //nolint:errorlint // one that is wrapped is a failure
			return runnel.Fetch[T]{}, behindEnd("seq", r.numbers.next, r.pulled)
		} else if err != nil {
			return runnel.Fetch[T]{}, err
		}
	}
	var values []T
	for int64(len(values)) < r.max {
		v, err := r.pull(ctx)
		if err != nil {
			r.err = err
			break
		}
		if values == nil {
			values = make([]T, 0, r.max)
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return runnel.Fetch[T]{}, r.err
	}
	return fetchOf(&r.numbers, runnel.NewBatch(values, nil)), nil
}

// pull returns the next value of the iterator; io.EOF after the last.
func (r *seqReader[T]) pull(ctx context.Context) (v T, err error) {
	switch {
	case r.closed.Load():
		return v, runnel.ErrClosed
	case ctx.Err() != nil:
		return v, context.Cause(ctx)
	}
	v, err, ok := r.next()
	switch {
	case !ok:
		return v, io.EOF
	case err != nil:
		return v, failed("seq", r.pulled, err)
	}
	r.pulled++
	return v, nil
}

// Commit has nobody to tell.
func (r *seqReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

// Close ends the iterator, or leaves that to the Read that is at work.
func (r *seqReader[T]) Close(context.Context) error {
	r.closed.Store(true)
	r.end()
	return nil
}

// unlock ends a Read, and the iterator if that was left to it.
func (r *seqReader[T]) unlock() {
	r.mu.Unlock()
	if r.closed.Load() {
		r.end()
	}
}

// end ends the iterator unless a Read is at work, which will.
func (r *seqReader[T]) end() {
	if r.mu.TryLock() {
		defer r.mu.Unlock()
		r.stop()
	}
}

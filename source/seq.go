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
	r := &seqReader[T]{max: int(maxBatch(env)), numbers: numbers}
	r.next, r.stop = iter.Pull2(batches(s.seq, numbers.next, r))
	return r, nil
}

// batches gives the values of an iterator from a start on, as many at a time as a reader takes, and what it has when the
// reader wants no more.
func batches[T any](seq iter.Seq2[T, error], start int64, r *seqReader[T]) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var values []T
		var n int64
		for v, err := range seq {
			if err != nil {
				_ = (len(values) == 0 || yield(values, nil)) && yield(nil, failed("seq", n, err))
				return
			}
			if n++; n > start {
				if values == nil {
					values = make([]T, 0, r.max)
				}
				values = append(values, v)
			}
			if len(values) == r.max || r.interrupted() {
				if !yield(values, nil) {
					return
				}
				values = nil
			}
		}
		switch {
		case n < start:
			yield(nil, behindEnd("seq", start, n))
		case len(values) > 0:
			yield(values, nil)
		}
	}
}

// seqReader reads an iterator.
type seqReader[T any] struct {
	offsets
	max    int
	closed atomic.Bool

	mu      sync.Mutex // held while the iterator is at work
	next    func() ([]T, error, bool)
	stop    func()
	done    <-chan struct{} // of the context of the Read that is at work
	numbers sequence
	err     error // what ended the iterator
}

// Read fills a batch.
func (r *seqReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	r.mu.Lock()
	defer r.unlock()
	switch {
	case r.closed.Load():
		return runnel.Fetch[T]{}, runnel.ErrClosed
	case ctx.Err() != nil:
		return runnel.Fetch[T]{}, context.Cause(ctx)
	case r.err != nil:
		return runnel.Fetch[T]{}, r.err
	}
	r.done = ctx.Done()
	values, err, ok := r.next()
	switch {
	case !ok:
		r.err = io.EOF
	case err != nil:
		r.err = err
	case len(values) > 0:
		return fetchOf(&r.numbers, runnel.NewBatch(values, nil)), nil
	case r.closed.Load():
		return runnel.Fetch[T]{}, runnel.ErrClosed
	default:
		return runnel.Fetch[T]{}, context.Cause(ctx)
	}
	return runnel.Fetch[T]{}, r.err
}

// interrupted says, from within the iterator, that the Read at work has to return.
func (r *seqReader[T]) interrupted() bool {
	select {
	case <-r.done:
		return true
	default:
		return r.closed.Load()
	}
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

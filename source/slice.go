// Package source has sources that need no system outside the process: values in memory ([Slice], [Generate]),
// iterators ([Seq]), channels ([Channel]), functions ([Func]), the time ([Ticker]), and one that the program pushes to
// ([Push]).
//
// Slices, generators and iterators are read again from a position. The others are not: what a failed attempt had read
// of them is gone, and only Push can tell who sent it. Sources of systems are in the packages beside this one.
package source

import (
	"context"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Slice returns a source of the given values, in their order. It can be read again: a position is an index, and a
// checkpoint stays good as long as the values before it do. The slice is not copied and not to be changed during a run.
func Slice[T any](values []T) runnel.Source[T] {
	return indexed[T]{kind: "slice", n: int64(len(values)), open: func(env runnel.SourceEnv) take[T] {
		a := runnel.NewAssignment(env.Name, partition)
		return func(lo, hi int64) runnel.Batch[T] {
			return runnel.NewBatch(values[lo:hi:hi], nil).WithOrigin(a, lo)
		}
	}}
}

// SliceRecords returns a source of the given records with their keys, times and headers, and otherwise as [Slice] does.
// Their origin becomes this source. Memory for them is taken once for each attempt of a run.
func SliceRecords[T any](records []runnel.Record[T]) runnel.Source[T] {
	return indexed[T]{kind: "slice", n: int64(len(records)), open: func(env runnel.SourceEnv) take[T] {
		a := runnel.NewAssignment(env.Name, partition)
		all := batchOf(records)
		return func(lo, hi int64) runnel.Batch[T] {
			return all.Slice(int(lo), int(hi)).WithOrigin(a, lo)
		}
	}}
}

// batchOf puts records side by side.
func batchOf[T any](records []runnel.Record[T]) runnel.Batch[T] {
	values, meta := make([]T, len(records)), make([]runnel.Meta, len(records))
	for i, r := range records {
		values[i], meta[i] = r.Value, r.Meta
	}
	return runnel.NewBatch(values, meta)
}

// Generate returns a source of n values that f makes from their index, 0 to n-1; f gives the same value for the same
// index each time, so that the source can be read again. A negative n means no end. It costs a few allocations for a
// batch and none for a record.
func Generate[T any](n int64, f func(i int64) T) runnel.Source[T] {
	s := indexed[T]{kind: "generate", n: n, open: func(env runnel.SourceEnv) take[T] {
		a := runnel.NewAssignment(env.Name, partition)
		var memory runnel.Buffers[T]
		return func(lo, hi int64) runnel.Batch[T] {
			d := memory.Take(int(hi - lo))
			for i := range d.Values {
				d.Values[i] = f(lo + int64(i))
			}
			d.Origin(a, lo)
			return d.Batch(len(d.Values))
		}
	}}
	if f == nil {
		s.invalid = errNilFunc
	}
	if n < 0 {
		s.n, s.endless = maxRecords, true
	}
	return s
}

// take returns the records from index lo to hi, hi left out.
type take[T any] func(lo, hi int64) runnel.Batch[T]

// indexed is a source of data that is found by index.
type indexed[T any] struct {
	kind    string
	n       int64
	endless bool // n is only the end of the numbers
	open    func(env runnel.SourceEnv) take[T]
	invalid error
}

// Describe says that the source can be read again.
func (s indexed[T]) Describe() runnel.Traits { return runnel.Traits{Kind: s.kind, Replay: true} }

// Validate returns what the source was made with and should not have been.
func (s indexed[T]) Validate() error { return s.invalid }

// Open starts at an index.
func (s indexed[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	at, err := startAt(from)
	if err != nil {
		return nil, err
	}
	if at > s.n {
		return nil, behindEnd(s.kind, at, s.n)
	}
	r := &indexedReader[T]{n: s.n, endless: s.endless, max: maxBatch(env), take: s.open(env)}
	r.at.Store(at)
	return r, nil
}

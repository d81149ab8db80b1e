package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Filter keeps the records that keep says yes to. The others are counted as filtered.
//
//	in   --1--2--3--4--|
//	Filter(even)
//	out  -----2-----4--|
//
// Order and metadata stay as they are. A panic of keep goes by the error policy.
func Filter[T any](s runnel.Stream[T], keep func(T) bool, opts ...runnel.StageOption) runnel.Stream[T] {
	return apply(s, "filter", func() runnel.Stage[T, T] { return &filterStage[T]{keep: keep} }, needs(keep != nil, opts))
}

// TryFilter keeps the records that keep says yes to, or fails for a record. The others are counted as filtered.
//
//	in   --1--2--3--4--|
//	TryFilter(even, x for 4)
//	out  -----2--------|   with runnel.Skip
//
// Order and metadata stay as they are. An error or panic of keep goes by the error policy.
func TryFilter[T any](s runnel.Stream[T], keep func(T) (bool, error), opts ...runnel.StageOption) runnel.Stream[T] {
	return apply(s, "filter", func() runnel.Stage[T, T] { return &tryFilterStage[T]{keep: keep} }, needs(keep != nil, opts))
}

type filterStage[T any] struct {
	keep func(T) bool
	rows []int32 // of the batch at hand
}

// Process filters a batch.
func (f *filterStage[T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	return each(ctx, in, out, f)
}

func (f *filterStage[T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) (int, error) {
	f.rows = room(f.rows, in.Len())
	return runPicker(in, out, f, f.rows)
}

// pick copies the values that are kept and notes their rows. It writes each value and then counts it or not, because a
// branch that depends on the data costs more than a store.
func (f *filterStage[T]) pick(to, from []T) (kept, n int, err error) {
	defer catch(&err)
	keep, to, rows := f.keep, to[:len(from)], f.rows[:len(from)]
	k := 0
	for i, v := range from {
		n, kept = i, k
		to[k], rows[k] = v, int32(i)
		if keep(v) {
			k++
		}
	}
	return k, len(from), nil
}

type tryFilterStage[T any] struct {
	keep func(T) (bool, error)
	rows []int32 // of the batch at hand
}

// Process filters a batch.
func (f *tryFilterStage[T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	return each(ctx, in, out, f)
}

func (f *tryFilterStage[T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) (int, error) {
	f.rows = room(f.rows, in.Len())
	return runPicker(in, out, f, f.rows)
}

func (f *tryFilterStage[T]) pick(to, from []T) (kept, n int, err error) {
	defer catch(&err)
	for i, v := range from {
		n = i
		ok, err := f.keep(v)
		if err != nil {
			return kept, i, err
		}
		if ok {
			to[kept], f.rows[kept] = v, int32(i)
			kept++
		}
	}
	return kept, len(from), nil
}

// picker is a stage that keeps some of the values it is given.
type picker[T any] interface {
	// pick copies the values that are kept to the front of to, and notes their rows, until one fails. It returns how many
	// it has kept and handled, and why the next failed.
	pick(to, from []T) (kept, n int, err error)
}

// runPicker emits what a stage keeps of a batch, with rows as where it notes them, and counts the others.
func runPicker[T any](in runnel.Batch[T], out *runnel.Out[T], p picker[T], rows []int32) (int, error) {
	vals := out.Buffer(in.Len())
	kept, n, err := p.pick(vals, in.Values())
	clear(vals[kept:])
	if kept == in.Len() {
		out.EmitBatch(in)
	} else {
		out.EmitPicked(vals[:kept], in.Columns(), rows[:kept])
	}
	out.Passed(kept)
	out.Filtered(n - kept)
	return n, err
}

// emitKept emits the rows that were kept of the first n records of a batch, and counts the others.
func emitKept[T any](in runnel.Batch[T], out *runnel.Out[T], rows []int32, n int) {
	out.EmitRows(in, rows)
	out.Passed(len(rows))
	out.Filtered(n - len(rows))
}

// room returns memory for n row numbers.
func room(rows []int32, n int) []int32 {
	if cap(rows) < n {
		return make([]int32, n)
	}
	return rows[:n]
}

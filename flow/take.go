package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Take passes the first n records on and ends the stream behind them.
//
//	in   --1--2--3--4--5--
//	Take(3)
//	out  --1--2--3|
//
// What follows is counted as filtered, and acknowledged with the rest; a source that nobody else reads is stopped. The
// count is state: a run that starts from a checkpoint goes on with it. n = 0 ends the stream at the first record. One
// copy runs: [runnel.Parallel] is refused.
func Take[T any](s runnel.Stream[T], n int, opts ...runnel.StageOption) runnel.Stream[T] {
	open := func() runnel.Stage[T, T] { return &takeStage[T]{limit: uint64(n)} }
	return apply(s, "take", open, with(atLeast("the number of records", n, 0, opts), runnel.Stateful()))
}

type takeStage[T any] struct {
	counter
	limit uint64
}

var (
	_ runnel.Snapshotter = (*takeStage[int])(nil)
	_ runnel.Finisher    = (*takeStage[int])(nil)
	_ runnel.Snapshotter = (*dropStage[int])(nil)
)

// Process passes on what is still wanted of a batch.
func (t *takeStage[T]) Process(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	k := in.Len()
	if left := t.limit - min(t.n, t.limit); uint64(k) > left {
		k = int(left)
	}
	t.n += uint64(k)
	out.EmitBatch(in.Slice(0, k))
	out.Passed(k)
	out.Filtered(in.Len() - k)
	return nil
}

// Finished says that all were taken.
func (t *takeStage[T]) Finished() bool { return t.n >= t.limit }

// Drop drops the first n records and passes the others on. Those dropped are counted as filtered.
//
//	in   --1--2--3--4--5--|
//	Drop(3)
//	out  -----------4--5--|
//
// Order and metadata stay as they are. The count is state: a run that starts from a checkpoint goes on with it. One copy
// runs: [runnel.Parallel] is refused.
func Drop[T any](s runnel.Stream[T], n int, opts ...runnel.StageOption) runnel.Stream[T] {
	open := func() runnel.Stage[T, T] { return &dropStage[T]{limit: uint64(n)} }
	return apply(s, "drop", open, with(atLeast("the number of records", n, 0, opts), runnel.Stateful()))
}

type dropStage[T any] struct {
	counter
	limit uint64
}

// Process passes on what is behind the limit.
func (d *dropStage[T]) Process(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	k := in.Len()
	if left := d.limit - min(d.n, d.limit); uint64(k) > left {
		k = int(left)
	}
	d.n += uint64(k)
	out.EmitBatch(in.Slice(k, in.Len()))
	out.Passed(in.Len() - k)
	out.Filtered(k)
	return nil
}

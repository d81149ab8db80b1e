package flow

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel"
)

// Route sends every record to one of n streams: the one whose index f returns, counted from 0.
//
//	in   --a--bb--c--dd--|
//	Route(2, length - 1)
//	[0]  --a------c------|
//	[1]  -----bb-----dd--|
//
// f is called once for each record. Order within each stream and metadata stay as they are. Every stream must be read;
// end one that is not wanted with a sink that discards. An index out of range fails for its record, as a panic of f
// does, and goes by the error policy; the options are those of the stage that calls f. See [Split] for two streams.
func Route[T any](s runnel.Stream[T], n int, f func(T) int, opts ...runnel.StageOption) []runnel.Stream[T] {
	opts = atLeast("the number of streams", n, 1, needs(f != nil, opts))
	find := func(v T) (routed[T], error) {
		to := f(v)
		if to < 0 || to >= n {
			return routed[T]{}, fmt.Errorf("flow: route to stream %d of %d", to, n)
		}
		return routed[T]{v, to}, nil
	}
	all := apply(s, "route", func() runnel.Stage[T, routed[T]] { return &tryMapStage[T, routed[T]]{find} }, opts)
	branches := make([]runnel.Stream[T], max(n, 0))
	for i := range branches {
		branches[i] = apply(all, "branch", func() runnel.Stage[routed[T], T] { return &branchStage[T]{index: i} }, nil)
	}
	return branches
}

// routed is a value with the stream it goes to.
type routed[T any] struct {
	value T
	to    int
}

// branchStage picks the records of one stream.
type branchStage[T any] struct {
	index int
	rows  []int32
	vals  []T // by row; only those in rows are set
}

// Process picks what goes to the stream.
func (b *branchStage[T]) Process(_ context.Context, in runnel.Batch[routed[T]], out *runnel.Out[T]) error {
	b.rows = b.rows[:0]
	for i, v := range in.Values() {
		if v.to == b.index {
			b.rows = append(b.rows, int32(i))
		}
	}
	out.Passed(len(b.rows))
	out.Filtered(in.Len() - len(b.rows))
	if len(b.rows) == in.Len() {
		vals := out.Buffer(in.Len())
		for i, v := range in.Values() {
			vals[i] = v.value
		}
		out.EmitValues(vals, in.Columns())
		return nil
	}
	if cap(b.vals) < in.Len() {
		b.vals = make([]T, in.Len())
	}
	vals := b.vals[:in.Len()]
	for _, r := range b.rows {
		vals[r] = in.Values()[r].value
	}
	out.EmitRows(runnel.Replace(in, vals), b.rows) // copies, as these are not all rows
	return nil
}

package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// FlatMap turns every record into any number of them. A record that gives none is counted as filtered.
//
//	in   --1---2--------3--|
//	FlatMap(v → v-1 times v)
//	out  ------2--------3-3|
//
// What comes of a record stays together, in the order of the slice, and each has the record's metadata. The record is
// acknowledged when all that came of it is. The slice is read before f is called again, and may be used again by it
// unless [runnel.Parallel] is given. A panic of f goes by the error policy.
func FlatMap[I, O any](s runnel.Stream[I], f func(I) []O, opts ...runnel.StageOption) runnel.Stream[O] {
	given := f != nil
	try := func(v I) ([]O, error) { return f(v), nil }
	return apply(s, "flatmap", func() runnel.Stage[I, O] { return &flatMapStage[I, O]{try} }, needs(given, opts))
}

// TryFlatMap turns every record into any number of them, or fails for it.
//
//	in   --1---2--------3--|
//	TryFlatMap(v → v-1 times v, x for 2)
//	out  ---------------3-3|   with runnel.Skip
//
// It is as [FlatMap]; an error or panic of f goes by the error policy, and nothing of that record is emitted.
func TryFlatMap[I, O any](s runnel.Stream[I], f func(I) ([]O, error), opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "flatmap", func() runnel.Stage[I, O] { return &flatMapStage[I, O]{f} }, needs(f != nil, opts))
}

// Unbatch turns every slice into its elements; an empty one is counted as filtered.
//
//	in   --[1 2]-----[3]--|
//	Unbatch
//	out  ---1-2-------3---|
//
// Each element has the metadata of its slice: what [Batch] dropped does not come back.
func Unbatch[T any](s runnel.Stream[[]T], opts ...runnel.StageOption) runnel.Stream[T] {
	same := func(v []T) ([]T, error) { return v, nil }
	return apply(s, "unbatch", func() runnel.Stage[[]T, T] { return &flatMapStage[[]T, T]{same} }, opts)
}

type flatMapStage[I, O any] struct{ f func(I) ([]O, error) }

// Process expands a batch.
func (m *flatMapStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return each(ctx, in, out, m)
}

func (m *flatMapStage[I, O]) run(_ context.Context, in runnel.Batch[I], out *runnel.Out[O]) (int, error) {
	n, passed, err := m.expand(in, out)
	out.Passed(passed)
	out.Filtered(n - passed)
	return n, err
}

func (m *flatMapStage[I, O]) expand(in runnel.Batch[I], out *runnel.Out[O]) (n, passed int, err error) {
	defer catch(&err)
	for i, v := range in.Values() {
		n = i
		vals, err := m.f(v)
		if err != nil {
			return i, passed, err
		}
		if len(vals) == 0 {
			continue
		}
		passed++
		for _, o := range vals {
			out.EmitRow(o, in.Columns(), i)
		}
	}
	return in.Len(), passed, nil
}

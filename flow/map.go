package flow

import (
	"context"
	"slices"

	"github.com/runnel-go/runnel"
)

// Map turns every record into one of another value.
//
//	in   --1---2---3--|
//	Map(v → 10v)
//	out  --10--20--30-|
//
// Order and metadata stay as they are; the metadata is not copied. f is for computing, see [MapAsync] for what waits
// and [TryMap] for what can fail. A panic of f goes by the error policy.
func Map[I, O any](s runnel.Stream[I], f func(I) O, opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "map", func() runnel.Stage[I, O] { return &mapStage[I, O]{f} }, needs(f != nil, opts))
}

// TryMap turns every record into one of another value, or fails for it.
//
//	in   --1---2---3--|
//	TryMap(v → 10v, x for 2)
//	out  --10------30-|   with runnel.Skip
//
// Order and metadata stay as they are; the metadata is not copied. An error or panic of f goes by the error policy;
// while a record is retried, those behind it wait.
func TryMap[I, O any](s runnel.Stream[I], f func(I) (O, error), opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "map", func() runnel.Stage[I, O] { return &tryMapStage[I, O]{f} }, needs(f != nil, opts))
}

type mapStage[I, O any] struct{ f func(I) O }

// Process maps a batch.
func (m *mapStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return mapBatch(ctx, in, out, m)
}

func (m *mapStage[I, O]) fill(to []O, from []I) (n int, err error) {
	defer catch(&err)
	f := m.f
	to = to[:len(from)]
	for i, v := range from {
		n = i
		to[i] = f(v)
	}
	return len(from), nil
}

type tryMapStage[I, O any] struct{ f func(I) (O, error) }

// Process maps a batch.
func (m *tryMapStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return mapBatch(ctx, in, out, m)
}

func (m *tryMapStage[I, O]) fill(to []O, from []I) (n int, err error) {
	defer catch(&err)
	f := m.f
	to = to[:len(from)]
	for i, v := range from {
		n = i
		if to[i], err = f(v); err != nil {
			return i, err
		}
	}
	return len(from), nil
}

// filler is a stage that makes one value of each.
type filler[I, O any] interface {
	// fill sets as many values as there are until one fails. It returns how many it has set, and why the next failed.
	fill(to []O, from []I) (int, error)
}

// mapBatch emits a value for each record of a batch, with the metadata of the batch as it is.
func mapBatch[I, O any](ctx context.Context, in runnel.Batch[I], out *runnel.Out[O], m filler[I, O]) error {
	vals := out.Buffer(in.Len())
	n, err := fillAll(ctx, m, vals, in.Values())
	if err != nil {
		// The buffer ends with the next call of out, so what is in it moves.
		return mapRest(ctx, in, out, m, slices.Clone(vals), n, err)
	}
	out.EmitValues(vals, in.Columns())
	return nil
}

// atOnce is how many values are made between two looks at the context, so that an abort need not wait for a batch of slow
// calls. A look costs as much as a quick call.
const atOnce = 128

// fillAll sets all values, until one fails or ctx ends.
func fillAll[I, O any](ctx context.Context, m filler[I, O], to []O, from []I) (n int, err error) {
	for n < len(from) && err == nil {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		end := min(n+atOnce, len(from))
		var more int
		more, err = m.fill(to[n:end], from[n:end])
		n += more
	}
	return n, err
}

// mapRest goes on with a batch in which record n has failed. The records that did not are emitted together, so that
// dirty input does not make for small batches behind it.
func mapRest[I, O any](ctx context.Context, in runnel.Batch[I], out *runnel.Out[O], m filler[I, O], vals []O, n int, err error) error {
	from := in.Values()
	rows := appendRows(nil, 0, n)
	for err != nil {
		ok, fatal := settle(ctx, in.Slice(n, n+1), out, err, func() error {
			_, err := m.fill(vals[n:n+1], from[n:n+1])
			return err
		})
		if fatal != nil {
			out.EmitRows(runnel.Replace(in, vals), rows)
			return fatal
		}
		if ok {
			rows = append(rows, int32(n))
		}
		var more int
		more, err = fillAll(ctx, m, vals[n+1:], from[n+1:])
		rows = appendRows(rows, n+1, more)
		n += 1 + more
	}
	out.EmitRows(runnel.Replace(in, vals), rows)
	return nil
}

// appendRows appends n row numbers from first on.
func appendRows(rows []int32, first, n int) []int32 {
	for i := range n {
		rows = append(rows, int32(first+i))
	}
	return rows
}

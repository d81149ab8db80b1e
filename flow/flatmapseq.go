package flow

import (
	"context"
	"iter"

	"github.com/runnel-go/runnel"
)

// FlatMapSeq turns every record into those that a sequence yields, without a slice of all of them. A record that gives
// none is counted as filtered.
//
//	in   --2--------3------|
//	FlatMapSeq(v → 1 … v)
//	out  --1-2------1-2-3--|
//
// What comes of a record stays together, in the order of the sequence, and each has the record's metadata. It is emitted
// as it is yielded: of a sequence that panics, what it has yielded stays, and [runnel.Retry] starts it anew and so
// repeats that. Use [TryFlatMap] where all or nothing is wanted. No marker passes before the sequence has ended.
func FlatMapSeq[I, O any](s runnel.Stream[I], f func(I) iter.Seq[O], opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "flatmap", func() runnel.Stage[I, O] { return &flatMapSeqStage[I, O]{f} }, needs(f != nil, opts))
}

// seqCheck is after how many values a sequence is stopped if the run was.
const seqCheck = 1024

type flatMapSeqStage[I, O any] struct{ f func(I) iter.Seq[O] }

// Process expands a batch.
func (m *flatMapSeqStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return each(ctx, in, out, m)
}

func (m *flatMapSeqStage[I, O]) run(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) (n int, err error) {
	defer catch(&err)
	meta, yielded := in.Columns(), 0
	// One function for all records, because a loop over the sequence would allocate for each.
	yield := func(o O) bool {
		out.EmitRow(o, meta, n)
		yielded++
		return yielded%seqCheck != 0 || ctx.Err() == nil
	}
	for i, v := range in.Values() {
		n, yielded = i, 0
		m.f(v)(yield)
		switch {
		case ctx.Err() != nil:
			return i, ctx.Err()
		case yielded > 0:
			out.Passed(1)
		default:
			out.Filtered(1)
		}
	}
	return in.Len(), nil
}

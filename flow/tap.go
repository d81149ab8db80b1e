package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Tap shows every record to f and passes it on as it is.
//
//	in   --1--2--3--|
//	Tap(print)
//	out  --1--2--3--|
//
// f must not change what the value points at: other branches of the stream share it. Nothing is copied. A panic of f
// goes by the error policy.
func Tap[T any](s runnel.Stream[T], f func(T), opts ...runnel.StageOption) runnel.Stream[T] {
	given := f != nil
	try := func(v T) error { f(v); return nil }
	return apply(s, "tap", func() runnel.Stage[T, T] { return &tapStage[T]{f: try} }, needs(given, opts))
}

// TryTap shows every record to f and passes it on as it is, unless f fails for it.
//
//	in   --1--2--3--|
//	TryTap(check, x for 2)
//	out  --1-----3--|   with runnel.Skip
//
// It is as [Tap]; an error or panic of f goes by the error policy.
func TryTap[T any](s runnel.Stream[T], f func(T) error, opts ...runnel.StageOption) runnel.Stream[T] {
	return apply(s, "tap", func() runnel.Stage[T, T] { return &tapStage[T]{f: f} }, needs(f != nil, opts))
}

type tapStage[T any] struct {
	f    func(T) error
	rows []int32
}

// Process shows a batch.
func (t *tapStage[T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	return each(ctx, in, out, t)
}

func (t *tapStage[T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) (int, error) {
	n, err := t.show(in.Values())
	if n == in.Len() {
		out.EmitBatch(in)
		return n, err
	}
	t.rows = appendRows(t.rows[:0], 0, n)
	out.EmitRows(in, t.rows)
	return n, err
}

func (t *tapStage[T]) show(vals []T) (n int, err error) {
	defer catch(&err)
	for i, v := range vals {
		n = i
		if err := t.f(v); err != nil {
			return i, err
		}
	}
	return len(vals), nil
}

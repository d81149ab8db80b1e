package runnel_test

import (
	"context"
	"strconv"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// stage is a stage made of a function.
type stage[I, O any] func(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error

func (f stage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return f(ctx, in, out)
}

func through[I, O any](s runnel.Stream[I], f stage[I, O], opts ...runnel.StageOption) runnel.Stream[O] {
	return runnel.Apply(s, "stage", nil, func(runnel.StageEnv) (runnel.Stage[I, O], error) { return f, nil }, opts...)
}

// try passes on the records for which f has no error; the others go by the error policy.
func try[T any](f func(ctx context.Context, v T) error) stage[T, T] {
	return func(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
		for i, v := range in.Values() {
			err := f(ctx, v)
			if err != nil {
				err = out.Retry(ctx, err, func() error { return f(ctx, v) })
			}
			if err != nil {
				if err := out.Fail(v, in.Meta(i), err); err != nil {
					return err
				}
				continue
			}
			out.Emit(v, in.Meta(i))
		}
		return nil
	}
}

// first is a stage that ends its stream after limit records. It counts what it has let through, as state.
type first struct {
	limit, seen int
}

func (f *first) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	n := min(in.Len(), f.limit-f.seen)
	f.seen += n
	out.EmitBatch(in.Slice(0, n))
	out.Passed(n)
	out.Filtered(in.Len() - n)
	return nil
}

func (f *first) Finished() bool { return f.seen >= f.limit }

func (f *first) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	w.Put([]byte("seen"), []byte(strconv.Itoa(f.seen)))
	return nil
}

func (f *first) Restore(r runnel.SnapshotReader) error {
	var err error
	r.All(func(_, value []byte) bool {
		f.seen, err = strconv.Atoi(string(value))
		return err == nil
	})
	return err
}

func take(s runnel.Stream[int], limit int, opts ...runnel.StageOption) runnel.Stream[int] {
	return runnel.Apply(s, "take", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
		return &first{limit: limit}, nil
	}, append(opts, runnel.Stateful())...)
}

// total is a stage whose state is a sum of numbers, which it emits.
type total struct{ sum int }

func (s *total) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	for i, v := range in.Values() {
		s.sum += v
		out.Emit(s.sum, in.Meta(i))
	}
	return nil
}

func (s *total) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	w.Put([]byte("sum"), []byte(strconv.Itoa(s.sum)))
	return nil
}

func (s *total) Restore(r runnel.SnapshotReader) error {
	r.All(func(_, value []byte) bool { s.sum, _ = strconv.Atoi(string(value)); return true })
	return nil
}

func sum(s runnel.Stream[int], opts ...runnel.StageOption) runnel.Stream[int] {
	return runnel.Apply(s, "sum", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
		return &total{}, nil
	}, append(opts, runnel.Stateful())...)
}

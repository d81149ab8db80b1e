package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Split sends every record to the first stream if f says yes to it, else to the second.
//
//	in   --1--2--3--4--|
//	Split(even)
//	yes  -----2-----4--|
//	no   --1-----3-----|
//
// Order within each stream and metadata stay as they are. The second stream may be left unread: its records are counted
// and dropped. A panic of f goes by the error policy.
func Split[T any](s runnel.Stream[T], f func(T) bool, opts ...runnel.StageOption) (yes, no runnel.Stream[T]) {
	open := func(runnel.StageEnv) (runnel.ForkStage[T, T, T], error) { return &splitStage[T]{f: f}, nil }
	return runnel.Fork(s, "split", nil, open, with(needs(f != nil, opts), runnel.NoTimeout())...)
}

type splitStage[T any] struct {
	f       func(T) bool
	no      *runnel.Out[T] // of the call at hand
	yesRows []int32
	noRows  []int32
}

// Process splits a batch.
func (s *splitStage[T]) Process(ctx context.Context, in runnel.Batch[T], yes, no *runnel.Out[T]) error {
	s.no = no
	return each(ctx, in, yes, s)
}

func (s *splitStage[T]) run(_ context.Context, in runnel.Batch[T], yes *runnel.Out[T]) (int, error) {
	s.yesRows, s.noRows = s.yesRows[:0], s.noRows[:0]
	n, err := s.sort(in.Values())
	yes.EmitRows(in, s.yesRows)
	s.no.EmitRows(in, s.noRows)
	return n, err
}

func (s *splitStage[T]) sort(vals []T) (n int, err error) {
	defer catch(&err)
	for i, v := range vals {
		n = i
		if s.f(v) {
			s.yesRows = append(s.yesRows, int32(i))
		} else {
			s.noRows = append(s.noRows, int32(i))
		}
	}
	return len(vals), nil
}

package runnel

import (
	"context"
	"encoding/binary"
	"io"
	"testing"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

type countSource struct{ n, size int }

func (s countSource) Open(_ context.Context, env SourceEnv, from checkpoint.Position) (Reader[int], error) {
	r := &countReader{n: s.n, size: s.size, a: NewAssignment(env.Name, "0")}
	if t := from["0"]; t != nil {
		r.at = int(binary.BigEndian.Uint64(t))
	}
	return r, nil
}

type countReader struct {
	n, size, at int
	a           *Assignment
	committed   checkpoint.Position
}

func (r *countReader) Read(context.Context) (Fetch[int], error) {
	if r.at >= r.n {
		return Fetch[int]{}, io.EOF
	}
	var v []int
	first := r.at
	for len(v) < r.size && r.at < r.n {
		v = append(v, r.at)
		r.at++
	}
	return Fetch[int]{
		Batch:    NewBatch(v, nil).WithOrigin(r.a, int64(first)),
		Position: checkpoint.Position{"0": binary.BigEndian.AppendUint64(nil, uint64(r.at))},
	}, nil
}
func (r *countReader) Commit(_ context.Context, p checkpoint.Position) error {
	r.committed = p
	return nil
}
func (r *countReader) Close(context.Context) error { return nil }

type sliceSink[T any] struct{ got []T }

func (s *sliceSink[T]) Open(context.Context, SinkEnv) (Writer[T], error) { return s, nil }
func (s *sliceSink[T]) Write(_ context.Context, b Batch[T]) error {
	s.got = append(s.got, b.Values()...)
	return nil
}
func (s *sliceSink[T]) Flush(context.Context) error { return nil }
func (s *sliceSink[T]) Close(context.Context) error { return nil }

type double struct{}

func (double) Process(_ context.Context, in Batch[int], out *Out[int]) error {
	vals := out.Buffer(in.Len())
	for i, v := range in.Values() {
		vals[i] = 2 * v
	}
	out.EmitValues(vals, in.Columns())
	return nil
}

func openDouble(StageEnv) (Stage[int, int], error) { return double{}, nil }

func TestSmoke(t *testing.T) {
	for name, opts := range map[string][]StageOption{
		"plain": nil, "parallel": {Parallel(3)}, "unordered": {Parallel(3), Unordered()},
	} {
		t.Run(name, func(t *testing.T) {
			p := New("smoke", Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(500)))
			s := From(p, countSource{n: 100_000, size: 100})
			d := Apply(s, "double", nil, openDouble, opts...)
			sink := &sliceSink[int]{}
			d.To(sink)
			require.NoError(t, p.Run(context.Background()))
			require.Len(t, sink.got, 100_000)
			if name != "unordered" {
				for i, v := range sink.got {
					require.Equal(t, 2*i, v)
				}
			}
			t.Log(p.Status().Checkpoint)
			require.ErrorIs(t, p.Run(context.Background()), ErrClosed)
		})
	}
}

func TestSmokeKeyed(t *testing.T) {
	p := New("smoke")
	s := From(p, countSource{n: 20_000, size: 100})
	d := Apply(s, "double", func(v int) uint64 { return uint64(v % 7) }, openDouble, Parallel(4))
	e := Merge(d, s)
	sink, sink2 := &sliceSink[int]{}, &sliceSink[int]{}
	e.To(sink)
	d.To(sink2)
	require.NoError(t, p.Run(context.Background()))
	require.Len(t, sink.got, 40_000)
	last := map[int]int{}
	for _, v := range sink2.got {
		if l, ok := last[v/2%7]; ok {
			require.Less(t, l, v)
		}
		last[v/2%7] = v
	}
}

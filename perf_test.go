package runnel

import (
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

type genSource struct{ n int }

func (s genSource) Open(context.Context, SourceEnv, checkpoint.Position) (Reader[int64], error) {
	return &genReader{n: s.n}, nil
}

type genReader struct{ n, at int }

func (r *genReader) Read(context.Context) (Fetch[int64], error) {
	if r.at >= r.n {
		return Fetch[int64]{}, io.EOF
	}
	v := make([]int64, min(1024, r.n-r.at))
	for i := range v {
		v[i] = int64(r.at + i)
	}
	r.at += len(v)
	return Fetch[int64]{Batch: NewBatch(v, nil), Position: checkpoint.Position{"0": binary.BigEndian.AppendUint64(nil, uint64(r.at))}}, nil
}
func (r *genReader) Commit(context.Context, checkpoint.Position) error { return nil }
func (r *genReader) Close(context.Context) error                       { return nil }

type mapI struct{ f func(int64) int64 }

func (m mapI) Process(_ context.Context, in Batch[int64], out *Out[int64]) error {
	vals := out.Buffer(in.Len())
	for i, v := range in.Values() {
		vals[i] = m.f(v)
	}
	out.EmitValues(vals, in.Columns())
	return nil
}

type filterI struct {
	f    func(int64) bool
	rows []int32
}

func (m *filterI) Process(_ context.Context, in Batch[int64], out *Out[int64]) error {
	rows := m.rows[:0]
	for i, v := range in.Values() {
		if m.f(v) {
			rows = append(rows, int32(i))
		}
	}
	m.rows = rows
	out.EmitRows(in, rows)
	return nil
}

type countSink struct{ n int64 }

func (s *countSink) Open(context.Context, SinkEnv) (Writer[int64], error) { return s, nil }
func (s *countSink) Write(_ context.Context, b Batch[int64]) error {
	s.n += int64(b.Len())
	return nil
}
func (s *countSink) Flush(context.Context) error { return nil }
func (s *countSink) Close(context.Context) error { return nil }

func BenchmarkCore(b *testing.B) {
	b.ReportAllocs()
	p := New("b", Checkpoint(checkpoint.Memory(), checkpoint.Every(100*time.Millisecond)))
	s := From(p, genSource{b.N})
	m := Apply(s, "map", nil, func(StageEnv) (Stage[int64, int64], error) { return mapI{func(v int64) int64 { return v + 1 }}, nil })
	f := Apply(m, "filter", nil, func(StageEnv) (Stage[int64, int64], error) {
		return &filterI{f: func(v int64) bool { return v&1 == 0 }}, nil
	})
	m2 := Apply(f, "map", nil, func(StageEnv) (Stage[int64, int64], error) { return mapI{func(v int64) int64 { return v * 3 }}, nil })
	m2.To(&countSink{})
	if err := p.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkHand(b *testing.B) {
	b.ReportAllocs()
	fm := func(v int64) int64 { return v + 1 }
	ff := func(v int64) bool { return v&1 == 0 }
	f2 := func(v int64) int64 { return v * 3 }
	c1, c2, c3 := make(chan []int64, 8), make(chan []int64, 8), make(chan []int64, 8)
	go func() {
		for at := 0; at < b.N; at += 1024 {
			v := make([]int64, min(1024, b.N-at))
			for i := range v {
				v[i] = int64(at + i)
			}
			c1 <- v
		}
		close(c1)
	}()
	go func() {
		for v := range c1 {
			for i := range v {
				v[i] = fm(v[i])
			}
			c2 <- v
		}
		close(c2)
	}()
	go func() {
		for v := range c2 {
			o := v[:0]
			for i := range v {
				if ff(v[i]) {
					o = append(o, f2(v[i]))
				}
			}
			c3 <- o
		}
		close(c3)
	}()
	n := 0
	for v := range c3 {
		n += len(v)
	}
}

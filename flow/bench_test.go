package flow_test

import (
	"context"
	"io"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
)

// benchBatch is the number of records in a fetch of a benchmark.
const benchBatch = 1024

// repeat is a source that gives the same fetch again and again until n records were read, so that a benchmark measures
// what is behind it. As batches are not to be changed, they may be given more than once.
type repeat[T any] struct {
	n     int
	batch runnel.Batch[T]
}

// ints returns a source of n integers with origins.
func ints(n int) *repeat[int] {
	vals := make([]int, benchBatch)
	for i := range vals {
		vals[i] = i
	}
	b := runnel.NewBatch(vals, nil).WithOrigin(runnel.NewAssignment("ints", "0"), 0)
	return &repeat[int]{n: n, batch: b}
}

func (s *repeat[T]) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[T], error) {
	return &repeatReader[T]{repeat: s, pos: checkpoint.Position{"0": []byte{1}}}, nil
}

type repeatReader[T any] struct {
	*repeat[T]
	at  int
	pos checkpoint.Position
}

func (r *repeatReader[T]) Read(context.Context) (runnel.Fetch[T], error) {
	k := min(r.batch.Len(), r.n-r.at)
	if k == 0 {
		return runnel.Fetch[T]{}, io.EOF
	}
	r.at += k
	return runnel.Fetch[T]{Batch: r.batch.Slice(0, k), Position: r.pos}, nil
}

func (r *repeatReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }
func (r *repeatReader[T]) Close(context.Context) error                       { return nil }

// drain is a sink that counts.
type drain[T any] struct{ n int }

func (d *drain[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) { return d, nil }
func (d *drain[T]) Write(_ context.Context, b runnel.Batch[T]) error               { d.n += b.Len(); return nil }
func (d *drain[T]) Flush(context.Context) error                                    { return nil }
func (d *drain[T]) Close(context.Context) error                                    { return nil }

// The functions of the user. They are called as values, as an operator must, so nobody profits from inlining.

//go:noinline
func addOne(v int) int { return v + 1 }

//go:noinline
func isEven(v int) bool { return v%2 == 0 }

//go:noinline
func triple(v int) int { return 3 * v }

// bench runs b.N integers through a transform.
func bench[O any](b *testing.B, f func(runnel.Stream[int]) runnel.Stream[O]) {
	b.ReportAllocs()
	p := runnel.New("bench", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(100*time.Millisecond)))
	f(runnel.From(p, ints(b.N))).To(&drain[O]{})
	b.ResetTimer()
	if err := p.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// one runs b.N integers through a transform of one type.
func one(f func(runnel.Stream[int]) runnel.Stream[int]) func(*testing.B) {
	return func(b *testing.B) { bench(b, f) }
}

// BenchmarkOperator measures each operator alone, hand-overs to it and behind it included, in time for each record read.
func BenchmarkOperator(b *testing.B) {
	pair := func(v int) (int, error) { return v, nil }
	b.Run("none", one(func(s runnel.Stream[int]) runnel.Stream[int] { return s }))
	b.Run("Map", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Map(s, addOne) }))
	b.Run("TryMap", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.TryMap(s, pair) }))
	b.Run("MapRecord", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.MapRecord(s, func(r runnel.Record[int]) (runnel.Record[int], error) { return r, nil })
	}))
	b.Run("MapAsync", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.MapAsync(s, func(_ context.Context, v int) (int, error) { return v, nil })
	}))
	b.Run("MapAsync/parallel", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.MapAsync(s, func(_ context.Context, v int) (int, error) { return v, nil }, runnel.Parallel(2))
	}))
	b.Run("MapKeyed", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		keyed := flow.KeyBy(s, func(v int) int { return v % 100 })
		return flow.MapKeyed(keyed, func(_ context.Context, _, v int) (int, error) { return v, nil })
	}))
	b.Run("MapKeyed/parallel", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		keyed := flow.KeyBy(s, func(v int) int { return v % 100 })
		return flow.MapKeyed(keyed, func(_ context.Context, _, v int) (int, error) { return v, nil }, runnel.Parallel(2))
	}))
	b.Run("Filter", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Filter(s, isEven) }))
	b.Run("TryFilter", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.TryFilter(s, func(v int) (bool, error) { return v%2 == 0, nil })
	}))
	b.Run("FilterRecord", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.FilterRecord(s, func(r runnel.Record[int]) (bool, error) { return r.Value%2 == 0, nil })
	}))
	b.Run("FlatMap", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		var two [2]int
		return flow.FlatMap(s, func(v int) []int { two[0] = v; return two[:] })
	}))
	b.Run("FlatMapSeq", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		two := func(yield func(int) bool) { _ = yield(1) && yield(2) }
		return flow.FlatMapSeq(s, func(int) iter.Seq[int] { return two })
	}))
	b.Run("FlatMapRecord", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		var two [2]runnel.Record[int]
		return flow.FlatMapRecord(s, func(r runnel.Record[int]) ([]runnel.Record[int], error) {
			two[0], two[1] = r, r
			return two[:], nil
		})
	}))
	b.Run("Tap", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Tap(s, func(int) {}) }))
	b.Run("Batch", func(b *testing.B) {
		bench(b, func(s runnel.Stream[int]) runnel.Stream[[]int] { return flow.Batch(s, 100, time.Second) })
	})
	b.Run("Batch/Unbatch", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Unbatch(flow.Batch(s, 100, time.Second))
	}))
	b.Run("Split/Merge", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Merge(flow.Split(s, isEven)) }))
	b.Run("Route/Merge", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		all := flow.Route(s, 4, func(v int) int { return v % 4 })
		return flow.Merge(all[0], all[1:]...)
	}))
	b.Run("Take", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Take(s, math.MaxInt) }))
	b.Run("Drop", one(func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Drop(s, 100) }))
	b.Run("Dedup", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Dedup(s, func(v int) int { return v }, 10_000, 0)
	}))
}

// BenchmarkChain measures operators that run in one task.
func BenchmarkChain(b *testing.B) {
	b.Run("5 maps", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		for range 5 {
			s = flow.Map(s, addOne)
		}
		return s
	}))
	b.Run("map, filter, map", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Map(flow.Filter(flow.Map(s, addOne), isEven), triple)
	}))
	b.Run("map, filter, map by hand", byHand)
	b.Run("map, 10 % fail", one(func(s runnel.Stream[int]) runnel.Stream[int] {
		f := func(v int) (int, error) {
			if v%10 == 0 {
				return 0, errBad
			}
			return v, nil
		}
		return flow.TryMap(s, f, runnel.Skip())
	}))
}

// byHand is the chain as a loop, without a pipeline.
func byHand(b *testing.B) {
	b.ReportAllocs()
	first, keep, last := addOne, isEven, triple
	vals, out := ints(0).batch.Values(), make([]int, 0, benchBatch)
	b.ResetTimer()
	for at := 0; at < b.N; at += benchBatch {
		out = out[:0]
		for _, v := range vals {
			if v = first(v); keep(v) {
				out = append(out, last(v))
			}
		}
	}
}

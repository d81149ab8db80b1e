package runnel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// mix is a number that looks random and depends on both arguments alone.
func mix(v, salt int64) int64 {
	x := uint64(v)*0x9e3779b97f4a7c15 + uint64(salt)*0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	return int64((x ^ x>>29) >> 1)
}

func (o op) apply(g *graph, s []runnel.Stream[int64], name string) []runnel.Stream[int64] {
	in := s[o.in[0]]
	opts := append([]runnel.StageOption{runnel.Name(name)}, o.opts...)
	one := func(f func(runnel.StageEnv) (runnel.Stage[int64, int64], error), route func(int64) uint64, more ...runnel.StageOption) []runnel.Stream[int64] {
		return []runnel.Stream[int64]{runnel.Apply(in, o.kind, route, f, append(opts, more...)...)}
	}
	key := func(v int64) uint64 { return uint64(v % 5) }
	switch o.kind {
	case "merge":
		return []runnel.Stream[int64]{runnel.Merge(in, s[o.in[1]])}
	case "split":
		a, b := runnel.Fork(in, "split", nil, func(runnel.StageEnv) (runnel.ForkStage[int64, int64, int64], error) {
			return splitStage{o}, nil
		}, opts...)
		// Both are read, so that each has an end.
		return []runnel.Stream[int64]{a, b}
	case "count":
		return one(func(env runnel.StageEnv) (runnel.Stage[int64, int64], error) {
			return newCountStage(env, o, key), nil
		}, nil, runnel.Stateful())
	case "sharded":
		return one(func(env runnel.StageEnv) (runnel.Stage[int64, int64], error) {
			return newCountStage(env, o, key), nil
		}, key, runnel.Stateful())
	case "batch":
		return one(func(env runnel.StageEnv) (runnel.Stage[int64, int64], error) {
			return &holdStage{clock: env.Clock}, nil
		}, nil)
	case "fail":
		return one(func(runnel.StageEnv) (runnel.Stage[int64, int64], error) { return recordStage{o, g.w}, nil }, nil, runnel.DeadLetter(g.dead))
	case "keyed":
		return one(func(runnel.StageEnv) (runnel.Stage[int64, int64], error) { return recordStage{o, g.w}, nil }, key)
	case "unordered":
		return one(func(runnel.StageEnv) (runnel.Stage[int64, int64], error) { return recordStage{o, g.w}, nil }, nil, runnel.Unordered(), runnel.Skip())
	case "retry":
		return one(func(runnel.StageEnv) (runnel.Stage[int64, int64], error) { return recordStage{o, g.w}, nil }, nil, runnel.Retry(3, time.Millisecond))
	}
	return one(func(runnel.StageEnv) (runnel.Stage[int64, int64], error) { return recordStage{o, g.w}, nil }, nil)
}

// outputs is what a stateless stage makes of a value; failed says that it goes to the dead letters.
func (o op) outputs(v int64) (out []int64, failed bool) {
	switch m := mix(v, o.salt); o.kind {
	case "filter":
		if m%3 == 0 {
			return nil, false
		}
		return []int64{v}, false
	case "expand":
		for i := range m % 4 {
			out = append(out, mix(v, o.salt+i))
		}
		return out, false
	case "fail", "unordered":
		if m%5 == 0 {
			return nil, true
		}
		return []int64{v}, false
	case "batch":
		return []int64{v}, false
	default:
		return []int64{m}, false
	}
}

func (o op) model(s [][]int64, dead *[]int64) [][]int64 {
	in := s[o.in[0]]
	switch o.kind {
	case "merge":
		return [][]int64{append(slices.Clone(in), s[o.in[1]]...)}
	case "split":
		var a, b []int64
		for _, v := range in {
			if mix(v, o.salt)%2 == 0 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		return [][]int64{a, b}
	case "count", "sharded":
		var out []int64
		count := make(map[int64]int64)
		for _, v := range in {
			count[v%5]++
			out = append(out, mix(v%5, count[v%5]))
		}
		return [][]int64{out}
	}
	var out []int64
	for _, v := range in {
		outs, failed := o.outputs(v)
		if failed && o.kind == "fail" {
			*dead = append(*dead, v)
		}
		out = append(out, outs...)
	}
	return [][]int64{out}
}

type splitStage struct{ o op }

func (s splitStage) Process(_ context.Context, in runnel.Batch[int64], a, b *runnel.Out[int64]) error {
	for i, v := range in.Values() {
		if mix(v, s.o.salt)%2 == 0 {
			a.Emit(v, in.Meta(i))
		} else {
			b.Emit(v, in.Meta(i))
		}
	}
	return nil
}

// recordStage does what op.outputs says, now and then slowly.
type recordStage struct {
	o op
	w *world
}

func (s recordStage) Process(ctx context.Context, in runnel.Batch[int64], out *runnel.Out[int64]) error {
	s.w.pause(ctx)
	for i, v := range in.Values() {
		outs, failed := s.o.outputs(v)
		if s.o.kind == "retry" {
			if err := out.Retry(ctx, errors.New("the first attempt fails"), func() error { return nil }); err != nil {
				return err
			}
		}
		if failed {
			if err := out.Fail(v, in.Meta(i), errors.New("refused")); err != nil {
				return err
			}
		}
		for _, o := range outs {
			out.Emit(o, in.Meta(i))
		}
	}
	return nil
}

// countStage numbers the records of each key. Its snapshots hold what changed.
type countStage struct {
	env     runnel.StageEnv
	o       op
	route   func(int64) uint64
	counts  map[int64]int64
	changed map[int64]bool
}

func newCountStage(env runnel.StageEnv, o op, route func(int64) uint64) *countStage {
	return &countStage{env: env, o: o, route: route, counts: make(map[int64]int64), changed: make(map[int64]bool)}
}

func (s *countStage) Process(_ context.Context, in runnel.Batch[int64], out *runnel.Out[int64]) error {
	for i, v := range in.Values() {
		k := v % 5
		s.counts[k]++
		s.changed[k] = true
		out.Emit(mix(k, s.counts[k]), in.Meta(i))
	}
	return nil
}

func (s *countStage) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	for k, n := range s.counts {
		if w.Full() || s.changed[k] {
			w.Put(binary.BigEndian.AppendUint64(nil, uint64(k)), binary.BigEndian.AppendUint64(nil, uint64(n)))
		}
	}
	clear(s.changed)
	return nil
}

func (s *countStage) Restore(r runnel.SnapshotReader) error {
	r.All(func(key, value []byte) bool {
		k := int64(binary.BigEndian.Uint64(key))
		if s.env.Workers == 1 || s.env.Owns(s.route(k)) {
			s.counts[k] = int64(binary.BigEndian.Uint64(value))
		}
		return true
	})
	return nil
}

// holdStage holds up to four records, for up to 10 ms.
type holdStage struct {
	clock runnel.Clock
	held  []runnel.Record[int64]
	since time.Time
}

func (s *holdStage) Process(ctx context.Context, in runnel.Batch[int64], out *runnel.Out[int64]) error {
	for i := range in.Len() {
		if len(s.held) == 0 {
			s.since = s.clock.Now()
		}
		if s.held = append(s.held, in.Record(i)); len(s.held) == 4 {
			_ = s.Flush(ctx, out)
		}
	}
	return nil
}

func (s *holdStage) Flush(_ context.Context, out *runnel.Out[int64]) error {
	for _, r := range s.held {
		out.Emit(r.Value, r.Meta)
	}
	s.held = s.held[:0]
	return nil
}

func (s *holdStage) Deadline() (time.Time, bool) {
	return s.since.Add(10 * time.Millisecond), len(s.held) > 0
}

func (s *holdStage) Expire(ctx context.Context, _ time.Time, out *runnel.Out[int64]) error {
	return s.Flush(ctx, out)
}

package runnel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

var (
	propertySeeds = flag.Int("property.seeds", 300, "number of random graphs")
	propertySeed  = flag.Uint64("property.seed", 0, "run this seed alone")
)

// TestRandomGraphsAgreeWithASequentialModel is the property test of invariants 1, 2, 3, 5, 6, 9 and 10: random graphs
// with random failures, delays, stops and crashes give what a simple loop over the same input gives, in every sink, and
// never deadlock with channels of one batch. A failing seed is run again with -property.seed.
func TestRandomGraphsAgreeWithASequentialModel(t *testing.T) {
	if *propertySeed != 0 {
		runSeed(t, *propertySeed)
		return
	}
	for seed := uint64(1); seed <= uint64(*propertySeeds); seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) { runSeed(t, seed) })
		if !ok {
			t.Fatalf("seed %d failed: go test -run %s -property.seed %d", seed, "TestRandomGraphs", seed)
		}
	}
}

func runSeed(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		g := newGraph(seed)
		lives := 0
		for done := false; !done; lives++ {
			done = g.live(t, lives)
		}
		g.check(t)
	})
}

// graph is a random graph: how to build it, and what every sink must get.
type graph struct {
	w       *world
	rng     *rand.Rand
	store   checkpoint.Store
	sources []*worldSource
	ops     []op
	sinks   []*worldSink
	into    []int // stream of each sink
	dead    *deadSink
	plan    []runnel.Option
}

// op is a stage: it reads streams by number and makes the next ones.
type op struct {
	kind string
	in   []int
	opts []runnel.StageOption
	salt int64
}

func newGraph(seed uint64) *graph {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := &world{rng: rand.New(rand.NewPCG(seed, 8)), faults: 3}
	g := &graph{w: w, rng: rng, store: checkpoint.Memory(), dead: &deadSink{w: w}}
	for i := range 1 + rng.IntN(3) {
		g.sources = append(g.sources, &worldSource{
			w: w, id: i, n: rng.IntN(150), shards: 1 + rng.IntN(3), commits: &commits{at: map[string]uint64{}},
		})
	}
	streams := len(g.sources)
	used := make(map[int]bool)
	kinds := []string{"map", "filter", "expand", "count", "split", "merge", "batch", "fail", "retry", "parallel", "unordered", "keyed", "sharded"}
	for range rng.IntN(8) {
		o := op{kind: kinds[rng.IntN(len(kinds))], in: []int{rng.IntN(streams)}, salt: rng.Int64N(1000)}
		switch o.kind {
		case "merge":
			o.in = append(o.in, rng.IntN(streams))
		case "parallel", "unordered", "keyed", "sharded":
			o.opts = append(o.opts, runnel.Parallel(1+rng.IntN(4)))
		}
		for _, in := range o.in {
			used[in] = true
		}
		g.ops = append(g.ops, o)
		if streams++; o.kind == "split" {
			streams++
		}
	}
	decider := rng.IntN(4) == 0
	for s := range streams {
		if used[s] && rng.IntN(3) > 0 {
			continue
		}
		kind := sinkKind(rng.IntN(int(decidingSink)))
		if decider {
			kind, decider = decidingSink, false
		}
		g.sinks, g.into = append(g.sinks, newWorldSink(w, kind)), append(g.into, s)
	}
	batch := 1 + rng.IntN(20)
	g.plan = []runnel.Option{runnel.InboxBatches(1), runnel.MaxBatch(batch)}
	if rng.IntN(2) == 0 {
		g.plan = append(g.plan, runnel.Unfused())
	}
	if rng.IntN(3) == 0 {
		g.plan = append(g.plan, runnel.MaxInFlight(batch+rng.IntN(50)))
	}
	if rng.IntN(3) == 0 {
		g.plan = append(g.plan, runnel.Restart(2, time.Millisecond))
	}
	return g
}

// live runs the graph until it ends, stops, fails or crashes, and says whether the sources have ended.
func (g *graph) live(t *testing.T, lives int) bool {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := g.build()
	stopping, left := false, -1
	switch g.rng.IntN(4) {
	case 0:
		stopping = true
		time.AfterFunc(time.Duration(g.rng.IntN(300))*time.Millisecond, cancel)
	case 1, 2:
		if lives < 8 {
			left = g.rng.IntN(120)
		}
	}
	g.w.begin(left, p.Abort)
	err := p.Run(ctx)
	switch {
	case g.w.crashed:
		require.Error(t, err)
		return false
	case err != nil:
		require.ErrorContains(t, err, "a transient failure")
		return false
	}
	for _, s := range p.Status().Sources {
		require.Equal(t, s.Read, s.Committed+s.Abandoned, "the ledger of a clean end")
	}
	return !stopping || g.ended()
}

// ended says whether the sources' own systems know everything as committed.
func (g *graph) ended() bool {
	for _, s := range g.sources {
		for p := range min(s.shards, s.n) {
			if s.commits.at[fmt.Sprint(p)] < uint64(s.n) {
				return false
			}
		}
	}
	return true
}

func (g *graph) build() *runnel.Pipeline {
	opts := append([]runnel.Option{runnel.Checkpoint(worldStore{g.w, g.store},
		checkpoint.Every(30*time.Millisecond), checkpoint.MaxOpen(1+g.rng.IntN(4)))}, g.plan...)
	p := runnel.New("random", opts...)
	var streams []runnel.Stream[int64]
	for i, s := range g.sources {
		streams = append(streams, runnel.From(p, s, runnel.Name(fmt.Sprint("source", i))))
	}
	for i, o := range g.ops {
		streams = append(streams, o.apply(g, streams, fmt.Sprint("op", i))...)
	}
	for i, s := range g.sinks {
		streams[g.into[i]].To(s, runnel.Name(fmt.Sprint("sink", i)))
	}
	return p
}

// check compares every sink with the model.
func (g *graph) check(t *testing.T) {
	var dead []int64
	streams := make([][]int64, 0, len(g.sources)+len(g.ops))
	for _, s := range g.sources {
		var all []int64
		for i := range s.n {
			all = append(all, int64(s.id)<<32|int64(i))
		}
		streams = append(streams, all)
	}
	for _, o := range g.ops {
		streams = append(streams, o.model(streams, &dead)...)
	}
	for i, s := range g.sinks {
		want, got := sorted(streams[g.into[i]]), sorted(s.got())
		if s.kind == txSink {
			require.Equal(t, want, got, "sink %d: exactly once", i)
			continue
		}
		requireAtLeastOnce(t, want, got, fmt.Sprint("sink ", i))
	}
	requireAtLeastOnce(t, sorted(dead), sorted(g.dead.all()), "dead letters")
}

func sorted(values []int64) []int64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return values
}

// requireAtLeastOnce checks that everything wanted came, as often as wanted, and nothing else.
func requireAtLeastOnce(t *testing.T, want, got []int64, sink string) {
	t.Helper()
	count := make(map[int64]int)
	for _, v := range got {
		count[v]++
	}
	need := make(map[int64]int)
	for _, v := range want {
		need[v]++
	}
	for v, n := range need {
		require.GreaterOrEqual(t, count[v], n, "%s: %d is missing", sink, v)
	}
	for v := range count {
		require.NotZero(t, need[v], "%s: %d was never emitted", sink, v)
	}
}

// deadSink keeps dead letters.
type deadSink struct {
	w       *world
	durable []int64
}

func (s *deadSink) Open(context.Context, runnel.SinkEnv) (runnel.Writer[runnel.Failed], error) {
	return &deadWriter{deadSink: s}, nil
}

func (s *deadSink) all() []int64 { return s.durable }

type deadWriter struct {
	*deadSink
	buffer []int64
}

func (w *deadWriter) Write(_ context.Context, b runnel.Batch[runnel.Failed]) error {
	for _, f := range b.Values() {
		w.buffer = append(w.buffer, f.Value.(int64))
	}
	return nil
}

func (w *deadWriter) Flush(context.Context) error {
	return w.w.step(func() { w.durable = append(w.durable, w.buffer...); w.buffer = nil })
}

func (w *deadWriter) Close(context.Context) error { return nil }

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

package runnel_test

import (
	"context"
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

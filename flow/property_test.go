package flow_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// chains is how many random chains TestRandomChainsAgreeWithAModel runs; the full form is
//
//	go test ./flow -run RandomChains -chains 10000
var chains = flag.Int("chains", 150, "number of random chains of operators")

// step is an operator with what it does to a plain slice.
type step struct {
	name    string
	apply   func(runnel.Stream[int]) runnel.Stream[int]
	model   func([]int) []int
	ordered bool // needs its input in order
	mixes   bool // its output has no order
	ends    bool // may end the stream before its input ends
}

func TestRandomChainsAgreeWithAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*chains) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			src := count(r.IntN(3000), 1+r.IntN(300))
			want, mixed, ends, names := without(len(src.values)), false, false, []string{}
			dead := &bag[runnel.Failed]{}
			p := runnel.New("test", runnel.MaxBatch(1+r.IntN(200)),
				runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1+r.IntN(1000))))
			s := runnel.From(p, src)
			for range 1 + r.IntN(7) {
				st := randomStep(r, dead)
				if st.ordered && mixed {
					continue
				}
				s, want = st.apply(s), st.model(want)
				mixed, ends = mixed || st.mixes, ends || st.ends
				names = append(names, st.name)
			}
			out := &bag[int]{}
			s.To(out)
			require.NoError(t, p.Run(context.Background()), names)
			got := append([]int{}, out.values()...)
			if mixed {
				slices.Sort(got)
				slices.Sort(want)
			}
			require.Equal(t, append([]int{}, want...), got, "%v", names)
			if !ends {
				require.Equal(t, len(src.values), src.committedTo(), "%v", names)
			}
		})
	}
}

// randomStep returns a random operator.
func randomStep(r *rand.Rand, dead *bag[runnel.Failed]) step {
	steps := []func(*rand.Rand, *bag[runnel.Failed]) step{
		mapStep, tryMapStep, filterStep, flatMapStep, batchStep, takeStep, splitStep, routeStep, asyncStep, keyedStep, dedupStep,
	}
	return steps[r.IntN(len(steps))](r, dead)
}

func modelMap(f func(int) int) func([]int) []int {
	return func(in []int) (out []int) {
		for _, v := range in {
			out = append(out, f(v))
		}
		return out
	}
}

func modelFlat(f func(int) []int) func([]int) []int {
	return func(in []int) (out []int) {
		for _, v := range in {
			out = append(out, f(v)...)
		}
		return out
	}
}

func modelKeep(keep func(int) bool) func([]int) []int {
	return func(in []int) []int { return slices.DeleteFunc(slices.Clone(in), func(v int) bool { return !keep(v) }) }
}

// parallel returns options for a stage that may run in parallel, in order.
func parallel(r *rand.Rand) []runnel.StageOption {
	if n := r.IntN(4); n > 1 {
		return []runnel.StageOption{runnel.Parallel(n)}
	}
	return nil
}

func mapStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := r.IntN(10)
	f := func(v int) int { return v + k }
	opts := parallel(r)
	return step{name: "map", model: modelMap(f), apply: func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Map(s, f, opts...) }}
}

// tryMapStep fails or panics for some values, which are skipped or dead-lettered.
func tryMapStep(r *rand.Rand, dead *bag[runnel.Failed]) step {
	k, panics := 2+r.IntN(20), r.IntN(2) == 0
	fail := func(v int) error {
		switch {
		case v%k != 0:
			return nil
		case panics:
			panic(errBad)
		}
		return errBad
	}
	policy := runnel.Skip()
	if r.IntN(2) == 0 {
		policy = runnel.DeadLetter(dead)
	}
	op := trying[r.IntN(len(trying))]
	return step{
		name: op.name, model: modelKeep(func(v int) bool { return v%k != 0 }),
		apply: func(s runnel.Stream[int]) runnel.Stream[int] { return op.apply(s, fail, policy) },
		mixes: op.name == "MapKeyed",
	}
}

func filterStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := 1 + r.IntN(5)
	keep := func(v int) bool { return v%k == 0 }
	opts := parallel(r)
	return step{name: "filter", model: modelKeep(keep), apply: func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Filter(s, keep, opts...)
	}}
}

func flatMapStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := 1 + r.IntN(4)
	f := func(v int) []int { return slices.Repeat([]int{v}, v%k) }
	opts, seq := parallel(r), r.IntN(2) == 0
	return step{name: "flatmap", model: modelFlat(f), apply: func(s runnel.Stream[int]) runnel.Stream[int] {
		if seq {
			return flow.FlatMapSeq(s, func(v int) iter.Seq[int] { return slices.Values(f(v)) }, opts...)
		}
		return flow.FlatMap(s, f, opts...)
	}}
}

func batchStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	spec := flow.BatchSpec[int]{Count: 1 + r.IntN(100), Bytes: r.IntN(200), Size: func(v int) int { return v % 50 }}
	return step{name: "batch", model: modelKeep(func(int) bool { return true }), apply: func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Unbatch(flow.BatchOf(s, spec))
	}}
}

func takeStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	n := r.IntN(2000)
	if r.IntN(2) == 0 {
		return step{name: "take", ordered: true, ends: true, model: func(in []int) []int { return in[:min(n, len(in))] },
			apply: func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Take(s, n) }}
	}
	return step{name: "drop", ordered: true, model: func(in []int) []int { return in[min(n, len(in)):] },
		apply: func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Drop(s, n) }}
}

func splitStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := 1 + r.IntN(4)
	return step{name: "split", mixes: true, model: modelKeep(func(int) bool { return true }),
		apply: func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Merge(flow.Split(s, func(v int) bool { return v%k == 0 }))
		}}
}

func routeStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := 1 + r.IntN(4)
	return step{name: "route", mixes: true, model: modelKeep(func(int) bool { return true }),
		apply: func(s runnel.Stream[int]) runnel.Stream[int] {
			all := flow.Route(s, k, func(v int) int { return v % k })
			return flow.Merge(all[0], all[1:]...)
		}}
}

func asyncStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	f := func(_ context.Context, v int) (int, error) { return v / 2, nil }
	opts, unordered := parallel(r), r.IntN(2) == 0
	if unordered && len(opts) == 0 {
		opts = append(opts, runnel.Parallel(1))
	}
	if unordered {
		opts = append(opts, runnel.Unordered())
	}
	return step{name: "async", mixes: unordered, model: modelMap(func(v int) int { return v / 2 }),
		apply: func(s runnel.Stream[int]) runnel.Stream[int] { return flow.MapAsync(s, f, opts...) }}
}

func keyedStep(r *rand.Rand, _ *bag[runnel.Failed]) step {
	k := 1 + r.IntN(20)
	f := func(_ context.Context, k, v int) (int, error) { return v + k, nil }
	opts := parallel(r)
	return step{name: "keyed", mixes: true, model: modelMap(func(v int) int { return v + v%k }),
		apply: func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.MapKeyed(flow.KeyBy(s, func(v int) int { return v % k }), f, opts...)
		}}
}

func dedupStep(*rand.Rand, *bag[runnel.Failed]) step {
	return step{name: "dedup", apply: func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Dedup(s, func(v int) int { return v }, 10_000, 0)
	}, model: func(in []int) (out []int) {
		seen := make(map[int]bool)
		for _, v := range in {
			if !seen[v] {
				out = append(out, v)
			}
			seen[v] = true
		}
		return out
	}}
}

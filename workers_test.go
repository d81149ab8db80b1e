package runnel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// jittery is a stage whose calls take any time.
func jittery(rng *rand.Rand) stage[int, int] {
	return try(func(ctx context.Context, v int) error {
		return sleep(ctx, time.Duration(mix(int64(v), rng.Int64())%100)*time.Millisecond)
	})
}

func byTen(v int) uint64 { return uint64(v % 10) }

// Invariant 2: a parallel stage lets no record overtake a marker, and no marker a record; and it keeps the order that
// was asked for.
func TestCopiesOfAStageKeepTheOrderThatIsAskedForAndMarkersTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route func(int) uint64
		opts  []runnel.StageOption
		check func(t *testing.T, got []int)
	}{
		"in order": {nil, nil, func(t *testing.T, got []int) { require.True(t, slices.IsSorted(got)) }},
		"unordered": {nil, []runnel.StageOption{runnel.Unordered()}, func(t *testing.T, got []int) {
			require.False(t, slices.IsSorted(got), "none waits for a slower one")
		}},
		"by key": {byTen, nil, func(t *testing.T, got []int) {
			require.False(t, slices.IsSorted(got))
			newest := make(map[uint64]int)
			for _, v := range got {
				require.GreaterOrEqual(t, v, newest[byTen(v)], "key %d", byTen(v))
				newest[byTen(v)] = v
			}
		}},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 3))
					src, out := &numbers{n: 300, size: 7}, &collect[int]{}
					out.onCall = on("flush", func(context.Context) error {
						got := slices.Sorted(slices.Values(out.got()))
						require.Equal(t, len(got), got[len(got)-1]+1, "what is behind the marker has overtaken it")
						out.add("behind %d", len(got))
						return nil
					})
					var covered []int
					p := runnel.New("p", every(checkpoint.Memory(), 200*time.Millisecond), runnel.MaxBatch(7), runnel.OnCheckpoint(func(c checkpoint.Checkpoint) {
						var n int
						_, _ = fmt.Sscan(string(c.Sources["source-1"]["p"]), &n)
						covered = append(covered, n)
					}))
					runnel.Apply(runnel.From(p, src), "jitter", c.route, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
						return jittery(rand.New(rand.NewPCG(rng.Uint64(), 1))), nil
					}, append(c.opts, runnel.Parallel(4))...).To(out)
					require.NoError(t, p.Run(t.Context()))
					require.Greater(t, len(covered), 5)
					var behind []int
					for _, line := range out.all() {
						var n int
						if _, err := fmt.Sscanf(line, "behind %d", &n); err == nil {
							behind = append(behind, n)
						}
					}
					require.Equal(t, covered, behind, "each marker stands behind exactly what it covers")
					got := out.got()
					c.check(t, got)
					slices.Sort(got)
					require.Len(t, slices.Compact(got), 300)
				})
			})
		}
	}
}

func TestCopiesOfAStageWorkBesideEachOther(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]func(int) uint64{"any": nil, "by key": byTen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := runnel.New("p")
				runnel.Apply(runnel.From(p, &numbers{n: 40, size: 40}), "slow", route, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
					return try(func(ctx context.Context, _ int) error { return sleep(ctx, time.Second) }), nil
				}, runnel.Parallel(10)).To(&collect[int]{})
				begin := time.Now()
				require.NoError(t, p.Run(t.Context()))
				require.LessOrEqual(t, time.Since(begin), 5*time.Second)
			})
		})
	}
}

// Work behind a marker starts while results in front of it are still to come.
func TestMarkerDoesNotKeepCopiesFromWorkingOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := paced(8), &collect[int]{}
		var started atomic.Int64
		p := runnel.New("p", every(checkpoint.Memory(), time.Second))
		through(runnel.From(p, src), try(func(ctx context.Context, v int) error {
			started.Add(1)
			if v == 0 {
				return sleep(ctx, time.Minute)
			}
			return nil
		}), runnel.Parallel(2)).To(out)
		_, done := run(t, p)
		time.Sleep(30 * time.Second)
		require.EqualValues(t, 5, started.Load(), "until four markers are open and the fifth is due")
		require.Empty(t, out.got())
		require.NoError(t, <-done)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, out.got())
	})
}

func TestFailureInACopyEndsTheRunWithFullChannels(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]func(int) uint64{"any": nil, "by key": byTen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := &numbers{n: 1 << 30, size: 50}, &collect[int]{}
				out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { <-ctx.Done(); return ctx.Err() }
				p := runnel.New("p", runnel.InboxBatches(1))
				runnel.Apply(runnel.From(p, src), "work", route, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
					return try(func(ctx context.Context, v int) error {
						if v == 9 {
							_ = sleep(ctx, time.Second) // until everything is full
							return errBroken
						}
						return nil
					}), nil
				}, runnel.Name("work"), runnel.Parallel(3)).To(out)
				require.EqualError(t, p.Run(t.Context()), "runnel: work: at source-1/p@9: the connection broke")
			})
		})
	}
}

func TestStageThatCannotRunInCopiesIsRefused(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() runnel.Stage[int, int]{
		"it holds records": func() runnel.Stage[int, int] { return &flushes{} },
		"it ends its stream": func() runnel.Stage[int, int] {
			return struct {
				runnel.Stage[int, int]
				runnel.Finisher
			}{stage[int, int](nil), &first{limit: 1}}
		},
		"its state was not declared": func() runnel.Stage[int, int] { return &total{} },
		"there is none":              func() runnel.Stage[int, int] { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("p")
			runnel.Apply(runnel.From(p, &numbers{}), "stage", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
				return open(), nil
			}, runnel.Parallel(2)).To(&collect[int]{})
			err := p.Run(t.Context())
			require.ErrorContains(t, err, "runnel: stage-1: ")
			want := map[string]string{
				"it holds records": "leave Parallel out", "it ends its stream": "leave Parallel out",
				"its state was not declared": "was not declared Stateful", "there is none": "open returned no stage",
			}[name]
			require.ErrorContains(t, err, want)
		})
	}
}

// keyTotals sums up by key; its copies share the keys between them.
type keyTotals struct {
	env  runnel.StageEnv
	sums map[int]int
}

func (s *keyTotals) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	for i, v := range in.Values() {
		k := v % 10
		s.sums[k] += v
		out.Emit(s.sums[k], in.Meta(i))
	}
	return nil
}

func (s *keyTotals) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	for k, n := range s.sums {
		w.Put([]byte{byte(k)}, fmt.Append(nil, n))
	}
	return nil
}

func (s *keyTotals) Restore(r runnel.SnapshotReader) (err error) {
	r.All(func(key, value []byte) bool {
		if k := int(key[0]); s.env.Owns(byTen(k)) {
			var n int
			_, err = fmt.Sscan(string(value), &n)
			s.sums[k] = n
		}
		return err == nil
	})
	return err
}

// State is stored by key: the number of copies may change from start to start.
func TestStateGoesToTheCopyThatOwnsItsKeyNow(t *testing.T) {
	t.Parallel()
	store, out := durably{checkpoint.Memory()}, &collect[int]{}
	for life, workers := range []int{3, 1, 4, 2} {
		p := runnel.New("p", runnel.Checkpoint(store))
		runnel.Apply(runnel.From(p, &numbers{n: 100 * (life + 1)}), "totals", byTen, func(env runnel.StageEnv) (runnel.Stage[int, int], error) {
			return &keyTotals{env, map[int]int{}}, nil
		}, runnel.Parallel(workers), runnel.Stateful()).To(out)
		require.NoError(t, p.Run(t.Context()))
	}
	want := map[int]int{}
	var sums []int
	for v := range 400 {
		want[v%10] += v
		sums = append(sums, want[v%10])
	}
	got := out.got()
	slices.Sort(got)
	slices.Sort(sums)
	require.Equal(t, sums, got)
}

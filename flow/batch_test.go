package flow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// batched runs a source through Batch and returns what came out and when, counted from the start.
func batched(t *testing.T, src *list[int], spec flow.BatchSpec[int], slow time.Duration, opts ...runnel.Option) (batches [][]int, at []time.Duration) {
	t.Helper()
	start := time.Now()
	out := &bag[[]int]{write: func(_ context.Context, b runnel.Batch[[]int]) error {
		for range b.Len() {
			at = append(at, time.Since(start))
		}
		time.Sleep(slow)
		return nil
	}}
	p := runnel.New("test", opts...)
	flow.BatchOf(runnel.From(p, src), spec, runnel.Name("op")).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, len(src.values), src.committedTo())
	require.Zero(t, stage(t, p.Status(), "op").Filtered)
	return out.values(), at
}

// joined returns the concatenation of batches, none of which is empty.
func joined(batches [][]int) []int {
	all := []int{}
	for _, b := range batches {
		if len(b) == 0 {
			panic("an empty batch")
		}
		all = append(all, b...)
	}
	return all
}

func TestCOR04EndOfStreamAndStopEmitAPartialBatch(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]bool{"the source ends": false, "the run is stopped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := count(7, 7), &bag[[]int]{}
				src.endless = stop
				if stop { // the second fetch never comes
					src.wait = func(fetch int) time.Duration { return time.Duration(fetch) * 1000 * time.Hour }
				}
				p := runnel.New("test", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(10*time.Hour)))
				flow.Batch(runnel.From(p, src), 100, time.Hour).To(out)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- p.Run(ctx) }()
				synctest.Wait()
				if stop {
					require.Empty(t, out.got(), "the batch waits")
					cancel()
				}
				require.NoError(t, <-done)
				require.Equal(t, [][]int{{0, 1, 2, 3, 4, 5, 6}}, out.values())
				require.Equal(t, 7, src.committedTo())
			})
		})
	}
}

func TestCOR09ConcatenationOfTheBatchesIsTheInput(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{0, 700 * time.Millisecond, 3 * time.Second} {
		for _, gap := range []time.Duration{0, 400 * time.Millisecond, time.Second, 2 * time.Second} {
			for size := 1; size <= 3; size++ {
				for n := range 11 {
					t.Run(fmt.Sprintf("slow %v gap %v size %d of %d", slow, gap, size, n), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							src := count(n, 1)
							src.wait = func(int) time.Duration { return gap }
							batches, _ := batched(t, src, flow.BatchSpec[int]{Count: size, Linger: time.Second}, slow)
							require.Equal(t, without(n), joined(batches))
							for _, b := range batches {
								require.LessOrEqual(t, len(b), size)
							}
						})
					})
				}
			}
		}
	}
}

func TestCOR09RandomSizesDelaysAndEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 9))
				src := count(r.IntN(60), 1+r.IntN(8))
				gaps := 1 + r.IntN(3000)
				src.wait = func(int) time.Duration { return time.Duration(r.IntN(gaps)) * time.Millisecond }
				spec := flow.BatchSpec[int]{Count: r.IntN(9), Linger: time.Duration(r.IntN(2000)) * time.Millisecond}
				if spec.Count == 0 || r.IntN(3) == 0 {
					spec.Bytes, spec.Size = 1+r.IntN(30), func(v int) int { return v % 7 }
				}
				slow := time.Duration(r.IntN(500)) * time.Millisecond
				batches, _ := batched(t, src, spec, slow,
					runnel.MaxBatch(1+r.IntN(8)),
					runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Duration(1+r.IntN(5000))*time.Millisecond)))
				require.Equal(t, without(len(src.values)), joined(batches))
				for _, b := range batches {
					require.True(t, spec.Count == 0 || len(b) <= spec.Count)
					bytes := 0
					for _, v := range b {
						bytes += max(v%7, 1)
					}
					require.True(t, spec.Bytes == 0 || len(b) == 1 || bytes <= spec.Bytes)
				}
			})
		})
	}
}

func TestCOR10NoBatchIsEmpty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n    int
		gap  time.Duration // of each record
		want [][]int
		at   []time.Duration
	}{
		"no records":                           {n: 0},
		"the timer fires behind a full batch":  {4, 500 * time.Millisecond, [][]int{{0, 1}, {2, 3}}, []time.Duration{time.Second, 2 * time.Second}},
		"the timer fires long after the batch": {2, 0, [][]int{{0, 1}}, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src := count(c.n, 1)
				src.wait = func(fetch int) time.Duration {
					if fetch == c.n {
						return 10 * time.Second // the end comes when every timer has fired
					}
					return c.gap
				}
				batches, at := batched(t, src, flow.BatchSpec[int]{Count: 2, Linger: time.Second}, 0)
				require.Equal(t, c.want, batches)
				require.Equal(t, c.at, at)
			})
		})
	}
}

func TestLingerCountsFromTheFirstRecordHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := count(4, 1)
		waits := []time.Duration{0, 600 * time.Millisecond, 5 * time.Second, 0, 20 * time.Second}
		src.wait = func(fetch int) time.Duration { return waits[fetch] }
		batches, at := batched(t, src, flow.BatchSpec[int]{Count: 10, Linger: time.Second}, 0,
			runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
		require.Equal(t, [][]int{{0, 1}, {2, 3}}, batches)
		require.Equal(t, []time.Duration{time.Second, 6600 * time.Millisecond}, at)
	})
}

func TestCheckpointEmitsWhatABatchHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := count(6, 2)
		src.wait = func(int) time.Duration { return 3 * time.Second }
		batches, at := batched(t, src, flow.BatchSpec[int]{Count: 100}, 0,
			runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(7*time.Second)))
		require.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5}}, batches)
		require.Equal(t, []time.Duration{7 * time.Second, 12 * time.Second}, at)
	})
}

func TestBatchOfLimitsBytes(t *testing.T) {
	t.Parallel()
	size := func(s string) int { return len(s) }
	for name, c := range map[string]struct {
		spec flow.BatchSpec[string]
		in   []string
		want [][]string
	}{
		"exactly full":         {flow.BatchSpec[string]{Bytes: 4}, []string{"ab", "cd", "e"}, [][]string{{"ab", "cd"}, {"e"}}},
		"next does not fit":    {flow.BatchSpec[string]{Bytes: 4}, []string{"abc", "de", "f"}, [][]string{{"abc"}, {"de", "f"}}},
		"larger than a batch":  {flow.BatchSpec[string]{Bytes: 2}, []string{"a", "bcdef", "g"}, [][]string{{"a"}, {"bcdef"}, {"g"}}},
		"without size":         {flow.BatchSpec[string]{Bytes: 2}, []string{"", "", "a", "", "bc"}, [][]string{{"", ""}, {"a", ""}, {"bc"}}},
		"count comes first":    {flow.BatchSpec[string]{Bytes: 9, Count: 2}, []string{"a", "b", "c"}, [][]string{{"a", "b"}, {"c"}}},
		"bytes come first":     {flow.BatchSpec[string]{Bytes: 2, Count: 9}, []string{"a", "b", "c"}, [][]string{{"a", "b"}, {"c"}}},
		"count alone, no size": {flow.BatchSpec[string]{Count: 3}, []string{"a", "b", "c"}, [][]string{{"a", "b", "c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.spec.Bytes > 0 {
				c.spec.Size = size
			}
			records, _ := through(t, of(c.in...), func(s runnel.Stream[string]) runnel.Stream[[]string] {
				return flow.BatchOf(s, c.spec)
			})
			require.Equal(t, c.want, valuesOf(records))
		})
	}
}

func TestBatchHasTheGreatestTimeAndTheFirstOrigin(t *testing.T) {
	t.Parallel()
	times := []int64{3, 9, 4, 1, 2}
	src := count(5, 5)
	src.meta = func(i int) runnel.Meta {
		return runnel.Meta{Key: []byte("k"), Headers: runnel.Headers{{Name: "h"}}, Time: time.Unix(times[i], 0)}
	}
	records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[[]int] { return flow.Batch(s, 3, 0) })
	require.Len(t, records, 2)
	require.Equal(t, time.Unix(9, 0), records[0].Time)
	require.Equal(t, time.Unix(2, 0), records[1].Time)
	require.EqualValues(t, 0, records[0].Origin.Offset)
	require.EqualValues(t, 3, records[1].Origin.Offset)
	require.Equal(t, "list-source-1", records[1].Origin.Source)
	for _, r := range records {
		require.Nil(t, r.Key)
		require.Nil(t, r.Headers)
	}
}

func TestBatchSlicesAreTheReceiversOwn(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	out := &bag[[]int]{write: func(_ context.Context, b runnel.Batch[[]int]) error {
		for _, v := range b.Values() {
			_ = append(v, -1) // does not reach into the next batch
		}
		return nil
	}}
	flow.Batch(runnel.From(p, count(1000, 10)), 7, time.Second).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, without(1000), joined(out.values()))
}

func TestWrongArgumentsOfABatchAreReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	byCount := func(max int, linger time.Duration) func(runnel.Stream[int]) runnel.Stream[[]int] {
		return func(s runnel.Stream[int]) runnel.Stream[[]int] { return flow.Batch(s, max, linger) }
	}
	by := func(spec flow.BatchSpec[int]) func(runnel.Stream[int]) runnel.Stream[[]int] {
		return func(s runnel.Stream[int]) runnel.Stream[[]int] { return flow.BatchOf(s, spec) }
	}
	const also = "\npipeline \"test\": batch-1: "
	const linger = "linger is -1ns; it must be 0 (as long as it takes) or more"
	for name, c := range map[string]struct {
		build func(runnel.Stream[int]) runnel.Stream[[]int]
		want  string
	}{
		"size 0":            {byCount(0, time.Second), "max is 0; it must be at least 1"},
		"size 0, no linger": {byCount(0, 0), "max is 0; it must be at least 1"},
		"negative size":     {byCount(-2, 0), "max is -2; it must be at least 1"},
		"negative linger":   {byCount(1, -1), linger},
		"both":              {byCount(0, -1), "max is 0; it must be at least 1" + also + linger},
		"no limit": {
			by(flow.BatchSpec[int]{Linger: time.Second}), "neither Count nor Bytes is set; one of them must be at least 1",
		},
		"no size function": {by(flow.BatchSpec[int]{Bytes: 1}), "Bytes is set and Size is not"},
		"all negative": {by(flow.BatchSpec[int]{Count: -1, Bytes: -2, Linger: -3}), "Count is -1; it must be 0 (no limit) or more" +
			also + "Bytes is -2; it must be 0 (no limit) or more" + also + "Linger is -3ns; it must be 0 (as long as it takes) or more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			c.build(runnel.From(p, of(1))).To(&bag[[]int]{})
			require.EqualError(t, p.Validate(), `pipeline "test": batch-1: `+c.want)
		})
	}
	p := runnel.New("test")
	flow.Batch(runnel.From(p, of(1)), 1, 0).To(&bag[[]int]{})
	require.NoError(t, p.Validate())
}

// impatient is a source whose system delivers again what is not acknowledged in time.
type impatient struct{ *list[int] }

func (impatient) Describe() runnel.Traits { return runnel.Traits{AckWindow: 30 * time.Second} }

func TestLingerBeyondTheAckWindowIsReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	s := flow.Map(runnel.From[int](p, impatient{of(1)}), triple)
	flow.Batch(s, 10, 2*time.Minute).To(&bag[[]int]{})
	require.ErrorContains(t, p.Validate(), "its linger (2m0s) is not below the ack window")
}

func TestBatchRunsInOneCopy(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	flow.Batch(runnel.From(p, of(1)), 10, time.Second, runnel.Parallel(2)).To(&bag[[]int]{})
	require.ErrorContains(t, p.Run(context.Background()), "leave Parallel out")
}

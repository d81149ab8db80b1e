package flow_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestMapAsyncKeepsTheOrderAndRunsInParallel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts []runnel.StageOption
		took time.Duration
	}{
		"one call at a time":        {nil, 40 * 100 * time.Millisecond},
		"four calls at a time":      {[]runnel.StageOption{runnel.Parallel(4)}, 10 * 100 * time.Millisecond},
		"more calls than records":   {[]runnel.StageOption{runnel.Parallel(100)}, 100 * time.Millisecond},
		"four, results as they are": {[]runnel.StageOption{runnel.Parallel(4), runnel.Unordered()}, 10 * 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				f := func(ctx context.Context, v int) (int, error) { return 2 * v, sleep(ctx, 100*time.Millisecond) }
				records, _ := through(t, count(40, 40), func(s runnel.Stream[int]) runnel.Stream[int] {
					return flow.MapAsync(s, f, c.opts...)
				})
				require.Equal(t, c.took, time.Since(start))
				got := valuesOf(records)
				if len(c.opts) == 2 {
					slices.Sort(got)
				}
				for i, v := range got {
					require.Equal(t, 2*i, v)
				}
				require.Len(t, got, 40)
			})
		})
	}
}

func TestUnorderedResultsComeAsTheyAreReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := func(ctx context.Context, v int) (int, error) {
			return v, sleep(ctx, time.Duration(10-v)*time.Second)
		}
		records, _ := through(t, count(10, 10), func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.MapAsync(s, f, runnel.Parallel(10), runnel.Unordered())
		}, runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
		require.Equal(t, []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, valuesOf(records))
		for _, r := range records {
			require.EqualValues(t, r.Value, r.Origin.Offset)
		}
	})
}

func TestSlowResultsDoNotWaitForTheirBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start, at := time.Now(), []time.Duration{}
		out := &bag[int]{write: func(_ context.Context, b runnel.Batch[int]) error {
			at = append(at, time.Since(start))
			return nil
		}}
		p := runnel.New("test")
		f := func(ctx context.Context, v int) (int, error) { return v, sleep(ctx, time.Second) }
		flow.MapAsync(runnel.From(p, count(3, 3)), f).To(out)
		require.NoError(t, p.Run(context.Background()))
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, at)
	})
}

func TestTimeoutBoundsOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead, calls := &bag[runnel.Failed]{}, 0
		f := func(ctx context.Context, v int) (int, error) {
			calls++
			if v == 1 {
				return 0, sleep(ctx, time.Hour)
			}
			return v, sleep(ctx, 900*time.Millisecond)
		}
		start := time.Now()
		records, _ := through(t, count(3, 3), func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.MapAsync(s, f, runnel.Timeout(time.Second), runnel.Retry(2, 0), runnel.DeadLetter(dead))
		})
		require.Equal(t, []int{0, 2}, valuesOf(records))
		require.Len(t, dead.got(), 1)
		require.ErrorIs(t, dead.got()[0].Value.Err, context.DeadlineExceeded)
		require.Equal(t, 2, dead.got()[0].Value.Attempts)
		require.Equal(t, 4, calls)
		require.Equal(t, 3800*time.Millisecond, time.Since(start))
	})
}

type contextKey struct{}

func TestFunctionsGetTheValuesOfTheRunsContext(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	out := &bag[any]{}
	flow.MapAsync(runnel.From(p, of(1)), func(ctx context.Context, _ int) (any, error) {
		return ctx.Value(contextKey{}), nil
	}).To(out)
	require.NoError(t, p.Run(context.WithValue(context.Background(), contextKey{}, "mine")))
	require.Equal(t, []any{"mine"}, out.values())
}

// TestCOR06StopIsNoFailureOfTheRecord stops a run while a handler is at record 5. Its context goes on until the drain
// time-out, and what it returns then is no failure.
func TestCOR06StopIsNoFailureOfTheRecord(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]runnel.StageOption{
		"in order": nil, "parallel": {runnel.Parallel(3)}, "unordered": {runnel.Parallel(3), runnel.Unordered()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, src := checkpoint.Memory(), count(10, 1)
				src.wait = func(int) time.Duration { return time.Second }
				dead, out := &bag[runnel.Failed]{}, &bag[int]{}
				var stuck atomic.Bool
				stuck.Store(true)
				handler := func(ctx context.Context, v int) (int, error) {
					if v == 5 && stuck.Load() {
						<-ctx.Done()
						return 0, fmt.Errorf("handle: %w", ctx.Err())
					}
					return v, nil
				}
				run := func(ctx context.Context) error {
					p := runnel.New("test", runnel.Checkpoint(store, checkpoint.EveryRecords(1)), runnel.DrainTimeout(time.Second))
					s := runnel.From(p, src)
					flow.MapAsync(s, handler, append(opts, runnel.Retry(3, 0), runnel.DeadLetter(dead))...).To(out)
					return p.Run(ctx)
				}
				ctx, stop := context.WithTimeout(context.Background(), 7*time.Second)
				defer stop()
				require.ErrorIs(t, run(ctx), runnel.ErrDrainTimeout)
				require.Empty(t, dead.got(), "no dead letter")
				require.Equal(t, 5, src.committedTo(), "no ack")

				stuck.Store(false)
				require.NoError(t, run(context.Background()))
				require.Equal(t, []int{0, 5}, src.starts, "record 5 is read again")
				got := out.values()
				slices.Sort(got)
				require.Equal(t, without(10), slices.Compact(got))
			})
		})
	}
}

func TestStopWaitsForCallsThatEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := count(100, 1), &bag[int]{}
		src.wait = func(int) time.Duration { return time.Second }
		p := runnel.New("test")
		f := func(ctx context.Context, v int) (int, error) { return v, sleep(ctx, 5*time.Second) }
		flow.MapAsync(runnel.From(p, src), f, runnel.Parallel(10)).To(out)
		ctx, stop := context.WithTimeout(context.Background(), 20500*time.Millisecond)
		defer stop()
		require.NoError(t, p.Run(ctx))
		require.Equal(t, without(20), out.values())
		require.Equal(t, 20, src.committedTo(), "a clean stop repeats nothing")
	})
}

func TestResultsDoNotPassMarkers(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]runnel.StageOption{
		"parallel": {runnel.Parallel(4)}, "unordered": {runnel.Parallel(4), runnel.Unordered()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := count(200, 7), &bag[int]{}
				var mu sync.Mutex
				written := 0
				out.write = func(_ context.Context, b runnel.Batch[int]) error {
					mu.Lock()
					defer mu.Unlock()
					written += b.Len()
					return nil
				}
				complete := func(c checkpoint.Checkpoint) {
					mu.Lock()
					defer mu.Unlock()
					if written < src.committedTo() {
						panic(fmt.Sprintf("committed %d, written %d", src.committedTo(), written))
					}
				}
				p := runnel.New("test", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(10)), runnel.OnCheckpoint(complete))
				f := func(ctx context.Context, v int) (int, error) {
					return v, sleep(ctx, time.Duration(v*7919%50)*time.Millisecond)
				}
				flow.MapAsync(runnel.From(p, src), f, opts...).To(out)
				require.NoError(t, p.Run(context.Background()))
				require.Len(t, out.got(), 200)
			})
		})
	}
}

package flow_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestMapKeyedKeepsTheOrderOfEachKey(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]runnel.StageOption{
		"alone": nil, "two workers": {runnel.Parallel(2)}, "many workers": {runnel.Parallel(16)},
		"unordered": {runnel.Parallel(4), runnel.Unordered()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src := count(500, 50)
				src.meta = fullMeta
				f := func(ctx context.Context, k string, v int) (string, error) {
					return fmt.Sprint(k, " ", v), sleep(ctx, time.Duration(v*7919%20)*time.Millisecond)
				}
				records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[string] {
					return flow.MapKeyed(flow.KeyBy(s, func(v int) string { return fmt.Sprint("key", v%11) }), f, opts...)
				})
				require.Len(t, records, 500)
				last := make(map[int64]int64)
				for _, r := range records {
					at := r.Origin.Offset
					require.Equal(t, fmt.Sprintf("key%d %d", at%11, at), r.Value)
					require.Equal(t, fullMeta(int(at)).Key, r.Key, "the record's own key stays")
					before, ok := last[at%11]
					require.True(t, !ok || before < at)
					last[at%11] = at
				}
			})
		})
	}
}

func TestMapKeyedRunsOneCallAtATimeForEachKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := make(map[int]int), 0
		f := func(ctx context.Context, k, v int) (int, error) {
			mu.Lock()
			running[k]++
			sum := 0
			for _, n := range running {
				if n > 1 {
					mu.Unlock()
					return 0, fmt.Errorf("two calls for key %d", k)
				}
				sum += n
			}
			most = max(most, sum)
			mu.Unlock()
			err := sleep(ctx, 10*time.Millisecond)
			mu.Lock()
			running[k]--
			mu.Unlock()
			return v, err
		}
		records, _ := through(t, count(300, 30), func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.MapKeyed(flow.KeyBy(s, func(v int) int { return v % 5 }), f, runnel.Parallel(4))
		})
		require.Len(t, records, 300)
		require.Equal(t, 4, most, "different keys run at once, up to the limit")
	})
}

// TestCOR14BlockedKeyLeavesTheOthersAlone has 10,000 keys, one of which is blocked.
func TestCOR14BlockedKeyLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const keys, blocked = 10_000, 4242
		release := make(chan struct{})
		f := func(ctx context.Context, k string, v int) (int, error) {
			if v != blocked {
				return v, nil
			}
			select {
			case <-release:
				return v, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		src, out := count(keys, 500), &bag[int]{}
		p := runnel.New("test", runnel.StallAfter(time.Minute))
		keyed := flow.KeyBy(runnel.From(p, src), func(v int) string { return fmt.Sprint("key", v) })
		flow.MapKeyed(keyed, f, runnel.Parallel(4), runnel.Name("groups")).To(out)
		done := make(chan error, 1)
		go func() { done <- p.Run(context.Background()) }()

		synctest.Wait()
		began := time.Now()
		require.Len(t, out.got(), keys-1, "the other keys go on")
		require.Empty(t, p.Status().Stalled)

		time.Sleep(90 * time.Second)
		i := slices.IndexFunc(p.Status().Stalled, func(s runnel.Stall) bool { return s.Key != "" })
		require.GreaterOrEqual(t, i, 0)
		stall := p.Status().Stalled[i]
		require.Equal(t, "stage", stall.Kind)
		require.Equal(t, "groups", stall.Name)
		require.Equal(t, "key4242", stall.Key)
		require.EqualValues(t, blocked, stall.Origin.Offset)
		require.Equal(t, began, stall.Since)

		close(release)
		require.NoError(t, <-done)
		require.Len(t, out.got(), keys)
		require.Equal(t, keys, src.committedTo())
	})
}

// TestCOR15KeyTakesAPlaceOnlyWhileARecordOfItIsThere has places for three keys. A is done, B and C take their time;
// later A comes again, and then D.
func TestCOR15KeyTakesAPlaceOnlyWhileARecordOfItIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := of("A1", "B1", "C1", "A2", "D1")
		src.size = 1
		src.wait = func(fetch int) time.Duration { return time.Duration(fetch/3) * time.Second }
		f := func(ctx context.Context, k byte, v string) (string, error) {
			if k == 'B' || k == 'C' {
				return v, sleep(ctx, time.Hour)
			}
			return v, nil
		}
		start, at := time.Now(), make(map[string]time.Duration)
		out := &bag[string]{write: func(_ context.Context, b runnel.Batch[string]) error {
			for _, v := range b.Values() {
				at[v] = time.Since(start)
			}
			return nil
		}}
		p := runnel.New("test")
		key := func(s string) byte { return s[0] }
		flow.MapKeyed(flow.KeyBy(runnel.From(p, src), key), f, runnel.Parallel(3)).To(out)
		require.NoError(t, p.Run(context.Background()))
		require.Equal(t, map[string]time.Duration{
			"A1": 0, "A2": time.Second, "D1": 2 * time.Second, "B1": time.Hour, "C1": time.Hour,
		}, at)
	})
}

func TestRecordInRetryHoldsItsKeyOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f := func(_ context.Context, k byte, v string) (string, error) {
			if v == "a1" {
				if calls++; calls < 3 {
					return "", errBad
				}
			}
			return v, nil
		}
		records, _ := through(t, of("a1", "b1", "a2", "b2"), func(s runnel.Stream[string]) runnel.Stream[string] {
			return flow.MapKeyed(flow.KeyBy(s, func(s string) byte { return s[0] }), f, runnel.Parallel(2), runnel.Retry(3, time.Second))
		})
		require.Equal(t, []string{"b1", "b2", "a1", "a2"}, valuesOf(records))
	})
}

func TestKeyThatCannotBeComparedFailsForItsRecord(t *testing.T) {
	t.Parallel()
	dead := &bag[runnel.Failed]{}
	records, _ := through(t, of[any](1, []int{2}, "three"), func(s runnel.Stream[any]) runnel.Stream[any] {
		seen := make(map[any]bool)
		return flow.MapKeyed(flow.KeyBy(s, func(v any) any { return v }), func(_ context.Context, k, v any) (any, error) {
			seen[k] = true
			return v, nil
		}, runnel.Parallel(1), runnel.DeadLetter(dead))
	})
	require.Equal(t, []any{1, "three"}, valuesOf(records))
	require.Len(t, dead.got(), 1)
	require.ErrorContains(t, dead.got()[0].Value.Err, "unhashable")
}

func TestRouteIsTheSameForAKeyAndSpreadsKeys(t *testing.T) {
	t.Parallel()
	type place struct {
		city string
		zip  int
	}
	k := flow.Keyed[place, place]{Key: func(p place) place { return p }}
	routes := make(map[uint64]bool)
	for i := range 1000 {
		p := place{fmt.Sprint("city ", i), i}
		require.Equal(t, k.Route(p), k.Route(place{"city " + fmt.Sprint(i), i}))
		routes[k.Route(p)%64] = true
	}
	require.Len(t, routes, 64)
	require.Equal(t, "{city 1 1}", k.Label(place{"city 1", 1}))
}

func TestKeyFunctionThatPanicsHasARouteAndNoLabel(t *testing.T) {
	t.Parallel()
	k := flow.KeyBy(runnel.Stream[int]{}, func(v int) int { return 1 / v })
	require.Zero(t, k.Route(0))
	require.Empty(t, k.Label(0))
	require.NotZero(t, k.Route(1))
}

package flow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestDedupKeepsTheFirstOfEachKey(t *testing.T) {
	t.Parallel()
	letter := func(s string) byte { return s[0] }
	for name, c := range map[string]struct {
		max      int
		in, want []string
	}{
		"all remembered": {10, []string{"a1", "b1", "a2", "c1", "b2", "a3"}, []string{"a1", "b1", "c1"}},
		"one remembered": {1, []string{"a1", "a2", "b1", "a3", "a4", "b2"}, []string{"a1", "b1", "a3", "b2"}},
		"two remembered": {2, []string{"a1", "b1", "a2", "c1", "b2", "a3"}, []string{"a1", "b1", "c1", "a3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := of(c.in...)
			src.size = 2
			records, status := through(t, src, func(s runnel.Stream[string]) runnel.Stream[string] {
				return flow.Dedup(s, letter, c.max, 0, runnel.Name("op"))
			})
			require.Equal(t, c.want, valuesOf(records))
			for _, r := range records {
				require.Equal(t, c.in[r.Origin.Offset], r.Value)
			}
			require.EqualValues(t, len(c.in)-len(c.want), stage(t, status, "op").Filtered)
		})
	}
}

func TestDedupForgetsAfterATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := count(10, 1)
		src.wait = func(int) time.Duration { return time.Second }
		records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Dedup(s, func(int) string { return "one" }, 10, 3500*time.Millisecond)
		})
		require.Equal(t, []int{0, 4, 8}, valuesOf(records), "counted from the record that was let through")
	})
}

func TestDedupIsCheckedBeforeItRuns(t *testing.T) {
	t.Parallel()
	key := func(v int) int { return v }
	for name, c := range map[string]struct {
		build func(runnel.Stream[int]) runnel.Stream[int]
		want  string
	}{
		"no keys":       {func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Dedup(s, key, 0, 0) }, "the number of keys is 0"},
		"negative time": {func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Dedup(s, key, 1, -1) }, "the time to remember is negative"},
		"parallel": {func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Dedup(s, key, 1, 0, runnel.Parallel(2))
		}, "leave Parallel out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			c.build(runnel.From(p, of(1))).To(&bag[int]{})
			require.ErrorContains(t, p.Run(context.Background()), c.want)
		})
	}
}

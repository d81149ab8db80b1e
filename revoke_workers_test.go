package runnel_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// Invariant 4: neither does a copy of a stage begin with a record of a partition that was given up while the record
// waited for it, nor goes a result of such a record further that was waiting for its turn.
func TestRecordsOfAPartitionThatWasGivenUpAreDroppedBetweenTheCopiesOfAStage(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]func(string) uint64{
		"any": nil, "by key": func(v string) uint64 { return uint64(v[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g, out := newGroup("a", "b"), &collect[string]{}
				var begun journal
				p := runnel.New("group", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
				runnel.Apply(runnel.From(p, g), "slow", route, func(runnel.StageEnv) (runnel.Stage[string, string], error) {
					return try(func(ctx context.Context, v string) error {
						begun.add("%s", v)
						if v == "a0" {
							return sleep(ctx, 3*time.Second)
						}
						return sleep(ctx, time.Second)
					}), nil
				}, runnel.Parallel(2)).To(out)
				stop, _ := run(t, p)
				g.send("a", "6", "a0", "a1", "a2", "a3", "a4", "a5")
				g.send("b", "1", "b0")
				require.ErrorIs(t, g.revoke("a", 1500*time.Millisecond), context.DeadlineExceeded)
				atWork := slices.Sorted(slices.Values(begun.all()))
				require.Equal(t, []string{"a0", "a1", "a2"}, atWork)
				require.NoError(t, stop())
				require.Equal(t, append(atWork, "b0"), slices.Sorted(slices.Values(begun.all())))
				want := []string{"b0"}
				if route != nil {
					want = []string{"a1", "b0"} // a1 had gone further before
				}
				require.Equal(t, want, out.got())
				require.Equal(t, map[string]string{"b": "1"}, g.committed)
				require.EqualValues(t, 7-len(want), p.Status().Stages[0].Abandoned)
			})
		})
	}
}

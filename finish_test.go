package runnel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestStageThatEndsItsStreamStopsASourceThatNobodyElseReads(t *testing.T) {
	t.Parallel()
	refuse1 := try(func(_ context.Context, v int) error {
		if v == 1 {
			return errors.New("refused")
		}
		return nil
	})
	for name, build := range map[string]func(runnel.Stream[int], *collect[int]) (want int){
		"alone": func(s runnel.Stream[int], out *collect[int]) int { take(s, 3).To(out); return 3 },
		"behind a stage with dead letters": func(s runnel.Stream[int], out *collect[int]) int {
			dead := &collect[runnel.Failed]{}
			take(through(s, refuse1, runnel.DeadLetter(dead)), 3).To(out, runnel.DeadLetter(dead))
			return 3
		},
		"on both branches": func(s runnel.Stream[int], out *collect[int]) int {
			take(s, 3).To(&collect[int]{})
			take(s, 2).To(out)
			return 2
		},
		"behind a merge": func(s runnel.Stream[int], out *collect[int]) int {
			take(runnel.Merge(s, s), 3).To(out)
			return 3
		},
		"that wants nothing": func(s runnel.Stream[int], out *collect[int]) int { take(s, 0).To(out); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := &numbers{n: 1 << 30}, &collect[int]{}
				p := runnel.New("p")
				want := build(runnel.From(p, src), out)
				require.NoError(t, p.Run(t.Context()), "it ends by itself")
				read := p.Status().Sources[0]
				require.Equal(t, read.Read, read.Committed+read.Abandoned)
				require.Len(t, out.got(), want)
			})
		})
	}
}

func TestSourceThatAnotherBranchReadsGoesOnBehindAStageThatEndsItsStream(t *testing.T) {
	t.Parallel()
	few, all, joined := &collect[int]{}, &collect[int]{}, &collect[int]{}
	p := runnel.New("p")
	s, other := runnel.From(p, &numbers{n: 50}), runnel.From(p, &numbers{n: 10})
	few3 := take(s, 3)
	few3.To(few)
	runnel.Merge(few3, other).To(joined)
	s.To(all)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []int{0, 1, 2}, few.got())
	require.Len(t, all.got(), 50)
	require.Len(t, joined.got(), 13)
	require.EqualValues(t, 47, p.Status().Stages[0].Filtered)
}

// What had finished at the checkpoint says so when everything runs: a sink with more finished inputs than its channel
// has places for opens nevertheless.
func TestManyFinishedStagesInFrontOfASmallChannelStartAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, out := checkpoint.Memory(), &collect[int]{}
		for range 2 {
			p := runnel.New("p", runnel.Checkpoint(store), runnel.InboxBatches(1))
			s := runnel.From(p, &numbers{n: 1 << 30})
			for range 4 {
				take(s, 2).To(out)
			}
			require.NoError(t, p.Run(t.Context()))
			require.Len(t, out.got(), 8, "the second run adds nothing")
		}
	})
}

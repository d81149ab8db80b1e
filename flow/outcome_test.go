package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// TestCOR20NoOutputsAreAnOutcome has an in-flight limit of one record, so that a record without an outcome would stop
// everything.
func TestCOR20NoOutputsAreAnOutcome(t *testing.T) {
	t.Parallel()
	// Every third record gives nothing, the others 1 to 5.
	expand := func(v int) []int {
		if v%3 == 0 {
			return nil
		}
		return slices.Repeat([]int{v}, 1+v%5)
	}
	var expanded []int
	for v := range 100 {
		expanded = append(expanded, expand(v)...)
	}
	for name, c := range map[string]struct {
		build func(runnel.Stream[int]) runnel.Stream[int]
		want  []int
	}{
		"flatmap": {func(s runnel.Stream[int]) runnel.Stream[int] { return flow.FlatMap(s, expand) }, expanded},
		"flatmap in parallel": {func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.FlatMap(s, expand, runnel.Parallel(3))
		}, expanded},
		"filter that drops all": {func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Filter(s, func(int) bool { return false })
		}, nil},
		"batch of what came of it": {func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Unbatch(flow.Batch(flow.FlatMap(s, expand), 4, time.Hour))
		}, expanded},
		"drop of everything": {func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Drop(s, 1000) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var committed []int
			src := count(100, 1)
			got, _ := through(t, src, c.build, runnel.MaxBatch(1), runnel.MaxInFlight(1),
				runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)),
				runnel.OnCheckpoint(func(checkpoint.Checkpoint) { committed = append(committed, src.committedTo()) }))
			require.Equal(t, c.want, valuesOf(got))
			require.Equal(t, 100, src.committedTo())
			for v := 1; v <= 100; v++ {
				require.Contains(t, committed, v, "the commit moves on record by record")
			}
		})
	}
}

// TestCOR20InputIsAcknowledgedWhenAllThatCameOfItIs has a sink that refuses the second of three outputs.
func TestCOR20InputIsAcknowledgedWhenAllThatCameOfItIs(t *testing.T) {
	t.Parallel()
	three := func(v int) []string { return []string{fmt.Sprint(v, "a"), fmt.Sprint(v, "b"), fmt.Sprint(v, "c")} }
	refused := errors.New("refused")
	refuse := func(b runnel.Batch[string]) error {
		for i, v := range b.Values() {
			if v == "2b" {
				return &runnel.BatchError[string]{Failed: []runnel.Record[string]{b.Record(i)}, Errs: []error{refused}}
			}
		}
		return nil
	}
	t.Run("the failure ends the run", func(t *testing.T) {
		t.Parallel()
		src, out := count(5, 1), &bag[string]{}
		out.write = func(_ context.Context, b runnel.Batch[string]) error { return refuse(b) }
		p := runnel.New("test", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1)))
		flow.FlatMap(runnel.From(p, src), three).To(out)
		require.ErrorIs(t, p.Run(context.Background()), refused)
		require.LessOrEqual(t, src.committedTo(), 2)
	})
	t.Run("the failure is a dead letter, and the others are awaited", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			src, out, dead := count(5, 1), &bag[string]{}, &bag[runnel.Failed]{}
			out.write = func(_ context.Context, b runnel.Batch[string]) error { return refuse(b) }
			dead.write = func(context.Context, runnel.Batch[runnel.Failed]) error {
				time.Sleep(time.Minute)
				return nil
			}
			p := runnel.New("test", runnel.MaxBatch(3), runnel.MaxInFlight(3),
				runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1)))
			flow.FlatMap(runnel.From(p, src), three).To(out, runnel.DeadLetter(dead))
			done := make(chan error, 1)
			go func() { done <- p.Run(context.Background()) }()
			synctest.Wait()
			require.Equal(t, 2, src.committedTo(), "record 2 waits for its dead letter")
			require.NoError(t, <-done)
			require.Equal(t, 5, src.committedTo())
			require.Len(t, dead.got(), 1)
			require.Equal(t, "2b", dead.got()[0].Value.Value)
		})
	})
}

package flow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestTakeAndDropCutAStreamInTwo(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{
		"nothing": 0, "one": 1, "within a batch": 15, "a batch": 10, "all": 35, "more than there is": 100,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			src, head, tail := count(35, 10), &bag[int]{}, &bag[int]{}
			src.meta = fullMeta
			s := runnel.From(p, src)
			flow.Take(s, n, runnel.Name("take")).To(head)
			flow.Drop(s, n, runnel.Name("drop")).To(tail)
			require.NoError(t, p.Run(context.Background()))
			require.Equal(t, without(35), append(append([]int{}, head.values()...), tail.values()...))
			require.Len(t, head.got(), min(n, 35))
			for _, r := range append(head.got(), tail.got()...) {
				require.Equal(t, fullMeta(r.Value).Key, r.Key)
				require.EqualValues(t, r.Value, r.Origin.Offset)
			}
			status := p.Status()
			require.EqualValues(t, 35-min(n, 35), stage(t, status, "take").Filtered)
			require.EqualValues(t, min(n, 35), stage(t, status, "drop").Filtered)
			require.Equal(t, 35, src.committedTo())
		})
	}
}

func TestCOR13TakeStopsAnEndlessSource(t *testing.T) {
	t.Parallel()
	type stream = runnel.Stream[int]
	for name, build := range map[string]func(stream) stream{
		"alone":             func(s stream) stream { return flow.Take(s, 3) },
		"behind others":     func(s stream) stream { return flow.Take(flow.Filter(flow.Map(s, triple), isEven), 3) },
		"before others":     func(s stream) stream { return flow.Map(flow.Take(s, 3), triple) },
		"behind parallel":   func(s stream) stream { return flow.Take(flow.Map(s, triple, runnel.Parallel(2)), 3) },
		"behind a batch":    func(s stream) stream { return flow.Take(flow.Unbatch(flow.Batch(s, 2, 0)), 3) },
		"in every branch":   func(s stream) stream { return flow.Merge(flow.Take(s, 1), flow.Take(s, 2)) },
		"more than a batch": func(s stream) stream { return flow.Drop(flow.Take(s, 5000), 4997) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := count(10, 10)
			src.endless = true
			records, _ := through(t, src, build)
			require.Len(t, records, 3)
			require.GreaterOrEqual(t, src.committedTo(), 3, "what was taken is acknowledged, and what came with it")
		})
	}
}

func TestTakeLeavesASourceThatOthersReadAlone(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	first, all := &bag[int]{}, &bag[int]{}
	s := runnel.From(p, count(5000, 100))
	flow.Take(s, 3).To(first)
	s.To(all)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, []int{0, 1, 2}, first.values())
	require.Len(t, all.got(), 5000)
}

// TestCountGoesOnFromACheckpoint runs a pipeline whose sink fails, and another from the checkpoint that it has left.
func TestCountGoesOnFromACheckpoint(t *testing.T) {
	t.Parallel()
	store := checkpoint.Memory()
	src := count(100, 10)
	run := func(sink *bag[int], build func(runnel.Stream[int]) runnel.Stream[int]) error {
		p := runnel.New("test", runnel.Checkpoint(store, checkpoint.EveryRecords(10)))
		build(runnel.From(p, src)).To(sink)
		return p.Run(context.Background())
	}
	build := func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Take(flow.Drop(s, 25), 50) }

	broken := &bag[int]{}
	broken.write = func(_ context.Context, b runnel.Batch[int]) error {
		if b.Values()[0] >= 50 {
			return errors.New("disk full")
		}
		return nil
	}
	require.ErrorContains(t, run(broken, build), "disk full")
	require.Positive(t, src.committedTo(), "a checkpoint was taken")

	whole := &bag[int]{}
	require.NoError(t, run(whole, build))
	require.Positive(t, src.starts[1], "the second run starts behind it")
	got := append(append([]int{}, broken.values()...), whole.values()...)
	seen := make(map[int]bool)
	for _, v := range got {
		require.GreaterOrEqual(t, v, 25)
		require.Less(t, v, 75)
		seen[v] = true
	}
	require.Len(t, seen, 50, "nothing of 25 … 74 is missing, nothing else is there")
}

func TestTakeThatWasDoneStaysDone(t *testing.T) {
	t.Parallel()
	store := checkpoint.Memory()
	for run := range 3 {
		src, out := count(10, 10), &bag[int]{}
		src.endless = true
		p := runnel.New("test", runnel.Checkpoint(store))
		flow.Take(runnel.From(p, src), 3).To(out)
		require.NoError(t, p.Run(context.Background()))
		require.Len(t, out.got(), map[int]int{0: 3}[run])
	}
}

func TestNegativeCountIsReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	s := runnel.From(p, of(1))
	flow.Take(s, -1).To(&bag[int]{})
	flow.Drop(s, -2).To(&bag[int]{})
	err := p.Validate()
	require.ErrorContains(t, err, "take-1: the number of records is -1")
	require.ErrorContains(t, err, "drop-1: the number of records is -2")
}

func TestCountRefusesParallel(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	flow.Take(runnel.From(p, of(1)), 1, runnel.Parallel(2)).To(&bag[int]{})
	require.ErrorContains(t, p.Validate(), "leave Parallel out")
}

package cases_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/stretchr/testify/require"
)

func TestCOR17OpenMarkersOfAMergeDoNotMix(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := runneltest.NewDriver[string](t), runneltest.NewDriver[string](t)
		probe, store := runneltest.NewProbe[string](), runneltest.NewStore()
		first, others := runneltest.NewGate(), runneltest.NewGate()
		p := runnel.New("merge", runnel.MaxBatch(1), runnel.Checkpoint(store, checkpoint.Every(time.Hour)))
		held := flow.MapAsync(runnel.From(p, b, runnel.Name("b")), func(ctx context.Context, v string) (string, error) {
			if v == "b1" {
				return v, first.Pass(ctx)
			}
			return v, others.Pass(ctx)
		}, runnel.Parallel(2))
		flow.Merge(runnel.From(p, a, runnel.Name("a")), held).To(probe)
		run := runneltest.Start(t, p)
		probe.AwaitMarker(t, 1) // the first, in front of all records

		b.Send("b1")
		a.Send("a1")
		outcomes := []<-chan error{a.RequestCheckpoint()} // marker 2 passes A while B holds b1
		synctest.Wait()
		a.Post("a2")
		for _, v := range []string{"b2", "b3"} { // markers 3 and 4
			b.Send(v)
			outcomes = append(outcomes, b.RequestCheckpoint())
			synctest.Wait()
		}
		require.Equal(t, []string{"a1"}, probe.Values(), "A waits behind the marker that B has not delivered")
		require.Zero(t, a.Committed())
		now := time.Now()
		open := p.Status().Open
		require.Len(t, open, 3)
		for i, m := range open {
			require.Equal(t, checkpoint.Number(2+i), m.Number)
			require.False(t, m.Opened.After(now), "no marker is younger than now")
			require.NotEmpty(t, m.Waiting)
		}

		first.Open() // b1 passes, and marker 2 behind it
		synctest.Wait()
		require.NoError(t, <-outcomes[0])
		require.Empty(t, outcomes[1], "an older marker does not complete a newer one")
		require.Equal(t, []int{1, 1}, []int{a.Committed(), b.Committed()})

		others.Open()
		require.NoError(t, <-outcomes[1])
		require.NoError(t, <-outcomes[2])
		a.End()
		b.End()
		require.NoError(t, run.Wait())
		require.Equal(t, []string{"a1", "b1"}, upTo(probe, 2))
		for i, c := range store.Saved() {
			require.Equal(t, checkpoint.Number(i+1), c.Number)
			values := upTo(probe, c.Number)
			require.Equal(t, values, positions(t, c), "what arrived in front of the marker is what its positions cover")
		}
		require.Equal(t, []string{"a1", "a2", "b1", "b2", "b3"}, upTo(probe, store.Newest().Number))
	})
}

// upTo returns, sorted, what arrived in front of a marker.
func upTo(probe *runneltest.Probe[string], n checkpoint.Number) []string {
	values := []string{}
	for _, s := range probe.Sections() {
		if s.Marker <= n {
			values = append(values, s.Values...)
		}
	}
	slices.Sort(values)
	return values
}

// positions returns, sorted, the records a1, a2, … and b1, b2, … that the positions of a checkpoint cover.
func positions(t *testing.T, c checkpoint.Checkpoint) []string {
	t.Helper()
	values := []string{}
	for _, source := range []string{"a", "b"} {
		for i := range committed(t, c, source) {
			values = append(values, fmt.Sprint(source, i+1))
		}
	}
	return values
}

func TestCOR18CheckpointStandsOnlyIfEverySinkHasAcknowledgedIt(t *testing.T) {
	t.Parallel()
	probe := func(h runneltest.Hook) runnel.Sink[int] { return runneltest.HookSink(runneltest.NewProbe[int](), h) }
	late := func(h runneltest.Hook) runnel.Sink[int] {
		s := runneltest.NewLateSink[int]()
		s.AckAll()
		return runneltest.HookSink(s, h)
	}
	tx := func(h runneltest.Hook) runnel.Sink[int] { return runneltest.HookSink(runneltest.NewTxSink[int](), h) }
	decider := func(h runneltest.Hook) runnel.Sink[int] {
		return runneltest.HookSink(runneltest.NewDecidingSink[int](), h)
	}
	cases := map[string]struct {
		sink func(runneltest.Hook) runnel.Sink[int]
		op   runneltest.Op
	}{
		"flush fails":                {probe, runneltest.OpFlush},
		"late acknowledgement fails": {late, runneltest.OpBarrier},
		"prepare fails":              {tx, runneltest.OpPrepare},
		"decide fails":               {decider, runneltest.OpDecide},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runneltest.CheckGoroutines(t)
			d, store, good := runneltest.NewDriver[int](t), runneltest.NewStore(), runneltest.NewProbe[int]()
			// Marker 1 comes before all records, 2 behind the first five; 3 fails.
			failing := c.sink(runneltest.FailAt(c.op, 3, errTest))
			start := func() *runneltest.Run {
				p := runnel.New("branches", runnel.MaxBatch(5), runnel.Checkpoint(store, checkpoint.EveryRecords(5)))
				s := runnel.From(p, d, runnel.Name("in"))
				s.To(good, runnel.Name("good"))
				s.To(failing, runnel.Name("failing"))
				return runneltest.Start(t, p)
			}
			first := start()
			d.Send(0, 1, 2, 3, 4)
			d.AwaitCommitted(5)
			d.Post(5, 6, 7, 8, 9)
			require.ErrorIs(t, first.Wait(), errTest)
			require.Equal(t, 5, d.Committed(), "the former checkpoint stands")

			d.End()
			require.NoError(t, start().Wait())
			require.Equal(t, 10, d.Committed())
			require.Equal(t, 10, committed(t, store.Newest(), "in"))
			runneltest.AtLeastOnce(t, numbers(10), good.Values())
			require.Equal(t, []int{5, 6, 7, 8, 9}, good.Values()[good.Len()-5:], "what was not covered is read again")
		})
	}
}

func TestCOR18DeadLettersAreABranchLikeAnyOther(t *testing.T) {
	t.Parallel()
	d, store, dead := runneltest.NewDriver[int](t), runneltest.NewStore(), runneltest.NewProbe[runnel.Failed]()
	failing := runneltest.HookSink(dead, runneltest.FailAt(runneltest.OpFlush, 2, errTest))
	start := func() *runneltest.Run {
		p := runnel.New("dead", runnel.Checkpoint(store, checkpoint.Every(time.Hour)))
		runnel.From(p, d, runnel.Name("in")).To(sink.Func(func(context.Context, int) error { return errTest }),
			runnel.DeadLetter(failing))
		return runneltest.Start(t, p)
	}
	d.Post(7)
	d.End()
	require.ErrorIs(t, start().Wait(), errTest)
	require.Zero(t, committed(t, store.Newest(), "in"), "the record is covered only once its dead letter is acknowledged")
	require.NoError(t, start().Wait())
	require.Equal(t, 1, committed(t, store.Newest(), "in"))
	require.Len(t, dead.Values(), 2)
}

package cases_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

// windowed is a driver whose system delivers again what is not acknowledged within its ack window.
type windowed struct {
	*runneltest.Driver[int]
	window time.Duration
}

func (s windowed) Describe() runnel.Traits {
	traits := s.Driver.Describe()
	traits.AckWindow = s.window
	return traits
}

func TestCOR08HoldingRecordsForTheAckWindowIsRefused(t *testing.T) {
	t.Parallel()
	const window = 30 * time.Second
	cases := map[string]struct {
		linger, interval time.Duration
		want             string // empty: it is accepted
	}{
		"linger of 2 min":             {2 * time.Minute, 5 * time.Second, "records would be delivered again"},
		"linger of the window":        {window, 5 * time.Second, "records would be delivered again"},
		"linger below it":             {10 * time.Second, 5 * time.Second, ""},
		"checkpoints of the window":   {time.Second, window, "is not below the source's ack window"},
		"linger and checkpoints fine": {29 * time.Second, 29 * time.Second, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("acks", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(c.interval)))
			s := flow.Map(runnel.From(p, windowed{runneltest.NewDriver[int](t), window}), func(v int) int { return v })
			flow.Batch(s, 1000, c.linger).To(sink.Discard[[]int]())
			err := p.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, p.Run(context.Background()), c.want, "and it does not run")
		})
	}
}

func TestCOR08RecordsAreAcknowledgedWithinTheWindowHoweverTheyLinger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const window = 30 * time.Second
		d, out := windowed{runneltest.NewDriver[int](t), window}, sink.NewSlice[[]int]()
		p := runnel.New("acks", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(20*time.Second)))
		flow.Batch(runnel.From(p, d), 1000, 29*time.Second).To(out)
		run := runneltest.Start(t, p)
		for i := range 100 { // one at a moment, over many windows
			d.Send(i)
			sent := time.Now()
			d.AwaitCommitted(i + 1)
			require.Less(t, time.Since(sent), window)
			time.Sleep(time.Duration(i%7) * time.Second)
		}
		d.End()
		require.NoError(t, run.Wait())
		var all []int
		for _, batch := range out.Values() {
			all = append(all, batch...)
		}
		require.Equal(t, numbers(100), all)
	})
}

func TestCOR11InFlightLimitHoldsAndNeverDeadlocks(t *testing.T) {
	t.Parallel()
	for limit := 1; limit <= 6; limit++ {
		for batch := 1; batch <= limit; batch++ {
			t.Run(fmt.Sprintf("limit %d, batches of %d", limit, batch), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					out, store := sink.NewSlice[int](), runneltest.NewStore()
					p := runnel.New("budget", runnel.MaxBatch(batch), runnel.MaxInFlight(limit),
						runnel.Checkpoint(store, checkpoint.Every(time.Hour)))
					var entered, over atomic.Int64
					enter := func(_ context.Context, v int) (int, error) {
						if entered.Add(1)-p.Status().Sources[0].Committed > int64(limit) {
							over.Add(1)
						}
						return v, nil
					}
					pass := func(_ context.Context, v int) (int, error) { return v, nil }
					first := flow.MapAsync(runnel.From(p, source.Slice(numbers(20))), enter, runnel.Parallel(2))
					flow.MapAsync(first, pass, runnel.Parallel(2)).To(out)
					require.NoError(t, p.Run(context.Background()))
					require.Equal(t, numbers(20), out.Values())
					require.Zero(t, over.Load(), "more records were in the pipeline than may be")
					require.Less(t, time.Since(begin), time.Hour, "the limit opens markers, not the time")
				})
			})
		}
	}
}

func TestCOR11InFlightLimitBelowTheBatchIsRefused(t *testing.T) {
	t.Parallel()
	p := runnel.New("budget", runnel.MaxBatch(4), runnel.MaxInFlight(3))
	runnel.From(p, source.Slice(numbers(20))).To(sink.Discard[int]())
	require.ErrorContains(t, p.Validate(), "MaxInFlight")
}

func TestCOR12FailureUnderFullBackpressureEndsTheRunAtOnce(t *testing.T) {
	t.Parallel()
	// Each failure comes when nothing in the graph can move any more.
	cases := map[string]func(g *jammed){
		"a stage in the middle": func(g *jammed) { g.stage.Open() },
		"a source":              func(g *jammed) { g.driver.Fail(errTest) },
		"another sink":          func(g *jammed) { g.write.Open() },
		"the store":             func(g *jammed) { g.save.Open() },
	}
	for name, fail := range cases {
		for _, restarts := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s, %d restarts", name, restarts), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					g := jam(t, restarts)
					synctest.Wait()
					select {
					case <-g.run.Done():
						t.Fatal("the run has ended before anything failed")
					default:
					}
					begin := time.Now()
					fail(g)
					if restarts == 0 {
						require.ErrorIs(t, g.run.Wait(), errTest)
					} else {
						synctest.Wait()
						g.p.Abort()
						require.Error(t, g.run.Wait())
					}
					require.Zero(t, time.Since(begin), "nothing waited for a time-out")
				})
			})
		}
	}
}

// jammed is a pipeline whose channels are full, as its sinks do not move.
type jammed struct {
	p      *runnel.Pipeline
	run    *runneltest.Run
	driver *runneltest.Driver[int]
	stage  *runneltest.Gate // lets the stage in the middle fail
	write  *runneltest.Gate // lets the second sink fail
	save   *runneltest.Gate // lets the store fail
}

func jam(t *testing.T, restarts int) *jammed {
	t.Helper()
	g := &jammed{
		driver: runneltest.NewDriver[int](t), stage: runneltest.NewGate(), write: runneltest.NewGate(), save: runneltest.NewGate(),
	}
	failSave := func(ctx context.Context, c runneltest.Call) error {
		if c.Op != runneltest.OpSave || c.After || c.Nth == 1 {
			return nil
		}
		if err := g.save.Pass(ctx); err != nil {
			return err
		}
		return errTest
	}
	failAfter := func(gate *runneltest.Gate) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			if err := gate.Pass(ctx); err != nil {
				return err
			}
			return errTest
		}
	}
	g.p = runnel.New("jam", runnel.MaxBatch(1), runnel.Restart(restarts, 0),
		runnel.Checkpoint(runneltest.HookStore(runneltest.NewStore(), failSave), checkpoint.EveryRecords(2)))
	endless := runnel.From(g.p, source.Generate(-1, func(i int64) int { return int(i) }), runnel.Name("endless"))
	middle := flow.MapAsync(endless, func(ctx context.Context, v int) (int, error) {
		if v < 3 {
			return v, nil
		}
		return v, failAfter(g.stage)(ctx, v)
	}, runnel.Parallel(3))
	all := flow.Merge(middle, runnel.From(g.p, g.driver, runnel.Name("driver")))
	all.To(sink.Func(func(ctx context.Context, v int) error {
		if v < 2 {
			return nil
		}
		<-ctx.Done() // stands still
		return context.Cause(ctx)
	}))
	flow.Map(all, func(v int) int { return v }).To(sink.Func(func(ctx context.Context, v int) error {
		if v < 2 {
			return nil
		}
		return failAfter(g.write)(ctx, v)
	}))
	g.run = runneltest.Start(t, g.p)
	return g
}

package cases_test

import (
	"context"
	"maps"
	"slices"
	"sync"
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

// calls notes which calls a pipeline has made, in order.
type calls struct {
	mu  sync.Mutex
	all []runneltest.Op
}

func (c *calls) hook(_ context.Context, call runneltest.Call) error {
	if call.After {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, call.Op)
	}
	return nil
}

// last returns the place of the last call of a kind.
func (c *calls) last(op runneltest.Op) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.all) - 1; i >= 0; i-- {
		if c.all[i] == op {
			return i
		}
	}
	return -1
}

func TestCOR03CleanStopDrainsAndCommitsBeforeTheSourceIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, probe, store := runneltest.NewDriver[int](t), runneltest.NewProbe[int](), runneltest.NewStore()
		slow := func(_ context.Context, c runneltest.Call) error {
			if c.Op == runneltest.OpWrite && !c.After {
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}
		var log calls
		run := func() *runneltest.Run {
			p := runnel.New("stop", runnel.MaxBatch(10), runnel.Checkpoint(store, checkpoint.Every(time.Hour)))
			s := runnel.From(p, runneltest.HookSource(d, log.hook))
			doubled := flow.MapAsync(s, func(_ context.Context, v int) (int, error) { return v, nil }, runnel.Parallel(3))
			doubled.To(runneltest.HookSink(probe, runneltest.Hooks(slow, log.hook)))
			return runneltest.Start(t, p)
		}
		first := run()
		d.Post(numbers(1000)...)
		probe.Await(t, 30) // some are written, and about 100 are on their way
		require.NoError(t, first.Stop())
		read := probe.Len()
		require.Greater(t, read, 100, "what was in flight is drained")
		require.Less(t, read, 1000, "and nothing more is read")
		require.Equal(t, numbers(read), probe.Values())
		require.Equal(t, read, d.Committed())
		order := []int{
			log.last(runneltest.OpRead), log.last(runneltest.OpWrite), log.last(runneltest.OpFlush),
			log.last(runneltest.OpCommitSource), log.last(runneltest.OpCloseSink), log.last(runneltest.OpCloseSource),
		}
		require.True(t, slices.IsSorted(order), "%v", log.all)

		d.End()
		require.NoError(t, run().Wait())
		require.Equal(t, numbers(1000), probe.Values(), "the next start repeats nothing")
	})
}

func TestCOR06StopIsNoFailureOfTheRecordThatAHandlerHolds(t *testing.T) {
	t.Parallel()
	handlers := map[string]func(handle func(context.Context, int) error) runnel.Sink[int]{
		"sink of values": func(h func(context.Context, int) error) runnel.Sink[int] { return sink.Func(h) },
		"sink of batches": func(h func(context.Context, int) error) runnel.Sink[int] {
			return sink.FuncBatch(func(ctx context.Context, b runnel.Batch[int]) error { return h(ctx, b.Values()[0]) })
		},
		"sink that names the record": func(h func(context.Context, int) error) runnel.Sink[int] {
			return sink.FuncBatch(func(ctx context.Context, b runnel.Batch[int]) error {
				if err := h(ctx, b.Values()[0]); err != nil {
					return &runnel.BatchError[int]{Failed: []runnel.Record[int]{b.Record(0)}, Errs: []error{err}}
				}
				return nil
			})
		},
	}
	for name, form := range handlers {
		for _, drain := range []time.Duration{0, time.Second} {
			t.Run(name+", drain time-out "+drain.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					const held = 5
					d, store, dead := runneltest.NewDriver[int](t), runneltest.NewStore(), sink.NewSlice[runnel.Failed]()
					d.Post(numbers(10)...)
					d.End()
					var got []int
					entered := make(chan struct{})
					start := func(handle func(context.Context, int) error) *runneltest.Run {
						p := runnel.New("stop", runnel.MaxBatch(1), runnel.DrainTimeout(drain),
							runnel.Checkpoint(store, checkpoint.EveryRecords(1)))
						runnel.From(p, d).To(form(handle), runnel.DeadLetter(dead), runnel.Retry(3, 0))
						return runneltest.Start(t, p)
					}
					first := start(func(ctx context.Context, v int) error {
						got = append(got, v)
						if v == held {
							close(entered)
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					})
					<-entered
					require.ErrorIs(t, first.Stop(), runnel.ErrDrainTimeout)
					require.Equal(t, numbers(held+1), got, "no record behind it was begun, and it was not tried again")
					require.Empty(t, dead.Values())
					require.LessOrEqual(t, d.Committed(), held)

					from := d.Committed()
					got = nil
					require.NoError(t, start(func(_ context.Context, v int) error {
						got = append(got, v)
						return nil
					}).Wait())
					require.Equal(t, numbers(10)[from:], got, "it is read again")
					require.Empty(t, dead.Values())
				})
			})
		}
	}
}

func TestCOR07EmitOnStoppedPipelineIsRefusedAndNothingIsDroppedSilently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, probe, gate := source.NewPush[int](), runneltest.NewProbe[int](), runneltest.NewGate()
		p := runnel.New("bus", runnel.MaxBatch(1))
		runnel.From(p, push).To(runneltest.HookSink(probe, runneltest.Hold(runneltest.OpWrite, 0, gate)))
		run := runneltest.Start(t, p)
		const senders = 50
		outcome := make([]error, senders)
		var group sync.WaitGroup
		for i := range senders {
			group.Go(func() { outcome[i] = push.Emit(context.Background(), i) })
		}
		synctest.Wait() // the channels are full, and the other senders wait
		run.RequestStop()
		synctest.Wait()
		require.ErrorIs(t, push.Emit(context.Background(), 99), runnel.ErrClosed, "while the run drains")
		gate.Open()
		require.NoError(t, run.Wait())
		group.Wait()
		var taken []int
		for i, err := range outcome {
			if err == nil {
				taken = append(taken, i)
				continue
			}
			require.ErrorIs(t, err, runnel.ErrClosed)
		}
		require.NotEmpty(t, taken)
		require.Less(t, len(taken), senders)
		runneltest.ExactlyOnce(t, taken, probe.Values())
		require.ErrorIs(t, push.Emit(context.Background(), 99), runnel.ErrClosed, "after the run")
		require.ErrorIs(t, push.EmitAcked(context.Background(), 99), runnel.ErrClosed)
	})
}

// every calls every method of a pipeline and a push source that may be called at any time, and returns those that must
// be refused.
func every(p *runnel.Pipeline, push *source.Push[int]) map[string]error {
	refused := map[string]error{
		"Run":       p.Run(context.Background()),
		"Emit":      push.Emit(context.Background(), 1),
		"EmitAcked": push.EmitAcked(context.Background(), 1),
	}
	_, refused["EmitRecords"] = push.EmitRecords(context.Background(), runnel.Record[int]{})
	_ = push.Close()
	_ = p.Validate()
	_ = p.Status()
	_ = p.Graph()
	p.Abort()
	return refused
}

func TestCOR16EveryMethodOfAClosedPipelineReturnsAtOnce(t *testing.T) {
	t.Parallel()
	endings := map[string]func(t *testing.T, run *runneltest.Run, p *runnel.Pipeline, push *source.Push[int]){
		"it ended": func(t *testing.T, run *runneltest.Run, _ *runnel.Pipeline, push *source.Push[int]) {
			require.NoError(t, push.Close())
			require.NoError(t, run.Wait())
		},
		"it was stopped": func(t *testing.T, run *runneltest.Run, _ *runnel.Pipeline, _ *source.Push[int]) {
			require.NoError(t, run.Stop())
		},
		"it was aborted": func(t *testing.T, run *runneltest.Run, p *runnel.Pipeline, _ *source.Push[int]) {
			p.Abort()
			require.ErrorIs(t, run.Wait(), runnel.ErrAborted)
		},
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				push := source.NewPush[int]()
				p := runnel.New("closed")
				runnel.From(p, push).To(sink.Discard[int]())
				run := runneltest.Start(t, p)
				require.NoError(t, push.Emit(context.Background(), 1))
				end(t, run, p, push)
				begin := time.Now()
				for range 2 {
					for method, err := range every(p, push) {
						require.ErrorIs(t, err, runnel.ErrClosed, method)
					}
				}
				var group sync.WaitGroup
				for range 8 {
					group.Go(func() { every(p, push) })
				}
				group.Wait()
				require.Zero(t, time.Since(begin), "nothing waited")
			})
		})
	}
}

func TestCOR16EveryMethodReturnsAtOnceInsideAHandlerOfAStoppedPipeline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, entered, goOn := source.NewPush[int](), make(chan struct{}), make(chan struct{})
		p := runnel.New("inside")
		results := make(map[string]error)
		runnel.From(p, push).To(sink.Func(func(context.Context, int) error {
			close(entered)
			<-goOn
			for range 2 {
				maps.Copy(results, every(p, push))
			}
			return nil
		}))
		run := runneltest.Start(t, p)
		require.NoError(t, push.Emit(context.Background(), 1))
		<-entered
		run.RequestStop()
		synctest.Wait()
		begin := time.Now()
		close(goOn)
		require.ErrorIs(t, run.Wait(), runnel.ErrAborted, "the handler has aborted it")
		require.Zero(t, time.Since(begin), "nothing waited")
		require.Len(t, results, 4)
		for method, err := range results {
			require.ErrorIs(t, err, runnel.ErrClosed, method)
		}
	})
}

func TestCOR16AbortBeforeTheRunIsTheEndOfIt(t *testing.T) {
	t.Parallel()
	push := source.NewPush[int]()
	p := runnel.New("aborted")
	runnel.From(p, push).To(sink.Discard[int]())
	p.Abort()
	p.Abort()
	require.ErrorIs(t, p.Run(context.Background()), runnel.ErrAborted)
	require.ErrorIs(t, p.Run(context.Background()), runnel.ErrAborted)
}

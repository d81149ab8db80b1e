package source_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("failure of the test")

func pushTo[T any](t *testing.T, push *source.Push[T], to runnel.Sink[T], opts ...runnel.Option) *runneltest.Run {
	t.Helper()
	p := runnel.New("push", opts...)
	runnel.From(p, push).To(to)
	return runneltest.Start(t, p)
}

func TestEmitHandsValuesToTheRunBeforeItReturns(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	push, probe := source.NewPush[int](), runneltest.NewProbe[int]()
	run := pushTo(t, push, probe)
	require.NoError(t, push.Emit(t.Context(), 1, 2))
	require.NoError(t, push.Emit(t.Context()))
	require.NoError(t, push.Emit(t.Context(), 3))
	require.NoError(t, run.Stop())
	require.Equal(t, []int{1, 2, 3}, probe.Values(), "a clean stop loses nothing of what was taken")
}

func TestEmitWaitsForTheRunToBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, probe := source.NewPush[int](), runneltest.NewProbe[int]()
		sent := make(chan error, 1)
		go func() { sent <- push.Emit(context.Background(), 1) }()
		synctest.Wait()
		require.Empty(t, sent)
		run := pushTo(t, push, probe)
		require.NoError(t, <-sent)
		require.NoError(t, push.Close())
		require.NoError(t, run.Wait())
		require.Equal(t, []int{1}, probe.Values())
	})
}

func TestEmitWaitsUnderBackpressure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, probe, gate := source.NewPush[int](), runneltest.NewProbe[int](), runneltest.NewGate()
		run := pushTo(t, push, runneltest.HookSink(probe, runneltest.Hold(runneltest.OpWrite, 0, gate)))
		sent := 0
		go func() {
			for push.Emit(context.Background(), sent) == nil {
				sent++
			}
		}()
		synctest.Wait()
		require.Less(t, sent, 100, "as much as the channels hold")
		before := sent
		gate.Let(1)
		synctest.Wait()
		require.Equal(t, before+1, sent)
		gate.Open()
		require.NoError(t, run.Stop())
		synctest.Wait()
		require.Len(t, probe.Values(), sent)
	})
}

func TestClosedPushRefusesAtOnce(t *testing.T) {
	t.Parallel()
	emits := map[string]func(p *source.Push[int]) error{
		"Emit":      func(p *source.Push[int]) error { return p.Emit(context.Background(), 1) },
		"EmitAcked": func(p *source.Push[int]) error { return p.EmitAcked(context.Background(), 1) },
		"Emit none": func(p *source.Push[int]) error { return p.Emit(context.Background()) },
		"EmitRecords": func(p *source.Push[int]) error {
			_, err := p.EmitRecords(context.Background(), runnel.Record[int]{})
			return err
		},
	}
	states := map[string]func(t *testing.T, p *source.Push[int]){
		"closed before a run": func(t *testing.T, p *source.Push[int]) { require.NoError(t, p.Close()) },
		"closed during a run": func(t *testing.T, p *source.Push[int]) {
			run := pushTo(t, p, sink.Discard[int]())
			require.NoError(t, p.Close())
			require.NoError(t, p.Close())
			require.NoError(t, run.Wait())
		},
		"after a stop": func(t *testing.T, p *source.Push[int]) {
			run := pushTo(t, p, sink.Discard[int]())
			require.NoError(t, p.Emit(context.Background(), 0))
			require.NoError(t, run.Stop())
		},
		"after a failure": func(t *testing.T, p *source.Push[int]) {
			run := pushTo(t, p, sink.Func(func(context.Context, int) error { return errTest }))
			_ = p.Emit(context.Background(), 0) // may still be taken
			require.ErrorIs(t, run.Wait(), errTest)
		},
	}
	for state, reach := range states {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			p := source.NewPush[int]()
			reach(t, p)
			for name, emit := range emits {
				require.ErrorIs(t, emit(p), runnel.ErrClosed, name)
				require.ErrorIs(t, emit(p), runnel.ErrClosed, "%s, again", name)
			}
			require.NoError(t, p.Close())
		})
	}
}

func TestFailureIsToldToWhoEmitsAfterIt(t *testing.T) {
	t.Parallel()
	push := source.NewPush[int]()
	run := pushTo(t, push, sink.Func(func(context.Context, int) error { return errTest }))
	_ = push.Emit(context.Background(), 1)
	require.ErrorIs(t, run.Wait(), errTest)
	require.ErrorIs(t, push.Emit(context.Background(), 2), errTest)
}

func TestEmitAckedWaitsForTheCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, late := source.NewPush[int](), runneltest.NewLateSink[int]()
		run := pushTo(t, push, late, runnel.Checkpoint(runneltest.NewStore(), checkpoint.Every(time.Second)))
		late.AwaitMarkers(t, 1) // the first, in front of all records
		late.Ack(nil)
		acked := make(chan error, 1)
		go func() { acked <- push.EmitAcked(context.Background(), 1) }()
		late.AwaitMarkers(t, 2)
		synctest.Wait()
		require.Empty(t, acked)
		late.Ack(nil)
		require.NoError(t, <-acked)
		late.AckAll()
		require.NoError(t, run.Stop())
	})
}

func TestUnackedRecordsOfFailedAttemptAreRefusedToTheirSenders(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	push, late := source.NewPush[int](), runneltest.NewLateSink[int]()
	run := pushTo(t, push, late, runnel.Restart(1, 0), runnel.Checkpoint(runneltest.NewStore(), checkpoint.EveryRecords(1)))
	late.AwaitMarkers(t, 1)
	late.Ack(nil)
	ack, err := push.EmitRecords(context.Background(), runnel.Record[int]{Value: 1})
	require.NoError(t, err)
	late.AwaitMarkers(t, 2)
	require.NoError(t, ack.Err(), "not known yet")
	late.Ack(errTest) // the attempt fails, and the pipeline starts again
	require.ErrorIs(t, ack.Wait(context.Background()), errTest)
	require.ErrorIs(t, ack.Err(), errTest)
	late.AckAll()
	for err = runnel.ErrClosed; errors.Is(err, runnel.ErrClosed); { // until it has started again
		err = push.EmitAcked(context.Background(), 1)
	}
	require.NoError(t, err)
	require.NoError(t, run.Stop())
	require.Equal(t, []int{1}, late.Durable(), "who repeats has at least once")
}

func TestRecordsThatAPolicyDropsAreAcknowledged(t *testing.T) {
	t.Parallel()
	push := source.NewPush[int]()
	p := runnel.New("drop", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1)))
	runnel.From(p, push).To(sink.Func(func(context.Context, int) error { return errTest }), runnel.Skip())
	run := runneltest.Start(t, p)
	require.NoError(t, push.EmitAcked(context.Background(), 1))
	require.NoError(t, run.Stop())
}

func TestEmitGivesUpWithItsContextAndKeepsNothing(t *testing.T) {
	t.Parallel()
	push, probe := source.NewPush[int](), runneltest.NewProbe[int]()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errTest)
	require.ErrorIs(t, push.Emit(ctx, 1), errTest)
	run := pushTo(t, push, probe)
	require.NoError(t, push.Emit(context.Background(), 2))
	require.NoError(t, run.Stop())
	require.Equal(t, []int{2}, probe.Values())
}

func TestWhoGivesUpIsToldWhatItWaitedFor(t *testing.T) {
	t.Parallel()
	emits := map[string]func(ctx context.Context, p *source.Push[int]) error{
		"Emit":      func(ctx context.Context, p *source.Push[int]) error { return p.Emit(ctx, 1) },
		"EmitAcked": func(ctx context.Context, p *source.Push[int]) error { return p.EmitAcked(ctx, 1) },
		"EmitRecords": func(ctx context.Context, p *source.Push[int]) error {
			_, err := p.EmitRecords(ctx, runnel.Record[int]{})
			return err
		},
	}
	for name, emit := range emits {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			err := emit(ctx, source.NewPush[int]())
			require.EqualError(t, err, "source: push: no run has the source open: context deadline exceeded", name)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		push, gate := source.NewPush[int](), runneltest.NewGate()
		run := pushTo(t, push, runneltest.HookSink(runneltest.NewProbe[int](), runneltest.Hold(runneltest.OpWrite, 0, gate)),
			runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Minute)))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.EqualError(t, push.EmitAcked(ctx, 1),
			"source: push: no checkpoint covers the values yet: context deadline exceeded")
		ctx, cancel = context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := push.Emit(ctx, 2)
		for err == nil { // until the channels are full
			err = push.Emit(ctx, 2)
		}
		require.EqualError(t, err, "source: push: the pipeline has not taken all values: context deadline exceeded")
		gate.Open()
		require.NoError(t, run.Stop())
	})
}

func TestPushedRecordsKeepTheirMetadata(t *testing.T) {
	t.Parallel()
	push, probe := source.NewPush[string](), runneltest.NewProbe[string]()
	p := runnel.New("meta", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1)))
	runnel.From(p, push, runnel.Name("in")).To(probe)
	run := runneltest.Start(t, p)
	at := time.Unix(7, 0)
	require.NoError(t, push.Emit(context.Background(), "plain"))
	ack, err := push.EmitRecords(context.Background(), runnel.Record[string]{Value: "full", Meta: runnel.Meta{
		Key: []byte("k"), Time: at, Headers: runnel.Headers{{Name: "h", Value: []byte("v")}},
		Origin: runnel.Origin{Source: "elsewhere", Offset: 99},
	}})
	require.NoError(t, err)
	<-ack.Done()
	require.NoError(t, ack.Err())
	require.NoError(t, run.Stop())
	plain, full := probe.Records()[0], probe.Records()[1]
	require.Equal(t, []string{"in/0@0", "in/0@1"}, []string{plain.Origin.String(), full.Origin.String()})
	require.Nil(t, plain.Key)
	require.Equal(t, []byte("k"), full.Key)
	require.True(t, at.Equal(full.Time))
	require.Equal(t, runnel.Headers{{Name: "h", Value: []byte("v")}}, full.Headers)
}

func TestManySendersLoseNothing(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	push, probe := source.NewPush[int](), runneltest.NewProbe[int]()
	run := pushTo(t, push, probe, runnel.MaxBatch(3), runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Millisecond)))
	const senders, each = 8, 50
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each / 5 {
				at := s*each + 5*i
				values := []int{at, at + 1, at + 2, at + 3, at + 4}
				if err := push.EmitAcked(context.Background(), values...); err != nil {
					t.Error(err)
				}
				clear(values) // the memory is the sender's again
			}
		})
	}
	go func() {
		group.Wait()
		_ = push.Close()
	}()
	require.NoError(t, run.Wait())
	runneltest.ExactlyOnce(t, numbers(senders*each), probe.Values())
}

func TestStopAnswersEverySenderAndLosesNothingItTook(t *testing.T) {
	t.Parallel()
	for range 20 {
		push, probe := source.NewPush[int](), runneltest.NewProbe[int]()
		run := pushTo(t, push, probe)
		var group sync.WaitGroup
		taken := make([]bool, 8)
		for i := range taken {
			group.Go(func() { taken[i] = push.Emit(context.Background(), i) == nil })
		}
		require.NoError(t, run.Stop())
		require.NoError(t, push.Close()) // the stop may have come before the source was opened
		group.Wait()
		var want []int
		for i, ok := range taken {
			if ok {
				want = append(want, i)
			}
		}
		runneltest.ExactlyOnce(t, want, probe.Values())
	}
}

func TestStageMaySendToItsOwnPipeline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		push, out := source.NewPush[int](), sink.NewSlice[int]()
		stopped := make(chan error, 1)
		p := runnel.New("cycle")
		numbers := runnel.From(p, push)
		numbers.To(out)
		gate := runneltest.NewGate()
		numbers.To(sink.Func(func(ctx context.Context, v int) error {
			switch {
			case v < 3:
				return push.Emit(ctx, v+1)
			case v == 3:
				if err := gate.Pass(ctx); err != nil {
					return err
				}
				stopped <- push.Emit(ctx, 4) // after the stop
			}
			return nil
		}))
		run := runneltest.Start(t, p)
		require.NoError(t, push.Emit(context.Background(), 0))
		gate.AwaitHeld(t, 1)
		run.RequestStop()
		synctest.Wait()
		gate.Open()
		require.ErrorIs(t, <-stopped, runnel.ErrClosed)
		require.NoError(t, run.Wait())
		require.Equal(t, []int{0, 1, 2, 3}, out.Values())
	})
}

func TestPushIsOpenInOneRun(t *testing.T) {
	t.Parallel()
	push := source.NewPush[int]()
	run := pushTo(t, push, sink.Discard[int]())
	require.NoError(t, push.Emit(context.Background(), 1))
	p := runnel.New("second")
	runnel.From(p, push).To(sink.Discard[int]())
	require.ErrorContains(t, p.Run(context.Background()), "another run has it open")
	require.NoError(t, push.Emit(context.Background(), 2), "the first run is not disturbed")
	require.NoError(t, run.Stop())
}

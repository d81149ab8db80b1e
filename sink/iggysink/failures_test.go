package iggysink

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// collect returns an option that gathers what fails, and what it gathered.
func collect() (BackgroundOption, *[]*SendFailedError) {
	all := new([]*SendFailedError)
	return OnError(func(failed *SendFailedError) { *all = append(*all, failed) }), all
}

func TestWhatCannotBeWrittenIsTold(t *testing.T) {
	onError, failed := collect()
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(nil, uncertainOf(7), fault(wire.CodeTopicFull))
		for i, by := range []wire.Partitioning{{}, ToPartition(1), ByKey([]byte("k")), ToPartition(2)} {
			_, err := p.SendWithPartitioning(t.Context(), texts(numbered(10*i, 10*i+2)...), by)
			require.NoError(t, err)
		}
		require.NoError(t, p.Shutdown(t.Context()), "a failed write is no failure of the shutdown")
		require.Len(t, *failed, 2)
		first, second := (*failed)[0], (*failed)[1]
		require.Equal(t, numbered(10, 12), payloads(first.Failed))
		require.Equal(t, 2, first.Uncertain)
		require.Equal(t, ToPartition(1), first.Partitioning)
		require.ErrorIs(t, first, wire.CodeOperationUncertain)
		require.Equal(t, numbered(20, 22), payloads(second.Failed))
		require.Zero(t, second.Uncertain)
		require.Equal(t, ByKey([]byte("k")), second.Partitioning)
		require.Equal(t, "s", second.Stream.Name)
		require.Equal(t, "t", second.Topic.Name)
		require.Len(t, f.requests(), 4, "what comes behind is written")
		require.Equal(t, Stats{Sent: 8, Confirmed: 4, Failed: 4, Uncertain: 2, Requests: 2}, p.Stats())
	}, Background(onError))
}

func TestMessagesThatFailedKeepTheirMemory(t *testing.T) {
	onError, failed := collect()
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(fault(wire.CodeTopicFull))
		for _, text := range numbered(0, 100) {
			one(t, p, text)
			pass(time.Minute)
		}
		require.Equal(t, []string{"0"}, payloads((*failed)[0].Failed))
	}, Background(onError))
}

func TestTheFunctionForFailuresIsCalledOnceAtATime(t *testing.T) {
	calls, at := 0, 0
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		full := fault(wire.CodeTopicFull)
		f.next(full, full, full, full)
		for _, text := range numbered(0, 4) {
			one(t, p, text)
		}
		require.NoError(t, p.Shutdown(t.Context()))
		require.Equal(t, 4, calls)
		require.Equal(t, 4*time.Second, time.Since(epoch), "the shutdown waits for all of them")
	}, Background(Shards(4), BalancedShards(), MaxInFlight(0), OnError(func(*SendFailedError) {
		at++
		if at != 1 {
			panic("two at a time")
		}
		pass(time.Second)
		calls, at = calls+1, at-1
	})))
}

func TestAPanicOfTheFunctionForFailuresIsLogged(t *testing.T) {
	var log bytes.Buffer
	calls := 0
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(fault(wire.CodeTopicFull), fault(wire.CodeTopicFull))
		one(t, p, "a")
		pass(time.Second)
		one(t, p, "b")
		require.NoError(t, p.Shutdown(t.Context()))
		require.Equal(t, 2, calls)
		require.Contains(t, log.String(), "ouch")
		require.Zero(t, p.Stats().BufferedBytes)
	}, Log(slog.New(slog.NewTextHandler(&log, nil))), Background(OnError(func(*SendFailedError) {
		calls++
		panic("ouch")
	})))
}

func TestByDefaultFailuresAreLoggedWithoutWhatTheMessagesSay(t *testing.T) {
	var log bytes.Buffer
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(fault(wire.CodeTopicFull))
		one(t, p, "secret")
		require.NoError(t, p.Shutdown(t.Context()))
		require.Contains(t, log.String(), "messages=1")
		require.Contains(t, log.String(), wire.CodeTopicFull.String())
		require.NotContains(t, log.String(), "secret")
	}, Log(slog.New(slog.NewTextHandler(&log, nil))), Background())
}

func TestRoomIsKeptUntilTheFailureWasTold(t *testing.T) {
	told := make(chan struct{})
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(fault(wire.CodeTopicFull))
		one(t, p, "a")
		pass(time.Second)
		require.EqualValues(t, messageBytes+1, p.Stats().BufferedBytes)
		_, err := p.Send(t.Context(), texts("b"))
		require.ErrorIs(t, err, wire.CodeBackgroundSendBufferOverflow)
		told <- struct{}{}
		synctest.Wait()
		one(t, p, "b")
	}, Background(FailImmediately(), MaxBufferBytes(messageBytes+1), OnError(func(*SendFailedError) { <-told })), fakeOption(func(*fake) {
		told = make(chan struct{}) // of the bubble
	}))
}

func TestShutdownWritesWhatIsBuffered(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		want := numbered(0, 500)
		for _, text := range want {
			one(t, p, text)
		}
		done := make(chan error, 2)
		for range 2 {
			go func() { done <- p.Shutdown(context.Background()) }()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		var got []string
		for _, r := range f.requests() {
			got = append(got, r...)
		}
		require.Equal(t, want, got)
		require.EqualValues(t, 500, p.Stats().Confirmed)
	}, Background(Linger(time.Hour), BatchLength(400)), slow(time.Second))
}

func TestAShutdownThatHasNoMoreTimeGivesUpWhatIsLeft(t *testing.T) {
	onError, failed := collect()
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		for _, text := range numbered(0, 4) {
			one(t, p, text)
		}
		pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, p.Shutdown(ctx), context.DeadlineExceeded)
		require.NoError(t, p.Shutdown(t.Context()), "what is left has ended")
		require.Len(t, *failed, 2)
		require.ErrorIs(t, (*failed)[0], wire.CodeOperationUncertain)
		require.Equal(t, 2, (*failed)[0].Uncertain)
		require.ErrorIs(t, (*failed)[1], context.DeadlineExceeded)
		require.Zero(t, (*failed)[1].Uncertain, "it was not sent")
		require.Zero(t, p.Stats().Buffered)
	}, Background(onError, BatchLength(2)), slow(time.Hour))
}

func TestSendsThatWaitForRoomEndWithTheShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		for range 1 + 1 + queuedSends {
			one(t, p, "x")
		}
		waiting := make(chan error, 1)
		go func() {
			_, err := p.SendOne(context.Background(), texts("y")[0])
			waiting <- err
		}()
		synctest.Wait()
		require.NoError(t, p.Shutdown(t.Context()))
		require.ErrorIs(t, <-waiting, wire.CodeProducerClosed)
		require.EqualValues(t, 1+1+queuedSends, p.Stats().Confirmed)
		require.Zero(t, p.Stats().BufferedBytes)
	}, Background(BatchLength(1)), slow(time.Second))
}

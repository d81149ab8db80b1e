package client_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

var fromNext = wire.PollingStrategy{Kind: wire.FromNext}

func poll(ctx context.Context, c *client.Client, read client.Read, under wire.PartitionContext) error {
	_, err := c.Poll(ctx, single, part(0), fromNext, under, read)
	return err
}

func fetch(ctx context.Context, c *client.Client, read client.Read, partitions ...uint32) error {
	var targets []client.Target
	for _, p := range partitions {
		targets = append(targets, client.Target{Partition: p, Strategy: fromNext})
	}
	_, err := c.Fetch(ctx, single, wire.Named("s"), wire.Named("t"), targets, read)
	return err
}

func TestReadIsAskedAnew(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name    string
		command wire.Command
		do      func(ctx context.Context, c *client.Client) error
	}{
		{"read", wire.CmdGetStreams, func(ctx context.Context, c *client.Client) error {
			_, err := c.GetStreams(ctx)
			return err
		}},
		{"poll", wire.CmdPollMessagesDeferred, func(ctx context.Context, c *client.Client) error {
			return poll(ctx, c, client.Read{Wait: time.Second}, wire.PartitionContext{})
		}},
		{"fetch", wire.CmdFetchMessages, func(ctx context.Context, c *client.Client) error {
			return fetch(ctx, c, client.Read{}, 0, 1)
		}},
	} {
		for name, answer := range map[string]answer{
			"lost": lost, "ignored": ignored, "unsent": unsent, "57": refuse(wire.CodeTransientNotCommitted),
			"58": refuse(wire.CodeTransientNotAccepted), "88": refuse(wire.CodeLifecycleBusy),
			"90": refuse(wire.CodeDeferredPollCapacityExceeded),
		} {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				connected(t, func(t *testing.T, f *fake, c *client.Client) {
					f.next(kind.command, answer)
					require.NoError(t, kind.do(t.Context(), c))
					frames := f.of(kind.command)
					require.Len(t, frames, 2)
					require.Less(t, frames[0].header.Request, frames[1].header.Request)
				})
			})
		}
	}
}

func TestReadsCarryTheWatermark(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		_, err := c.GetStreams(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2, f.of(wire.CmdGetStreams)[0].header.Context.MetadataOp)
		require.NoError(t, fetch(t.Context(), c, client.Read{}, 0))
		require.Zero(t, f.of(wire.CmdFetchMessages)[0].header.Context)
		require.Zero(t, f.of(wire.CmdGetClusterMetadata)[0].header.Context)
	})
}

func TestPollInANewLife(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}))
		f.set(func() { f.life++ })
		require.NoError(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}), "the present one is meant")
		err := poll(t.Context(), c, client.Read{}, wire.PartitionContext{Incarnation: 7})
		require.ErrorIs(t, err, wire.CodeHistoryUnavailable, "another one is meant")
	})
}

func TestEndOfTheContextCancelsAWait(t *testing.T) {
	t.Parallel()
	message, err := wire.AppendBatch(nil, nil, texts(0, 1))
	require.NoError(t, err)
	for _, tc := range []struct {
		name    string
		records []byte
		count   uint32
		err     error
	}{
		{"nothing was read", nil, 0, context.Canceled},
		{"a message was read", message, 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			connected(t, func(t *testing.T, f *fake, c *client.Client) {
				cancelled := make(chan struct{})
				f.next(wire.CmdPollMessagesDeferred, func(_ *fakeConn, r *asked) (transport.Frame, error) {
					<-cancelled
					return f.reply(wire.NewReply(&r.header), &wire.PolledMessages{Count: tc.count, Records: tc.records})
				})
				f.next(wire.CmdCancelDeferred, func(*fakeConn, *asked) (transport.Frame, error) { close(cancelled); return nil, nil })
				ctx, cancel := context.WithCancel(t.Context())
				done := async(func() error {
					return poll(ctx, c, client.Read{Wait: time.Minute, AutoCommit: true}, wire.PartitionContext{})
				})
				synctest.Wait()
				cancel()
				if err := <-done; tc.err != nil {
					require.ErrorIs(t, err, tc.err)
				} else {
					require.NoError(t, err)
				}
				cancelFrame, pollFrame := f.of(wire.CmdCancelDeferred)[0], f.of(wire.CmdPollMessagesDeferred)[0]
				require.Equal(t, pollFrame.header.Request, cancelFrame.header.Request)
				require.Equal(t, pollFrame.header.Session, cancelFrame.header.Session)
				require.NoError(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}))
			})
		})
	}
}

func TestPollHasItsWaitAndTenSeconds(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdPollMessagesDeferred, deaf)
		start := time.Now()
		err := poll(t.Context(), c, client.Read{Wait: time.Minute}, wire.PartitionContext{})
		require.ErrorIs(t, err, client.ErrDeadline)
		require.Equal(t, 72*time.Second, time.Since(start), "with the time to cancel")
		require.True(t, client.Retryable(err))
	})
}

func TestReadThatStoresAndHasNoReplyBlocksTheProgress(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name    string
		command wire.Command
		do      func(ctx context.Context, c *client.Client) error
	}{
		{"poll", wire.CmdPollMessagesDeferred, func(ctx context.Context, c *client.Client) error {
			return poll(ctx, c, client.Read{AutoCommit: true}, wire.PartitionContext{})
		}},
		{"fetch", wire.CmdFetchMessages, func(ctx context.Context, c *client.Client) error {
			return fetch(ctx, c, client.Read{AutoCommit: true}, 1, 0)
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			connected(t, func(t *testing.T, f *fake, c *client.Client) {
				f.next(kind.command, lost)
				err := kind.do(t.Context(), c)
				require.ErrorIs(t, err, wire.CodeFetchProgressUncertain)
				require.False(t, client.Retryable(err))
				operation := operationOf(t, err)
				require.Len(t, f.of(kind.command), 1, "it is not asked anew")

				err = poll(t.Context(), c, client.Read{}, wire.PartitionContext{})
				require.ErrorIs(t, err, wire.CodeLaneBlocked)
				require.Equal(t, operation, operationOf(t, err))
				err = c.StoreOffset(t.Context(), single, part(0), 1, wire.PartitionContext{})
				require.ErrorIs(t, err, wire.CodeLaneBlocked)
				err = fetch(t.Context(), c, client.Read{}, 1, 0)
				require.ErrorIs(t, err, wire.CodePartitionLaneBlocked)
				require.Equal(t, operation, operationOf(t, err))

				require.NoError(t, send(t.Context(), c, 0), "sends go on")
				_, _, err = c.GetOffset(t.Context(), single, part(0))
				require.NoError(t, err, "the offset can be looked at")
				_, err = c.ResolveOperation(t.Context(), operation)
				require.ErrorIs(t, err, wire.CodeOperationNotRetained)
				f.forget()
				f.cut()
				require.NoError(t, c.MakeStream(t.Context(), "s"))
				require.ErrorIs(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}), wire.CodeLaneBlocked,
					"a new session changes nothing")
				require.NoError(t, c.AbandonOperation(operation))
				require.NoError(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}))
			})
		})
	}
}

func TestWaitsAndSendsDoNotWaitForEachOther(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdPollMessagesDeferred, deaf)
		waiting := async(func() error {
			return poll(t.Context(), c, client.Read{Wait: time.Minute}, wire.PartitionContext{})
		})
		synctest.Wait()
		start := time.Now()
		require.NoError(t, send(t.Context(), c, 0))
		require.Zero(t, time.Since(start))
		require.Error(t, <-waiting)
	})
}

func TestRouteIsAskedForOnceForAll(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdGetPartitionRoute, func(c *fakeConn, r *asked) (transport.Frame, error) {
			time.Sleep(time.Second)
			return usual(c, r)
		})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { require.NoError(t, send(t.Context(), c, 0)) })
		}
		all.Wait()
		require.Len(t, f.of(wire.CmdGetPartitionRoute), 1)
		require.NoError(t, send(t.Context(), c, 0))
		require.Len(t, f.of(wire.CmdGetPartitionRoute), 1)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.NoError(t, send(t.Context(), c, 0))
		require.Len(t, f.of(wire.CmdGetPartitionRoute), 2, "the metadata has changed")
	})
}

func TestRouteOutlivesTheCallerWhoAskedFirst(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdGetPartitionRoute, deaf)
		first := async(func() error { return send(within(t, time.Second), c, 0) })
		synctest.Wait()
		second := async(func() error { return send(t.Context(), c, 0) })
		require.ErrorIs(t, <-first, context.DeadlineExceeded)
		require.NoError(t, <-second)
	})
}

func TestRoutesAreBounded(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		for i := range uint32(client.MaxRoutes + 10) {
			require.NoError(t, send(t.Context(), c, i))
		}
		require.Equal(t, client.MaxRoutes, c.KnownRoutes())
		require.Len(t, f.of(wire.CmdGetPartitionRoute), client.MaxRoutes+10, strconv.Itoa(client.MaxRoutes))
	})
}

func TestReadsOfAPartitionFollowIt(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdPollMessagesDeferred, refuse(wire.CodeNotPrimary))
		done := async(func() error { return poll(t.Context(), c, client.Read{}, wire.PartitionContext{}) })
		time.Sleep(2 * time.Second)
		f.set(func() { f.view = 1 })
		require.NoError(t, <-done)
		f.next(wire.CmdGetStreams, refuse(wire.CodeNotPrimary))
		_, err := c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeNotPrimary)
	})
}

func TestReadInASessionThatIsGoneIsAskedAnewOnce(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.forget()
		_, err := c.GetStreams(t.Context())
		require.NoError(t, err)
		always := refuse(wire.CodeUnauthenticated)
		f.next(wire.CmdGetStreams, always, always)
		_, err = c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
	})
}

func TestReadThatIsRefusedToTheEnd(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		for range 100 {
			f.next(wire.CmdGetStreams, refuse(wire.CodeTransientNotCommitted))
		}
		_, err := c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeTransientNotAccepted)
		require.True(t, client.Retryable(err))
		require.ErrorIs(t, err, client.ErrDeadline)
	})
}

func TestReplyThatIsNoneIsAnError(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdGetStreams, func(*fakeConn, *asked) (transport.Frame, error) { return transport.Frame("nonsense"), nil })
		_, err := c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeInvalidCommand)
		f.next(wire.CmdPollMessagesDeferred, func(_ *fakeConn, r *asked) (transport.Frame, error) {
			return f.reply(wire.NewReply(&r.header), &wire.CreateStream{Name: "x"})
		})
		require.ErrorIs(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}), wire.CodeInvalidCommand)
	})
}

func TestReadsThatNoServerTakesAreRefused(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		for _, tc := range []struct {
			read client.Read
			code wire.Code
		}{
			{client.Read{Count: 1, MinCount: 2}, wire.CodeInvalidMessagesCount},
			{client.Read{Wait: 601 * time.Second}, wire.CodeInvalidCommand},
			{client.Read{Wait: -1}, wire.CodeInvalidCommand},
			{client.Read{MaxBytes: 1}, wire.CodeInvalidCommand},
		} {
			require.ErrorIs(t, poll(t.Context(), c, tc.read, wire.PartitionContext{}), tc.code)
			require.ErrorIs(t, fetch(t.Context(), c, tc.read, 0), tc.code)
		}
		require.ErrorIs(t, fetch(t.Context(), c, client.Read{}, 0, 0), wire.CodeInvalidCommand, "a partition twice")
		require.Empty(t, f.of(wire.CmdPollMessagesDeferred, wire.CmdFetchMessages))
		require.NoError(t, fetch(t.Context(), c, client.Read{}, 0), "no lane was kept")
	})
}

func TestWaitsOfAClientAreBounded(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		first := wire.PollingStrategy{Kind: wire.FromFirst}
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range 80 {
			f.next(wire.CmdPollMessagesDeferred, deaf)
			all.Go(func() {
				_, err := c.Poll(ctx, single, part(0), first, wire.PartitionContext{}, client.Read{Wait: time.Minute})
				require.ErrorIs(t, err, context.Canceled)
			})
		}
		synctest.Wait()
		require.Len(t, f.of(wire.CmdPollMessagesDeferred), 64)
		require.NoError(t, send(t.Context(), c, 0))
		cancel()
		all.Wait()
	})
}

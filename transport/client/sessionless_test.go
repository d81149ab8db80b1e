package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// withoutSession is bubble with a server that has no sessions, as over HTTP.
func withoutSession(t *testing.T, test func(t *testing.T, f *fake, c *client.Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.sessionless = true
		c := newClient(t, f)
		require.NoError(t, c.Connect(t.Context()))
		defer func() { require.NoError(t, c.Shutdown(context.Background())) }() // that of t has ended
		test(t, f, c)
	})
}

func TestWithoutSessionsTheLoginIsExplicit(t *testing.T) {
	withoutSession(t, func(t *testing.T, f *fake, c *client.Client) {
		require.Empty(t, f.order())
		require.Equal(t, client.Connected, c.State())
		require.NoError(t, c.Login(t.Context(), "iggy", "pass"))
		require.Equal(t, client.Authenticated, c.State())
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.NoError(t, send(t.Context(), c, 0))
		require.NoError(t, poll(t.Context(), c, client.Read{AutoCommit: true}, wire.PartitionContext{}))
		require.Equal(t, []wire.Command{
			wire.CmdLoginRegister, wire.CmdCreateStream, wire.CmdSendMessages, wire.CmdPollMessagesDeferred,
		}, f.order(), "no roster, no routes")
		time.Sleep(time.Hour)
		require.Empty(t, f.of(wire.CmdPing))
		require.NoError(t, c.Disconnect(t.Context()))
		require.Equal(t, client.Authenticated, c.State(), "it has no effect")
		require.NoError(t, c.Logout(t.Context()))
		require.Equal(t, client.Connected, c.State())
	})
}

func TestWithoutSessionsALostWriteIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			withoutSession(t, func(t *testing.T, f *fake, c *client.Client) {
				require.NoError(t, c.Login(t.Context(), "iggy", "pass"))
				f.next(kind.command, silent)
				err := kind.do(within(t, time.Second), c)
				require.ErrorIs(t, err, wire.CodeTransientNotCommitted)
				require.False(t, client.Retryable(err))
				require.Len(t, f.of(kind.command), 1)
				require.NoError(t, kind.do(t.Context(), c), "nothing is blocked")
				f.next(kind.command, refuse(wire.CodeTransientNotAccepted))
				err = kind.do(t.Context(), c)
				require.ErrorIs(t, err, wire.CodeTransientNotAccepted)
				require.True(t, client.Retryable(err))
			})
		})
	}
}

func TestWithoutSessionsALostReadThatStoresIsUncertain(t *testing.T) {
	t.Parallel()
	stores := client.Read{AutoCommit: true}
	for command, read := range map[wire.Command]func(ctx context.Context, c *client.Client) error{
		wire.CmdPollMessagesDeferred: func(ctx context.Context, c *client.Client) error {
			return poll(ctx, c, stores, wire.PartitionContext{})
		},
		wire.CmdFetchMessages: func(ctx context.Context, c *client.Client) error { return fetch(ctx, c, stores, 0) },
	} {
		t.Run(command.String(), func(t *testing.T) {
			withoutSession(t, func(t *testing.T, f *fake, c *client.Client) {
				require.NoError(t, c.Login(t.Context(), "iggy", "pass"))
				f.next(command, silent)
				err := read(within(t, time.Second), c)
				require.ErrorIs(t, err, wire.CodeFetchProgressUncertain)
				require.False(t, client.Retryable(err), "a repeat would skip what was stored as handled")
				var failed *client.Error
				require.ErrorAs(t, err, &failed)
				require.Zero(t, failed.Operation, "there is nothing to give up")
				require.NoError(t, read(t.Context(), c), "nothing is blocked")
			})
		})
	}
}

func TestWithoutSessionsThereAreNoGroups(t *testing.T) {
	withoutSession(t, func(t *testing.T, f *fake, c *client.Client) {
		group := wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
		require.ErrorIs(t, c.JoinConsumerGroup(t.Context(), group), wire.CodeFeatureUnavailable)
		require.ErrorIs(t, c.LeaveConsumerGroup(t.Context(), group), wire.CodeFeatureUnavailable)
		_, _, err := c.Primary(t.Context(), part(0))
		require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
		require.Empty(t, f.order())
	})
}

func TestServerChoosesThePartitionWithoutSessionsOnly(t *testing.T) {
	connected(t, func(t *testing.T, _ *fake, c *client.Client) {
		err := c.SendPartitioned(t.Context(), wire.Named("s"), wire.Named("t"), wire.Partitioning{Kind: wire.PartitionBalanced}, texts(0, 1))
		require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	})
}

package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

var (
	ofGroup = wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
	grouped = wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("g")}
	atOnce  = client.Reconnect(client.Unlimited, time.Millisecond, 0)
)

// wait waits for an event.
func wait(t *testing.T, s *client.Subscription, event client.Event) {
	t.Helper()
	for e := range s.Events() {
		if e == event {
			return
		}
	}
	t.Fatalf("no event %d", event)
}

func TestIGG03ClientComesBackWhenTheServerDoes(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket} {
		comesBack(t, protocol, false)
	}
}

func TestIGG04ClientLogsInAndJoinsAgainWhenTheServerHasStartedAnew(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket} {
		comesBack(t, protocol, true)
	}
}

// comesBack makes the server go away under a read that waits, a send, a heartbeat, and while nothing is done, and come back
// with or without what it knew of sessions.
func comesBack(t *testing.T, protocol dial.Protocol, forgets bool) {
	t.Helper()
	for _, tc := range []struct {
		name    string
		command wire.Command
		do      func(ctx context.Context, c *client.Client) error
	}{
		{"poll", wire.CmdPollMessagesDeferred, func(ctx context.Context, c *client.Client) error {
			_, err := c.Poll(ctx, grouped, part(0), fromNext, wire.PartitionContext{}, client.Read{Wait: time.Millisecond})
			return err
		}},
		{"send", wire.CmdSendMessages, func(ctx context.Context, c *client.Client) error { return send(ctx, c, 0) }},
		{"heartbeat", wire.CmdPing, func(ctx context.Context, c *client.Client) error {
			if err := c.Ping(ctx); !errors.Is(err, wire.CodeDisconnected) {
				return errors.New("the link was not lost")
			}
			return nil
		}},
		{"idle", 0, func(ctx context.Context, c *client.Client) error { return send(ctx, c, 0) }},
	} {
		t.Run(string(protocol)+"/"+tc.name, func(t *testing.T) {
			t.Parallel()
			server, c := serveOver(t, protocol, 1, atOnce)
			require.NoError(t, c.JoinConsumerGroup(t.Context(), ofGroup))
			events := c.Subscribe()
			if tc.command == 0 {
				restart(t, server, events, forgets)
				require.NoError(t, tc.do(t.Context(), c))
			} else {
				dropped := server.Faults().DropReply(tc.command, 1)
				done := async(func() error { return tc.do(t.Context(), c) })
				<-dropped
				restart(t, server, events, forgets)
				err := <-done
				if forgets && tc.name == "send" {
					uncertain(t, err)
				} else {
					require.NoError(t, err)
				}
			}
			require.NoError(t, c.MakeStream(t.Context(), "after"))
			assigned, err := c.SyncConsumerGroup(t.Context(), ofGroup)
			require.NoError(t, err)
			require.Equal(t, []uint32{0}, assigned.Partitions)
			require.LessOrEqual(t, len(everything(t, c, 0)), 1, "nothing is stored twice")
		})
	}
}

// restart makes the server go away until the client has noticed, and waits until the client is back.
func restart(t *testing.T, server *iggyserver.Server, events *client.Subscription, forgets bool) {
	t.Helper()
	server.Faults().Down()
	wait(t, events, client.EventDisconnected)
	if forgets {
		server.Faults().ForgetSessions()
	}
	server.Faults().Up()
	wait(t, events, client.EventSignedIn)
}

func TestOwnershipOfAPartitionIsFenced(t *testing.T) {
	t.Parallel()
	server, c := serve(t, 1)
	require.NoError(t, c.JoinConsumerGroup(t.Context(), ofGroup))
	_, _, err := c.Send(t.Context(), part(0), nil, texts(0, 4))
	require.NoError(t, err)
	read := func(under wire.PartitionContext) (wire.PolledMessages, error) {
		return c.Poll(t.Context(), grouped, part(0), fromNext, under, client.Read{Count: 2})
	}
	polled, err := read(wire.PartitionContext{})
	require.NoError(t, err)
	old := polled.Context
	require.NotZero(t, old.OwnerGeneration)
	_, err = read(old)
	require.NoError(t, err)
	require.NoError(t, c.StoreOffset(t.Context(), grouped, part(0), 0, old))

	require.NoError(t, server.Faults().Regenerate(ofGroup.Stream, ofGroup.Topic, ofGroup.Group))
	require.ErrorIs(t, c.StoreOffset(t.Context(), grouped, part(0), 1, old), wire.CodeConsumerGroupPartitionNotOwned)
	_, err = read(old)
	require.ErrorIs(t, err, wire.CodeConsumerGroupPartitionNotOwned)
	polled, err = read(wire.PartitionContext{})
	require.NoError(t, err)
	require.NotEqual(t, old.OwnerGeneration, polled.Context.OwnerGeneration)
	require.Equal(t, []string{"message 1", "message 2"}, payloads(t, polled.Records), "behind what was stored")

	require.NoError(t, server.Faults().Renew(ofGroup.Stream, ofGroup.Topic, 0))
	require.ErrorIs(t, c.StoreOffset(t.Context(), grouped, part(0), 1, polled.Context), wire.CodeHistoryUnavailable)
	_, err = read(polled.Context)
	require.ErrorIs(t, err, wire.CodeHistoryUnavailable)
	require.NoError(t, send(t.Context(), c, 0))

	fetched, err := c.Fetch(t.Context(), grouped, ofGroup.Stream, ofGroup.Topic,
		[]client.Target{{Strategy: fromNext, Under: polled.Context}}, client.Read{})
	require.NoError(t, err)
	require.Equal(t, wire.CodeHistoryUnavailable, fetched.Sections[0].Status)
	require.NoError(t, c.LeaveConsumerGroup(t.Context(), ofGroup))
	_, err = c.SyncConsumerGroup(t.Context(), ofGroup)
	require.ErrorIs(t, err, wire.CodeConsumerGroupMemberNotFound)
}

func TestReadThatWaitsIsCancelledAtTheServer(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := async(func() error {
		_, err := c.Poll(ctx, single, part(0), fromNext, wire.PartitionContext{}, client.Read{Wait: time.Minute, AutoCommit: true})
		return err
	})
	require.NoError(t, c.Ping(t.Context()))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, poll(t.Context(), c, client.Read{AutoCommit: true}, wire.PartitionContext{}), "the progress is known")
}

func TestMessageThatComesEndsAWait(t *testing.T) {
	t.Parallel()
	server, c := serve(t, 1)
	reader := connect(t, server)
	done := async(func() error {
		polled, err := reader.Poll(t.Context(), single, part(0), fromNext, wire.PartitionContext{}, client.Read{Wait: time.Minute})
		if err == nil && polled.Count != 1 {
			err = errors.New("no message")
		}
		return err
	})
	require.NoError(t, send(t.Context(), c, 0))
	require.NoError(t, <-done)
}

func TestWrongPasswordIsOneError(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	err := c.Login(t.Context(), "iggy", "wrong horse")
	require.ErrorIs(t, err, wire.CodeInvalidCredentials)
	require.NotContains(t, err.Error(), "horse")
	require.ErrorIs(t, send(t.Context(), c, 0), wire.CodeUnauthenticated)
	require.NoError(t, c.Login(t.Context(), "iggy", "iggy"))
	require.NoError(t, send(t.Context(), c, 0))
}

func TestRawRequests(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	body, err := wire.Append(nil, &wire.CreateStream{Name: "raw"})
	require.NoError(t, err)
	payload, err := c.SendBinaryRequest(t.Context(), wire.CmdCreateStream, body)
	require.NoError(t, err)
	made, err := wire.Decode[wire.StreamDetails](payload)
	require.NoError(t, err)
	require.Equal(t, "raw", made.Stream.Name)
	payload, err = c.SendBinaryRequest(t.Context(), wire.CmdGetStreams, nil)
	require.NoError(t, err)
	require.NotEmpty(t, payload)
	_, err = c.SendBinaryRequest(t.Context(), wire.CmdGetStats, nil)
	require.NoError(t, err)
}

func TestAFetchThatWasRefusedByAnotherNodeAsksForTheRouteAgain(t *testing.T) {
	t.Parallel()
	server, c := serve(t, 1)
	fetch := func() error {
		_, err := c.Fetch(t.Context(), single, wire.Named("s"), wire.Named("t"), []client.Target{
			{Strategy: wire.PollingStrategy{Kind: wire.FromOffset}},
		}, client.Read{})
		return err
	}
	require.NoError(t, fetch())
	server.Faults().Move(wire.CmdFetchMessages, 1)
	require.ErrorIs(t, fetch(), wire.CodeNotPrimary)
	asked := server.Faults().LeaveInDoubt(wire.CmdGetPartitionRoute, 1)
	require.NoError(t, fetch())
	<-asked
}

package iggyserver_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// withTopic starts a server with a topic and a client of it.
func withTopic(t *testing.T, protocol dial.Protocol, options ...iggyserver.Option) (*client, *iggyserver.Faults) {
	t.Helper()
	server := start(t, options...)
	c := login(t, server, protocol)
	c.createTopic()
	return c, server.Faults()
}

// again connects anew and goes on with the session.
func (c *client) again() {
	c.t.Helper()
	c.dial()
	reply, err := c.do(c.bindFrame())
	require.NoError(c.t, err)
	c.enter(reply)
}

// send sends a frame and returns the code of the reply.
func (c *client) send(frame transport.Frame) wire.Code {
	c.t.Helper()
	reply, err := c.do(frame)
	require.NoError(c.t, err)
	_, code, _ := wiretest.Open(c.t, reply)
	return code
}

func TestConnectionIsClosedBeforeOrAfterARequest(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		before := faults.CloseBefore(wire.CmdSendMessages, 2)
		c.put("a")
		lost := c.sendFrame("b")
		_, err := c.do(lost)
		require.Error(t, err)
		<-before
		<-c.conn.Done()
		c.again()
		require.Equal(t, []string{"a"}, c.all())
		after := faults.CloseAfter(wire.CmdSendMessages, 1)
		_, err = c.do(lost)
		require.Error(t, err)
		<-after
		<-c.conn.Done()
		c.again()
		require.Equal(t, []string{"a", "b"}, c.all())
		require.Zero(t, c.send(lost), "the reply is kept")
		require.Equal(t, []string{"a", "b"}, c.all())
	})
}

func TestReplyIsDropped(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		dropped := faults.DropReply(wire.CmdSendMessages, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		send := c.sendFrame("a")
		done := make(chan error, 1)
		go func() {
			_, err := c.conn.Do(ctx, send)
			done <- err
		}()
		<-dropped
		require.Equal(t, []string{"a"}, c.all())
		cancel()
		require.Error(t, <-done)
		require.NoError(t, c.conn.Err())
	})
}

func TestReplyIsHeldUntilReleased(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		held, release := faults.HoldReply(wire.CmdSendMessages, 1)
		sent := c.begin(c.sendFrame("a"))
		<-held
		require.Equal(t, []string{"a"}, c.all())
		require.Empty(t, sent)
		release()
		release()
		require.NoError(t, (<-sent).err)
	})
}

func TestRequestIsRefusedOnce(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		send := c.sendFrame("a")
		faults.Refuse(wire.CmdSendMessages, 1, wire.CodeTransientNotAccepted)
		faults.LeaveInDoubt(wire.CmdSendMessages, 2)
		require.Equal(t, wire.CodeTransientNotAccepted, c.send(send))
		require.Empty(t, c.all())
		require.Equal(t, wire.CodeTransientNotCommitted, c.send(send))
		require.Equal(t, []string{"a"}, c.all())
		require.Zero(t, c.send(send))
		require.Equal(t, []string{"a"}, c.all())

		faults.Refuse(wire.CmdBindSession, 1, wire.CodeUnauthenticated)
		require.NoError(t, c.conn.Close())
		c.dial()
		require.Equal(t, wire.CodeUnauthenticated, c.send(c.bindFrame()))
		require.Zero(t, c.send(c.bindFrame()))
		other := connect(t, c.server, protocol)
		faults.Refuse(wire.CmdLoginRegister, 1, wire.CodeTransientNotAccepted)
		require.Equal(t, wire.CodeTransientNotAccepted, other.send(other.loginFrame("iggy")))
		require.Zero(t, other.send(other.loginFrame("iggy")))
	})
}

func TestPartitionMovesToAHigherView(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		before := c.route()
		faults.Move(wire.CmdSendMessages, 1)
		send := c.sendFrame("a")
		require.Equal(t, wire.CodeNotPrimary, c.send(send))
		before.View++
		require.Equal(t, before, c.route())
		require.Zero(t, c.send(send))
		require.Equal(t, []string{"a"}, c.all())
	})
}

func TestBodyIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		faults.EmptyBody(wire.CmdSendMessages, 1)
		send := c.sendFrame("a")
		reply, err := c.do(send)
		require.NoError(t, err)
		require.Empty(t, reply.Body())
		reply, err = c.do(send)
		require.NoError(t, err)
		require.NotEmpty(t, reply.Body(), "the reply that is kept is whole")
	})
}

func TestClientIsEvictedForAnyReason(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		for why := wire.EvictNoSession; why <= wire.EvictMalformedLogin; why++ {
			faults.Evict(wire.CmdGetMe, 1, why)
			_, err := c.do(c.frame(c.header(wire.CmdGetMe), nil))
			require.Error(t, err)
			require.Equal(t, why, c.evicted())
			c.again()
		}
	})
}

func TestAllClientsAreEvictedOrDisconnected(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		waiting := c.begin(c.waitFrame(0))
		c.all() // the wait is under way
		faults.EvictAll(wire.EvictStaleClient)
		require.Error(t, (<-waiting).err)
		if protocol == dial.QUIC {
			<-c.conn.Done()
		} else {
			require.Equal(t, wire.EvictStaleClient, c.evicted())
		}
		c.again()
		faults.Disconnect()
		<-c.conn.Done()
		require.ErrorIs(t, c.conn.Err(), transport.ErrLost)
		c.again()
	})
}

func TestServerIsDownForAWhile(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		c.put("a")
		faults.Down()
		<-c.conn.Done()
		for range 3 {
			require.Error(t, connect(t, c.server, protocol).ping())
		}
		faults.Up()
		c.again()
		require.Equal(t, []string{"a"}, c.all())
	})
}

func TestSessionsAreForgotten(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		faults.ForgetSessions()
		code, _ := c.try(wire.PartitionContext{}, wire.CmdGetMe, nil)
		require.Equal(t, wire.CodeUnauthenticated, code)
		require.Equal(t, wire.CodeUnauthenticated, c.send(c.bindFrame()))
		require.Zero(t, c.send(c.loginFrame("iggy")))
	})
}

func TestPartitionsAndGroupsBeginANewLife(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c, faults := withTopic(t, protocol)
		send := c.sendFrame("a")
		require.NoError(t, faults.Renew(orders, events, 0))
		require.Equal(t, wire.CodeHistoryUnavailable, c.send(send))
		c.put("a", "b", "c")
		require.NoError(t, faults.Truncate(orders, events, 0, 1))
		require.Equal(t, []string{"a"}, c.all())

		group := wire.Named("readers")
		c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "readers"})
		c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: wire.GroupOf{Stream: orders, Topic: events, Group: group}})
		poll := polling(0)
		poll.Consumer = wire.Consumer{Kind: wire.ConsumerGroup, ID: group}
		code, payload := c.try(c.at(), wire.CmdPollMessages, poll)
		require.Zero(t, code)
		at := wiretest.Decode[wire.PolledMessages](t, payload).Context
		require.NoError(t, faults.Regenerate(orders, events, group))
		code, _ = c.try(at, wire.CmdPollMessages, poll)
		require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)

		require.ErrorContains(t, faults.Renew(orders, events, 7), "not there")
		require.ErrorContains(t, faults.Truncate(orders, events, 7, 0), "not there")
		require.ErrorContains(t, faults.Regenerate(orders, events, wire.Named("nobody")), "not there")
	})
}

func TestConnectionIsCutAtAByte(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket} {
		for _, bytes := range []int{1, wire.HeaderSize - 1, wire.HeaderSize, wire.HeaderSize + 1} {
			c, faults := withTopic(t, protocol)
			require.NoError(t, c.conn.Close())
			faults.Cut(bytes)
			c.dial()
			_, err := c.do(c.bindFrame())
			require.ErrorIs(t, err, transport.ErrLost)
			c.again()
			c.put("a")
		}
	}
}

func TestConnectionIsCutWithinARequest(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket} {
		c, faults := withTopic(t, protocol)
		send := c.sendFrame(string(make([]byte, 1000)))
		require.NoError(t, c.conn.Close())
		bind := c.bindFrame()
		faults.CutRequests(len(bind) + len(send) - 1)
		c.dial()
		_, err := c.do(bind)
		require.NoError(t, err)
		_, err = c.do(send)
		require.ErrorIs(t, err, transport.ErrLost)
		require.False(t, transport.Unsent(err))
		c.again()
		require.Empty(t, c.all())
	}
}

func TestRepliesAreSplitAndMerged(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket} {
		c, faults := withTopic(t, protocol)
		require.NoError(t, c.conn.Close())
		faults.SplitMessages(100)
		c.again()
		c.put("a")
		require.Equal(t, []string{"a"}, c.all())
		require.NoError(t, c.conn.Close())

		faults.MergeMessages(3)
		c.dial()
		first := c.begin(c.bindFrame())
		second := c.begin(c.frame(wire.RequestHeader{Client: c.id, Operation: wire.OpNonReplicated, Command: wire.CmdPing, Request: 998}, nil))
		require.Empty(t, first)
		third := c.begin(c.frame(wire.RequestHeader{Client: c.id, Operation: wire.OpNonReplicated, Command: wire.CmdPing, Request: 999}, nil))
		for _, r := range []<-chan result{first, second, third} {
			require.NoError(t, (<-r).err)
		}
	}
}

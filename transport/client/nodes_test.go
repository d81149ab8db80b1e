package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// cluster is bubble with a client of a cluster of three nodes, of which it dials the second.
func cluster(t *testing.T, test func(t *testing.T, f *fake, c *client.Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.roster = []wire.ClusterNode{
			{ReplicaID: 1, Host: "leader", TCP: 1, Role: wire.NodeLeader},
			{ReplicaID: 2, Host: "second", TCP: 2, Role: wire.NodeFollower},
			{ReplicaID: 3, Host: "third", TCP: 3, Role: wire.NodeFollower},
			{ReplicaID: 4, Host: "without", QUIC: 3, Role: wire.NodeFollower},
		}
		f.primary = 3
		dial := func(addr string) (transport.Dialer, error) { return &node{f, "tcp://" + addr}, nil }
		c, err := client.New(&node{f, "tcp://second:2"}, client.Password("iggy", password), client.Nodes(dial))
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()))
		defer func() { require.NoError(t, c.Shutdown(context.Background())) }() // that of t has ended
		synctest.Wait()
		test(t, f, c)
	})
}

func TestRequestsGoToTheNodeThatTakesThem(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.NoError(t, send(t.Context(), c, 0))
		require.NoError(t, fetch(t.Context(), c, client.Read{}, 0))
		require.Equal(t, "tcp://leader:1", f.of(wire.CmdCreateStream)[0].addr)
		require.Equal(t, "tcp://third:3", f.of(wire.CmdSendMessages)[0].addr)
		require.Equal(t, "tcp://third:3", f.of(wire.CmdFetchMessages)[0].addr)
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
		require.Len(t, f.of(wire.CmdBindSession), 2)
		f.set(func() { require.Equal(t, 3, f.dials) })
		replica, partitions, err := c.Primary(t.Context(), part(0))
		require.NoError(t, err)
		require.EqualValues(t, 3, replica)
		require.EqualValues(t, 2, partitions)
	})
}

func TestPartitionThatMovedIsSentToItsNewPrimary(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, send(t.Context(), c, 0))
		f.next(wire.CmdSendMessages, refuse(wire.CodeNotPrimary))
		f.set(func() { f.primary, f.view = 1, 1 })
		require.NoError(t, send(t.Context(), c, 0))
		frames := f.of(wire.CmdSendMessages)
		require.Equal(t, "tcp://leader:1", frames[2].addr)
		require.Equal(t, frames[1].frame, frames[2].frame)
	})
}

func TestLostLinkToANodeIsMadeAnew(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, lost)
		require.NoError(t, send(t.Context(), c, 0))
		require.Equal(t, 1, f.happened())
		time.Sleep(time.Minute)
		require.NoError(t, send(t.Context(), c, 0))
		frames := f.of(wire.CmdSendMessages)
		require.Equal(t, "tcp://third:3", frames[len(frames)-1].addr)
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
	})
}

func TestNewLeaderIsFound(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, refuse(wire.CodeTransientNotAccepted))
		f.set(func() { f.roster[0].Role, f.roster[2].Role = wire.NodeFollower, wire.NodeLeader })
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		frames := f.of(wire.CmdCreateStream)
		require.Equal(t, "tcp://leader:1", frames[0].addr)
		require.Equal(t, "tcp://third:3", frames[1].addr)
	})
}

func TestSweepTriesTheOtherNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, away := newFake(), newFake()
		f.roster = []wire.ClusterNode{
			{ReplicaID: 1, Host: "first", TCP: 1, Role: wire.NodeFollower}, {ReplicaID: 2, Host: "second", TCP: 2},
		}
		first := &switched{Dialer: &node{f, "tcp://first:1"}}
		c, err := client.New(first, client.Password("iggy", password),
			client.Nodes(func(addr string) (transport.Dialer, error) { return &node{f, "tcp://" + addr}, nil }))
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()))
		synctest.Wait()
		away.down = true
		first.Dialer = &node{away, "tcp://first:1"}
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Equal(t, "tcp://second:2", f.of(wire.CmdCreateStream)[0].addr)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// switched is a dialer that is exchanged.
type switched struct{ transport.Dialer }

func TestRosterThatNamesANodeTwiceIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.roster = append(f.roster, f.roster[0])
		err := c.Connect(within(t, time.Second))
		require.Error(t, err)
		require.Equal(t, client.Disconnected, c.State())
		f.set(func() { f.roster = f.roster[:1] })
		require.NoError(t, c.Connect(t.Context()))
	})
}

func TestNotFoundIsAskedOfTheLeaderBeforeItIsBelieved(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdGetStreams, refuse(wire.CodeStreamIDNotFound))
		_, err := c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeStreamIDNotFound)
		require.Equal(t, "tcp://leader:1", f.of(wire.CmdGetStreams)[0].addr)
		f.next(wire.CmdPollMessagesDeferred, refuse(wire.CodeTopicIDNotFound))
		require.NoError(t, poll(t.Context(), c, client.Read{}, wire.PartitionContext{}), "the third node is a follower")
	})
}

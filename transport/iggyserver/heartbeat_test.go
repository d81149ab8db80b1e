package iggyserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// A connection of which the other end is gone without a word looks like one of a client that is silent.
func TestSilentMemberOfAGroupLosesItsConnectionAndItsPartitions(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		clock := runneltest.NewClock(time.Time{})
		server := start(t, iggyserver.WithClock(clock), iggyserver.Heartbeat(30*time.Second))
		readers := wire.GroupOf{Stream: orders, Topic: events, Group: wire.Named("readers")}
		silent, other := login(t, server, protocol), login(t, server, protocol)
		silent.createTopic()
		silent.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "readers"})
		for _, c := range []*client{silent, other} {
			c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: readers})
		}
		require.Empty(t, other.assigned(readers))

		clock.AwaitTimer(t, time.Second)
		clock.Advance(30 * time.Second)
		require.Empty(t, other.assigned(readers))
		clock.AwaitTimer(t, time.Second)
		clock.Advance(6 * time.Second)
		<-silent.conn.Done()
		if protocol != dial.QUIC { // whose server cannot say anything that it is not asked for
			require.Equal(t, wire.EvictStaleClient, silent.evicted())
		}
		require.Equal(t, []uint32{0}, other.assigned(readers))
		silent.again()
	})
}

// assigned returns the partitions of the client.
func (c *client) assigned(group wire.GroupOf) []uint32 {
	c.t.Helper()
	return wiretest.Decode[wire.Assignment](c.t, c.ok(wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: group})).Partitions
}

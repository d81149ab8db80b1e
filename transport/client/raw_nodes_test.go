package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestARawRequestReachesEveryNodeOfACluster(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		const command = wire.CmdGetStreams
		for replica, addr := range map[uint8]string{1: "tcp://leader:1", 2: "tcp://second:2", 3: "tcp://third:3"} {
			before := len(f.of(command))
			_, err := c.SendBinaryRequestToReplica(t.Context(), replica, command, nil)
			require.NoError(t, err, addr)
			frames := f.of(command)
			require.Len(t, frames, before+1)
			require.Equal(t, addr, frames[before].addr)
		}
		for _, replica := range []uint8{0, 4} { // there is none, and it does not speak TCP
			_, err := c.SendBinaryRequestToReplica(t.Context(), replica, command, nil)
			require.ErrorIs(t, err, client.ErrNoReplica)
		}
	})
}

func TestARawRequestToANodeIsSentOnce(t *testing.T) {
	cluster(t, func(t *testing.T, f *fake, c *client.Client) {
		const command = wire.CmdGetStreams
		f.next(command, lost)
		_, err := c.SendBinaryRequestToReplica(t.Context(), 3, command, nil)
		require.ErrorIs(t, err, wire.CodeDisconnected)
		require.Len(t, f.of(command), 1)
		_, err = c.SendBinaryRequestToReplica(t.Context(), 3, command, nil)
		require.ErrorIs(t, err, client.ErrNoReplica, "there is no link right now")
	})
}

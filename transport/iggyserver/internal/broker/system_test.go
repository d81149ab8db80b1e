package broker_test

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestTheRosterHasOneLeader(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	nodes := wiretest.Decode[wire.ClusterMetadata](t, c.ok(wire.CmdGetClusterMetadata, nil)).Nodes
	require.Equal(t, []wire.ClusterNode{{
		Name: "runnel", Host: "127.0.0.1", TCP: 8090, QUIC: 8080, HTTP: 3000, WebSocket: 8092,
	}}, nodes)
	c.broker.SetNode(wire.ClusterNode{Name: "n", Host: "h", TCP: 1})
	nodes = wiretest.Decode[wire.ClusterMetadata](t, c.ok(wire.CmdGetClusterMetadata, nil)).Nodes
	require.Equal(t, []wire.ClusterNode{{Name: "n", Host: "h", TCP: 1}}, nodes)
}

func TestClientsAreListedWhileTheyAreConnected(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	c := root(t, b)
	other := b.Connect(broker.Peer{Transport: wire.TransportQUIC, Address: "10.0.0.1:9"})
	want := []wire.Client{
		{ID: 1, Transport: wire.TransportTCP, Address: "127.0.0.1:5000"}, {ID: 2, Transport: wire.TransportQUIC, Address: "10.0.0.1:9"},
	}
	require.Equal(t, want, wiretest.Decode[wire.Clients](t, c.ok(wire.CmdGetClients, nil)).Clients)
	require.Equal(t, want[0], wiretest.Decode[wire.ClientDetails](t, c.ok(wire.CmdGetMe, nil)).Client)
	require.Equal(t, want[1], wiretest.Decode[wire.ClientDetails](t, c.ok(wire.CmdGetClient, &wire.GetClient{ClientID: 2})).Client)
	other.Close()
	require.Empty(t, c.ok(wire.CmdGetClient, &wire.GetClient{ClientID: 2}))
	require.Equal(t, want[:1], wiretest.Decode[wire.Clients](t, c.ok(wire.CmdGetClients, nil)).Clients)
}

func TestStatsCountWhatThereIs(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 3)
	c.put(0, "a", "b")
	s := wiretest.Decode[wire.Stats](t, c.ok(wire.CmdGetStats, nil))
	require.Equal(t, []uint32{1, 1, 3, 3, 1, 1}, []uint32{s.Streams, s.Topics, s.Partitions, s.Segments, s.Groups, s.Clients})
	require.Equal(t, uint64(2), s.Messages)
	require.Equal(t, uint64(len(batch(t, nil, "a", "b"))), s.MessagesBytes)
	require.Equal(t, "0.10.0", s.ServerVersion)
}

func TestTheSnapshotIsAnArchive(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	archive := c.ok(wire.CmdGetSnapshot, &wire.GetSnapshot{Types: []uint8{100}})
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	require.Len(t, z.File, 1)
	f, err := z.Open("server.txt")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

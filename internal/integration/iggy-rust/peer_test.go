package iggyrust_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// peer is the client of this library, as far as these tests need one. Its streams have the topic that the Rust program uses.
type peer interface {
	// createTopic makes the stream and the topic.
	createTopic(stream string, partitions uint32)
	// send stores messages in a partition, and returns the offset of the first one.
	send(stream string, partition uint32, messages []wire.Message) uint64
	// poll returns all messages of a partition.
	poll(stream string, partition uint32) []wire.Message
}

// topic is the name of the topic that the program uses.
const topic = "events"

// connect returns a peer over a protocol.
func connect(t *testing.T, server *iggyserver.Server, protocol dial.Protocol) peer {
	t.Helper()
	config, dialer := dialerFor(t, server, protocol)
	name, password := config.Credentials.Username, config.Credentials.Password.Reveal()
	c, err := client.New(dialer, client.Password(name, password))
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	if protocol == dial.HTTP {
		require.NoError(t, c.Login(t.Context(), name, password))
	}
	return &typed{frames: talk(t, server), client: c}
}

func dialerFor(t *testing.T, server *iggyserver.Server, protocol dial.Protocol) (dial.Config, transport.Dialer) {
	t.Helper()
	config, err := dial.Parse(server.ConnectionString(protocol))
	require.NoError(t, err)
	dialer, err := config.Dialer()
	require.NoError(t, err)
	return config, dialer
}

// typed is a peer that sends and polls with the client, and makes topics in frames.
type typed struct {
	*frames
	client *client.Client
}

func partitionOf(stream string, id uint32) client.Partition {
	return client.Partition{Stream: wire.Named(stream), Topic: wire.Named(topic), ID: id}
}

func (p *typed) send(stream string, partition uint32, messages []wire.Message) uint64 {
	p.t.Helper()
	at, found, err := p.client.Send(p.t.Context(), partitionOf(stream, partition), nil, messages)
	require.NoError(p.t, err)
	require.True(p.t, found)
	require.Equal(p.t, partition, at.PartitionID)
	return at.BaseOffset
}

func (p *typed) poll(stream string, partition uint32) []wire.Message {
	p.t.Helper()
	who := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("peer")}
	var all []wire.Message
	for next := uint64(0); ; next = all[len(all)-1].Offset + 1 {
		polled, err := p.client.Poll(p.t.Context(), who, partitionOf(stream, partition),
			wire.PollingStrategy{Kind: wire.FromOffset, Value: next}, wire.PartitionContext{}, client.Read{Count: 7})
		require.NoError(p.t, err)
		if polled.Count == 0 {
			return all
		}
		r := wire.NewRecords(polled.Records)
		for r.Next() {
			require.NoError(p.t, r.Verify())
			all = append(all, r.Message())
		}
		require.NoError(p.t, r.Err())
	}
}

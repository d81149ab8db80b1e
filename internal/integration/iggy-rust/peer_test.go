package iggyrust_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// topic is the name of the topic that the Rust program uses.
const topic = "events"

// peer is the client of this library, in a test. Its streams have that topic.
type peer struct {
	t      *testing.T
	client *client.Client
}

// connect returns a peer over a protocol.
func connect(t *testing.T, server *iggyserver.Server, protocol dial.Protocol, options ...client.Option) peer {
	t.Helper()
	c, err := dial.Client(server.ConnectionString(protocol), options...)
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	if protocol == dial.HTTP {
		require.NoError(t, c.Login(t.Context(), iggyserver.DefaultUsername, iggyserver.DefaultPassword))
	}
	return peer{t, c}
}

// createTopic makes the stream and the topic.
func (p peer) createTopic(stream string, partitions uint32) {
	p.t.Helper()
	_, err := p.client.CreateStream(p.t.Context(), stream, client.StreamOptions{})
	require.NoError(p.t, err)
	_, err = p.client.CreateTopic(p.t.Context(), wire.Named(stream), topic, partitions, client.TopicOptions{})
	require.NoError(p.t, err)
}

func partitionOf(stream string, id uint32) client.Partition {
	return client.Partition{Stream: wire.Named(stream), Topic: wire.Named(topic), ID: id}
}

// send stores messages in a partition, and returns the offset of the first one.
func (p peer) send(stream string, partition uint32, messages []wire.Message) uint64 {
	p.t.Helper()
	at, found, err := p.client.Send(p.t.Context(), partitionOf(stream, partition), nil, messages)
	require.NoError(p.t, err)
	require.True(p.t, found)
	require.Equal(p.t, partition, at.PartitionID)
	return at.BaseOffset
}

// poll returns all messages of a partition.
func (p peer) poll(stream string, partition uint32) []wire.Message {
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
		for r := wire.NewRecords(polled.Records); r.Next(); {
			require.NoError(p.t, r.Verify())
		}
		for m, err := range p.client.Messages(polled.Records) {
			require.NoError(p.t, err)
			all = append(all, m)
		}
	}
}

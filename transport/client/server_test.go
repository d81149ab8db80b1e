package client_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// serve starts a server with a topic s/t of a few partitions and a group g, and returns it with a client that is connected.
func serve(t *testing.T, partitions uint32, options ...client.Option) (*iggyserver.Server, *client.Client) {
	t.Helper()
	return serveOver(t, dial.TCP, partitions, options...)
}

// serveOver is serve with a client over another protocol.
func serveOver(
	t *testing.T, protocol dial.Protocol, partitions uint32, options ...client.Option,
) (*iggyserver.Server, *client.Client) {
	t.Helper()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	c := connectOver(t, protocol, server, options...)
	require.NoError(t, c.Setup(t.Context(), partitions))
	return server, c
}

// connect returns a client of a server.
func connect(t *testing.T, server *iggyserver.Server, options ...client.Option) *client.Client {
	t.Helper()
	return connectOver(t, dial.TCP, server, options...)
}

func connectOver(
	t testing.TB, protocol dial.Protocol, server *iggyserver.Server, options ...client.Option,
) *client.Client {
	t.Helper()
	c, err := dial.Client(server.ConnectionString(protocol), options...)
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Shutdown(t.Context())) })
	return c
}

// part is a partition of the topic of the tests.
func part(id uint32) client.Partition {
	return client.Partition{Stream: wire.Named("s"), Topic: wire.Named("t"), ID: id}
}

var single = wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}

// texts are messages with numbers.
func texts(from, to int) []wire.Message {
	var all []wire.Message
	for i := from; i < to; i++ {
		all = append(all, wire.Message{Payload: fmt.Appendf(nil, "message %d", i)})
	}
	return all
}

// payloads are those of the messages of a read.
func payloads(t *testing.T, records []byte) []string {
	t.Helper()
	var all []string
	r := wire.NewRecords(records)
	for r.Next() {
		all = append(all, string(r.Message().Payload))
	}
	require.NoError(t, r.Err())
	return all
}

func TestMessagesThatAreSentAreRead(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 2)
	at, found, err := c.Send(t.Context(), part(1), nil, texts(0, 3))
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, 0, at.BaseOffset)
	at, _, err = c.Send(t.Context(), part(1), nil, texts(3, 5))
	require.NoError(t, err)
	require.EqualValues(t, 3, at.BaseOffset)

	first := wire.PollingStrategy{Kind: wire.FromFirst}
	polled, err := c.Poll(t.Context(), single, part(1), first, wire.PartitionContext{}, client.Read{})
	require.NoError(t, err)
	require.Equal(t, []string{"message 0", "message 1", "message 2", "message 3", "message 4"}, payloads(t, polled.Records))

	require.NoError(t, c.StoreOffset(t.Context(), single, part(1), 2, polled.Context))
	offset, found, err := c.GetOffset(t.Context(), single, part(1))
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, 2, offset.Stored)

	fetched, err := c.Fetch(t.Context(), single, wire.Named("s"), wire.Named("t"), []client.Target{
		{Partition: 0, Strategy: wire.PollingStrategy{Kind: wire.FromOffset}},
		{Partition: 1, Strategy: wire.PollingStrategy{Kind: wire.FromNext}},
	}, client.Read{})
	require.NoError(t, err)
	for _, s := range fetched.Sections {
		if s.Partition == 1 {
			require.Equal(t, []string{"message 3", "message 4"}, payloads(t, s.Records))
		}
	}
	require.NoError(t, c.DeleteOffset(t.Context(), single, part(1), wire.PartitionContext{}))
	_, found, err = c.GetOffset(t.Context(), single, part(1))
	require.NoError(t, err)
	require.False(t, found)
}

package iggysink_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// protocols are all that a client speaks.
var protocols = map[string]dial.Protocol{"tcp": dial.TCP, "ws": dial.WebSocket, "quic": dial.QUIC, "http": dial.HTTP}

func start(t testing.TB, options ...iggyserver.Option) *iggyserver.Server {
	t.Helper()
	server, err := iggyserver.Start(t.Context(), append(options, iggyserver.PasswordRounds(1))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// clientOf returns a client of a server, which is not connected.
func clientOf(t testing.TB, server *iggyserver.Server, protocol dial.Protocol, options ...client.Option) *client.Client {
	t.Helper()
	c, err := dial.Client(server.ConnectionString(protocol), options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	return c
}

// producerOf returns a producer of the topic s/t that is initialized.
func producerOf(t testing.TB, c *client.Client, options ...iggysink.Option) *iggysink.Producer {
	t.Helper()
	p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"), options...)
	require.NoError(t, p.Init(t.Context()))
	t.Cleanup(func() { require.NoError(t, p.Shutdown(context.Background())) })
	return p
}

// read returns the messages of a partition of the topic t of a stream.
func read(t testing.TB, c *client.Client, stream wire.Identifier, partition uint32) []wire.Message {
	t.Helper()
	of := client.Partition{Stream: stream, Topic: wire.Named("t"), ID: partition}
	who := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}
	var all []wire.Message
	for {
		polled, err := c.Poll(t.Context(), who, of,
			wire.PollingStrategy{Kind: wire.FromOffset, Value: uint64(len(all))}, wire.PartitionContext{}, client.Read{Count: 10_000})
		if client.NotFound(err) {
			return nil
		}
		require.NoError(t, err)
		before := len(all)
		for m, err := range c.Messages(polled.Records) {
			require.NoError(t, err)
			m.Payload, m.UserHeaders = append([]byte(nil), m.Payload...), append([]byte(nil), m.UserHeaders...)
			all = append(all, m)
		}
		if len(all) == before {
			return all
		}
	}
}

// texts are what the messages of a partition of s/t say.
func texts(t testing.TB, c *client.Client, partition uint32) []string {
	t.Helper()
	return textsIn(t, c, wire.Named("s"), partition)
}

func textsIn(t testing.TB, c *client.Client, stream wire.Identifier, partition uint32) []string {
	t.Helper()
	var all []string
	for _, m := range read(t, c, stream, partition) {
		all = append(all, string(m.Payload))
	}
	return all
}

func messages(all ...string) []wire.Message {
	var list []wire.Message
	for _, text := range all {
		list = append(list, wire.Message{Payload: []byte(text)})
	}
	return list
}

func slogNowhere() *slog.Logger { return slog.New(slog.DiscardHandler) }

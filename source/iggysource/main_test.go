package iggysource

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	stream = wire.Named("s")
	topic  = wire.Named("t")
)

// protocols are all that a consumer can be used with.
var protocols = []dial.Protocol{dial.TCP, dial.WebSocket, dial.QUIC, dial.HTTP}

// overAll runs a test over each of them.
func overAll(t *testing.T, test func(t *testing.T, protocol dial.Protocol)) {
	t.Helper()
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// world is a server with a topic s/t.
type world struct {
	t      testing.TB
	server *iggyserver.Server
	sender *client.Client
}

// serve starts a server with a topic of a few partitions.
func serve(t testing.TB, partitions uint32, opts ...iggyserver.Option) *world {
	t.Helper()
	server, err := iggyserver.Start(context.Background(), append(opts, iggyserver.PasswordRounds(1))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	w := &world{t: t, server: server}
	w.sender = w.client(dial.TCP)
	_, err = w.sender.CreateStream(t.Context(), "s", client.StreamOptions{})
	require.NoError(t, err)
	_, err = w.sender.CreateTopic(t.Context(), stream, "t", partitions, client.TopicOptions{})
	require.NoError(t, err)
	return w
}

// client returns a client that is logged in.
func (w *world) client(protocol dial.Protocol, opts ...client.Option) *client.Client {
	w.t.Helper()
	c, err := dial.Client(w.server.ConnectionString(protocol), opts...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
	require.NoError(w.t, c.SignIn(w.t.Context()))
	return c
}

// send puts messages with numbers into a partition.
func (w *world) send(partition uint32, from, to int) {
	w.t.Helper()
	for begin := from; begin < to; begin += 500 {
		var messages []wire.Message
		for i := begin; i < min(to, begin+500); i++ {
			messages = append(messages, wire.Message{Payload: text(partition, i)})
		}
		_, _, err := w.sender.Send(w.t.Context(), part(partition), nil, messages)
		require.NoError(w.t, err)
	}
}

func text(partition uint32, n int) []byte { return fmt.Appendf(nil, "%d:%d", partition, n) }

func part(id uint32) client.Partition { return client.Partition{Stream: stream, Topic: topic, ID: id} }

// consumer returns a consumer of s/t with a client of its own, that is ready.
func (w *world) consumer(protocol dial.Protocol, opts ...Option) *Consumer {
	w.t.Helper()
	c := NewConsumer(w.client(protocol), "reader", stream, topic, opts...)
	require.NoError(w.t, c.Init(w.t.Context()))
	w.t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
	return c
}

// take returns the next n messages as texts.
func take(t testing.TB, c *Consumer, n int) []string {
	t.Helper()
	var got []string
	for range n {
		m, err := c.Next(t.Context())
		require.NoError(t, err)
		got = append(got, string(m.Payload))
	}
	return got
}

// texts are those of messages with numbers.
func texts(partition uint32, from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, string(text(partition, i)))
	}
	return all
}

// stored returns the stored offset of a partition, or -1.
func (w *world) stored(kind wire.ConsumerKind, partition uint32) int {
	w.t.Helper()
	o, found, err := w.sender.GetOffset(w.t.Context(), wire.Consumer{Kind: kind, ID: wire.Named("reader")}, part(partition))
	require.NoError(w.t, err)
	if !found {
		return -1
	}
	return int(o.Stored)
}

package client_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// benchClient returns a client of a server over TCP with a topic of one partition.
func benchClient(b *testing.B) *client.Client {
	b.Helper()
	server, err := iggyserver.Start(b.Context(), iggyserver.PasswordRounds(1))
	require.NoError(b, err)
	b.Cleanup(func() { _ = server.Close() })
	c := connectOver(b, dial.TCP, server)
	require.NoError(b, c.Setup(b.Context(), 1))
	return c
}

// batch are a thousand messages of 100 bytes.
func batch() []wire.Message {
	messages := make([]wire.Message, 1000)
	for i := range messages {
		messages[i] = wire.Message{ID: wire.Uint128{Lo: uint64(i) + 1}, Payload: make([]byte, 100)}
	}
	return messages
}

// BenchmarkSend sends batches of a thousand messages of 100 bytes; an operation is a message. Server and client share
// the machine.
func BenchmarkSend(b *testing.B) {
	c, messages := benchClient(b), batch()
	b.ReportAllocs()
	b.ResetTimer()
	for n := b.N; n > 0; n -= len(messages) {
		_, _, err := c.Send(b.Context(), part(0), nil, messages[:min(n, len(messages))])
		require.NoError(b, err)
	}
}

// BenchmarkPoll polls a thousand messages of 100 bytes at a time and looks at each; an operation is a message.
func BenchmarkPoll(b *testing.B) {
	c, messages := benchClient(b), batch()
	for range 10 {
		_, _, err := c.Send(b.Context(), part(0), nil, messages)
		require.NoError(b, err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n, at := b.N, uint64(0); n > 0; n -= len(messages) {
		polled, err := c.Poll(b.Context(), single, part(0),
			wire.PollingStrategy{Kind: wire.FromOffset, Value: at % 10_000}, wire.PartitionContext{}, client.Read{})
		require.NoError(b, err)
		at += uint64(look(b, polled.Records))
	}
}

// BenchmarkRoundTrip sends one message of 100 bytes and polls it. Beside the mean it tells the median and the 99th
// percentile.
func BenchmarkRoundTrip(b *testing.B) {
	c := benchClient(b)
	one := []wire.Message{{ID: wire.Uint128{Lo: 1}, Payload: make([]byte, 100)}}
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		at, _, err := c.Send(b.Context(), part(0), nil, one)
		require.NoError(b, err)
		polled, err := c.Poll(b.Context(), single, part(0),
			wire.PollingStrategy{Kind: wire.FromOffset, Value: at.BaseOffset}, wire.PartitionContext{}, client.Read{})
		require.NoError(b, err)
		require.Equal(b, 1, look(b, polled.Records))
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func look(tb testing.TB, records []byte) (n int) {
	r := wire.NewRecords(records)
	for r.Next() {
		n += min(1, len(r.Message().Payload))
	}
	require.NoError(tb, r.Err())
	return n
}

// instant is a link to a server that answers at once and allocates nothing.
type instant struct {
	fakeConn
	replies map[wire.Command]transport.Frame
}

func (i *instant) Dial(context.Context) (transport.Conn, error) { return i, nil }
func (i *instant) Addr() string                                 { return "instant://" }

func (i *instant) Do(_ context.Context, frame transport.Frame) (transport.Frame, error) {
	h, _, err := wire.DecodeRequest(frame)
	if err != nil {
		return nil, err
	}
	reply := wire.NewReply(&h)
	var body wire.Body = &wire.Empty{}
	switch h.Carries() {
	case wire.CmdLoginRegister:
		body = &wire.Registered{Session: 1, Version: wire.Version0120, ServerVersion: "instant"}
	case wire.CmdGetClusterMetadata:
		body = &wire.ClusterMetadata{}
	case wire.CmdGetPartitionRoute:
		body = &wire.PartitionRoute{Incarnation: 1, MetadataOp: 1 << 40, PartitionsCount: 1}
	case wire.CmdSendMessages:
		body = nil
	case wire.CmdPollMessagesDeferred:
		return i.replies[wire.CmdPollMessagesDeferred], nil
	}
	return wire.AppendReply(nil, reply, body)
}

// A thousand messages cost as many allocations as one.
func TestMessagesCostNoAllocation(t *testing.T) {
	all := batch()
	encoded, err := wire.AppendBatch(nil, nil, all)
	require.NoError(t, err)
	polled, err := wire.AppendReply(nil,
		wire.ReplyHeader{Operation: wire.OpNonReplicated}, &wire.PolledMessages{Count: 1000, Records: encoded})
	require.NoError(t, err)
	server := &instant{
		fakeConn: fakeConn{done: make(chan struct{})},
		replies:  map[wire.Command]transport.Frame{wire.CmdPollMessagesDeferred: polled},
	}
	c, err := client.New(server, client.Password("iggy", "iggy"))
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	const most = 30 // of a request, whatever it carries
	sending := testing.AllocsPerRun(100, func() {
		if _, _, err := c.Send(t.Context(), part(0), nil, all); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, sending, float64(most))
	reading := testing.AllocsPerRun(100, func() {
		polled, err := c.Poll(t.Context(), single, part(0), wire.PollingStrategy{Kind: wire.FromOffset}, wire.PartitionContext{},
			client.Read{})
		if err != nil || look(t, polled.Records) != 1000 {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, reading, float64(most))
	t.Logf("%v allocations a send, %v a poll", sending, reading)
	require.NoError(t, c.Shutdown(t.Context()))
}

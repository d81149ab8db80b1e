package iggyrust_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// peer is a client of this library, as far as these tests need one. Its stream has the topic that the Rust program uses.
type peer interface {
	// createTopic makes the stream and the topic.
	createTopic(stream string, partitions uint32)
	// send stores messages in a partition, and returns the offset of the first one.
	send(stream string, partition uint32, messages []wire.Message) uint64
	// poll returns all messages of a partition.
	poll(stream string, partition uint32) []wire.Message
}

// connect returns a peer that is logged in.
func connect(t *testing.T, url string) peer { return talk(t, url) }

// topic is the name of the topic that the program uses.
const topic = "events"

// frames is a peer that talks in frames, over one link.
type frames struct {
	t       *testing.T
	conn    transport.Conn
	id      wire.Uint128
	session uint64
	request uint64
}

func talk(t *testing.T, url string) *frames {
	t.Helper()
	config, err := dial.Parse(url)
	require.NoError(t, err)
	dialer, err := config.Dialer()
	require.NoError(t, err)
	conn, err := dialer.Dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	f := &frames{t: t, conn: conn, id: wire.UUIDv4(random)}
	payload := f.do(wire.RequestHeader{Client: f.id, Operation: wire.OpRegister, Checksum: f.id}, &wire.LoginRegister{
		Client:   wire.ClientInfo{Version: wire.Version0120, SDKName: "test", SDKVersion: "1"},
		Username: "iggy", Password: "iggy",
	})
	f.session = decode[wire.Registered](t, payload).Session
	return f
}

// do sends a request that has to succeed, and returns the payload of the reply.
func (f *frames) do(h wire.RequestHeader, body wire.Body) []byte {
	f.t.Helper()
	frame, err := wire.AppendRequest(nil, h, body)
	require.NoError(f.t, err)
	reply, err := f.conn.Do(f.t.Context(), frame)
	require.NoError(f.t, err)
	answer, rest, err := wire.DecodeReply(reply)
	require.NoError(f.t, err)
	code, payload, err := answer.Result(rest)
	require.NoError(f.t, err)
	require.Zero(f.t, code, "%s: %s", h.Carries(), code)
	return payload
}

// ask sends a command of the session.
func (f *frames) ask(at wire.PartitionContext, command wire.Command, body wire.Body) []byte {
	f.t.Helper()
	f.request++
	h := wire.NewRequest(command)
	h.Client, h.Session, h.Request, h.Context = f.id, f.session, f.request, at
	if h.Operation.HasChecksum() {
		h.Checksum = wire.Uint128{Hi: f.request, Lo: 1}
	}
	return f.do(h, body)
}

func decode[T any, P interface {
	*T
	wire.Body
}](t *testing.T, payload []byte,
) T {
	t.Helper()
	v, err := wire.Decode[T, P](payload)
	require.NoError(t, err)
	return v
}

// at asks for the context of a partition.
func (f *frames) at(stream string, partition uint32) wire.PartitionContext {
	f.t.Helper()
	payload := f.ask(wire.PartitionContext{}, wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{
		Stream: wire.Named(stream), Topic: wire.Named(topic), Partition: partition,
	})
	route := decode[wire.PartitionRoute](f.t, payload)
	return wire.PartitionContext{Incarnation: route.Incarnation, MetadataOp: route.MetadataOp}
}

func (f *frames) createTopic(stream string, partitions uint32) {
	f.t.Helper()
	f.ask(wire.PartitionContext{}, wire.CmdCreateStream, &wire.CreateStream{Name: stream})
	f.ask(wire.PartitionContext{}, wire.CmdCreateTopic, &wire.CreateTopic{
		Stream: wire.Named(stream), Name: topic, PartitionsCount: partitions,
	})
}

func (f *frames) send(stream string, partition uint32, messages []wire.Message) uint64 {
	f.t.Helper()
	batch, err := wire.AppendBatch(nil, nil, messages)
	require.NoError(f.t, err)
	payload := f.ask(f.at(stream, partition), wire.CmdSendMessages, &wire.SendMessages{
		Stream: wire.Named(stream), Topic: wire.Named(topic), Partitioning: wire.ToPartition(partition),
		MessagesCount: uint32(len(messages)), Batch: batch,
	})
	sent := decode[wire.SentMessages](f.t, payload)
	require.Len(f.t, sent.Confirmations, 1)
	return sent.Confirmations[0].BaseOffset
}

func (f *frames) poll(stream string, partition uint32) []wire.Message {
	f.t.Helper()
	payload := f.ask(f.at(stream, partition), wire.CmdPollMessages, &wire.PollMessages{
		Consumer: wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("frames")},
		Stream:   wire.Named(stream), Topic: wire.Named(topic), Partition: wire.Partition(partition),
		Strategy: wire.PollingStrategy{Kind: wire.FromOffset}, Count: 1000,
	})
	r := wire.NewRecords(decode[wire.PolledMessages](f.t, payload).Records)
	var messages []wire.Message
	for r.Next() {
		require.NoError(f.t, r.Verify())
		messages = append(messages, r.Message())
	}
	require.NoError(f.t, r.Err())
	return messages
}

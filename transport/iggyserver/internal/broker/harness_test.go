package broker_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// newBroker makes a broker for a test. Passwords are hashed in one round.
func newBroker(t testing.TB, change ...func(*broker.Config)) *broker.Broker {
	t.Helper()
	config := broker.Config{PasswordRounds: 1}
	for _, c := range change {
		c(&config)
	}
	b, err := broker.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// client is a client with one connection: it talks in frames.
type client struct {
	t       testing.TB
	broker  *broker.Broker
	link    *broker.Link
	id      wire.Uint128
	secret  [wire.SecretSize]byte
	session uint64
	user    uint32
	counter *atomic.Uint64 // numbers of requests; connections of a session share it
}

// lastClient counts the ids of clients of all tests.
var lastClient atomic.Uint64

// connect makes a client that is not logged in.
func connect(t testing.TB, b *broker.Broker) *client {
	c := &client{t: t, broker: b, id: wire.Uint128{Hi: 7, Lo: lastClient.Add(1)}, counter: new(atomic.Uint64)}
	c.secret[0] = byte(c.id.Lo)
	c.dial()
	return c
}

// dial gives the client a new connection.
func (c *client) dial() {
	c.link = c.broker.Connect(broker.Peer{Transport: wire.TransportTCP, Address: "127.0.0.1:5000"})
	c.t.Cleanup(c.link.Close)
}

// login makes a client that is logged in.
func login(t testing.TB, b *broker.Broker, name, password string) *client {
	t.Helper()
	c := connect(t, b)
	c.enter(c.send(c.loginFrame(name, password)))
	return c
}

func root(t testing.TB, b *broker.Broker) *client { return login(t, b, "iggy", "iggy") }

func info() wire.ClientInfo {
	return wire.ClientInfo{Version: wire.Version0120, SDKName: "test", SDKVersion: "1"}
}

func (c *client) loginFrame(name, password string) []byte {
	body := wire.LoginRegister{Client: info(), Secret: c.secret, Username: name, Password: password}
	return c.frame(c.registration(), &body)
}

func (c *client) registration() wire.RequestHeader {
	return wire.RequestHeader{Client: c.id, Operation: wire.OpRegister, Checksum: c.id}
}

// enter takes note of the reply to a login.
func (c *client) enter(reply []byte) {
	c.t.Helper()
	_, code, payload := wiretest.Open(c.t, reply)
	require.Zero(c.t, code)
	got, err := wire.Decode[wire.Registered](payload)
	require.NoError(c.t, err)
	c.session, c.user = got.Session, got.UserID
}

// header is that of the next request for a command.
func (c *client) header(command wire.Command) wire.RequestHeader {
	h := wire.NewRequest(command)
	h.Client, h.Session, h.Request = c.id, c.session, c.counter.Add(1)
	if h.Operation.HasChecksum() {
		h.Checksum = wire.Uint128{Hi: h.Request, Lo: 1}
	}
	return h
}

func (c *client) frame(h wire.RequestHeader, body wire.Body) []byte {
	c.t.Helper()
	frame, err := wire.AppendRequest(nil, h, body)
	require.NoError(c.t, err)
	return frame
}

// send hands over a frame and returns the reply, which keeps the connection open.
func (c *client) send(frame []byte) []byte {
	c.t.Helper()
	reply, closing := c.link.Handle(c.t.Context(), frame)
	require.False(c.t, closing, "the broker closes the connection")
	return reply
}

// evicted hands over a frame that ends the connection, and returns why.
func (c *client) evicted(frame []byte) wire.Eviction {
	c.t.Helper()
	reply, closing := c.link.Handle(c.t.Context(), frame)
	require.True(c.t, closing)
	e, err := wire.DecodeEviction(reply)
	require.NoError(c.t, err)
	<-c.link.Done()
	return e
}

// try sends a command and returns the code and the payload of the reply.
func (c *client) try(command wire.Command, body wire.Body) (wire.Code, []byte) {
	c.t.Helper()
	return c.tryAt(wire.PartitionContext{}, command, body)
}

// tryAt is try for a partition.
func (c *client) tryAt(at wire.PartitionContext, command wire.Command, body wire.Body) (wire.Code, []byte) {
	c.t.Helper()
	h := c.header(command)
	h.Context = at
	reply := c.send(c.frame(h, body))
	got, code, payload := wiretest.Open(c.t, reply)
	require.Equal(c.t, h.Request, got.Request)
	require.Equal(c.t, h.Operation, got.Operation.Answers())
	return code, payload
}

// ok sends a command that has to succeed and returns the payload of the reply.
func (c *client) ok(command wire.Command, body wire.Body) []byte {
	c.t.Helper()
	code, payload := c.try(command, body)
	require.Zero(c.t, code, "%s: %s", command, code)
	return payload
}

// refused sends a command that has to be refused with a code.
func (c *client) refused(want wire.Code, command wire.Command, body wire.Body) {
	c.t.Helper()
	code, payload := c.try(command, body)
	require.Equal(c.t, want, code, "%s: %s", command, code)
	require.Empty(c.t, payload)
}

// The stream and the topic of most tests.
var (
	orders = wire.Named("orders")
	events = wire.Named("events")
)

// withTopic makes a broker with a topic, and a client of the root user.
func withTopic(t testing.TB, partitions uint32, change ...func(*broker.Config)) *client {
	t.Helper()
	c := root(t, newBroker(t, change...))
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: partitions})
	return c
}

// at asks for the context of a partition.
func (c *client) at(partition uint32) wire.PartitionContext {
	c.t.Helper()
	payload := c.ok(wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events, Partition: partition})
	route := wiretest.Decode[wire.PartitionRoute](c.t, payload)
	return wire.PartitionContext{Incarnation: route.Incarnation, MetadataOp: route.MetadataOp}
}

// batch encodes messages with these payloads.
func batch(t testing.TB, producer *wire.Producer, payloads ...string) []byte {
	t.Helper()
	var messages []wire.Message
	for i, p := range payloads {
		messages = append(messages, wire.Message{ID: wire.Uint128{Lo: uint64(i + 1)}, OriginTimestamp: 1000, Payload: []byte(p)})
	}
	b, err := wire.AppendBatch(nil, producer, messages)
	require.NoError(t, err)
	return b
}

func sending(partition, count uint32, batch []byte) *wire.SendMessages {
	return &wire.SendMessages{
		Stream: orders, Topic: events, Partitioning: wire.ToPartition(partition), MessagesCount: count, Batch: batch,
	}
}

// put sends messages to a partition and returns the offset of the first.
func (c *client) put(partition uint32, payloads ...string) uint64 {
	c.t.Helper()
	code, payload := c.tryAt(c.at(partition), wire.CmdSendMessages, sending(partition, uint32(len(payloads)), batch(c.t, nil, payloads...)))
	require.Zero(c.t, code)
	sent := wiretest.Decode[wire.SentMessages](c.t, payload)
	require.Len(c.t, sent.Confirmations, 1)
	return sent.Confirmations[0].BaseOffset
}

// reader is a consumer of its own.
var reader = wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}

func polling(who wire.Consumer, partition uint32, from wire.PollingStrategy, count uint32) *wire.PollMessages {
	return &wire.PollMessages{
		Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(partition), Strategy: from, Count: count,
	}
}

// deferred is a poll that waits, in microseconds.
func deferred(p *wire.PollMessages, wait uint64, least uint32) *wire.PollMessagesDeferred {
	return &wire.PollMessagesDeferred{
		PollMessages: *p, WaitMicros: wait, MinCount: least, MaxBytes: 1 << 20, TimeoutMicros: wait + 10_000_000,
	}
}

// poll reads from a partition.
func (c *client) poll(p *wire.PollMessages) wire.PolledMessages {
	c.t.Helper()
	code, payload := c.tryAt(c.at(p.Partition.ID), wire.CmdPollMessages, p)
	require.Zero(c.t, code)
	return wiretest.Decode[wire.PolledMessages](c.t, payload)
}

// payloads are those of the messages in a reply, all of whose checksums have to match.
func payloads(t testing.TB, records []byte) []string {
	t.Helper()
	var texts []string
	r := wire.NewRecords(records)
	for r.Next() {
		require.NoError(t, r.Verify())
		texts = append(texts, string(r.Message().Payload))
	}
	require.NoError(t, r.Err())
	return texts
}

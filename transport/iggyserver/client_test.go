package iggyserver_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// protocols are those that carry frames.
var protocols = []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket}

// each runs a test over each protocol.
func each(t *testing.T, test func(t *testing.T, protocol dial.Protocol)) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// start starts a server that hashes passwords once.
func start(t testing.TB, options ...iggyserver.Option) *iggyserver.Server {
	t.Helper()
	server, err := iggyserver.Start(context.Background(), append([]iggyserver.Option{iggyserver.PasswordRounds(1)}, options...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// client is a client with one connection: it talks in frames.
type client struct {
	t        testing.TB
	server   *iggyserver.Server
	protocol dial.Protocol
	conn     transport.Conn
	id       wire.Uint128
	session  uint64
	requests atomic.Uint64 // the last number
}

// lastClient counts the ids of clients of all tests.
var lastClient atomic.Uint64

// connect makes a client that is not logged in.
func connect(t testing.TB, server *iggyserver.Server, protocol dial.Protocol) *client {
	t.Helper()
	c := &client{t: t, server: server, protocol: protocol, id: wire.Uint128{Hi: 7, Lo: lastClient.Add(1)}}
	c.dial()
	return c
}

// connectOver makes a client over a connection.
func connectOver(t testing.TB, conn transport.Conn) *client {
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return &client{t: t, conn: conn, id: wire.Uint128{Hi: 7, Lo: lastClient.Add(1)}}
}

// dial gives the client a new connection.
func (c *client) dial() {
	c.t.Helper()
	config, err := dial.Parse(c.server.ConnectionString(c.protocol))
	require.NoError(c.t, err)
	dialer, err := config.Dialer()
	require.NoError(c.t, err)
	c.conn, err = dialer.Dial(c.t.Context())
	require.NoError(c.t, err)
	conn := c.conn
	c.t.Cleanup(func() { require.NoError(c.t, conn.Close()) })
}

// login makes a client of the root user that is logged in.
func login(t testing.TB, server *iggyserver.Server, protocol dial.Protocol) *client {
	t.Helper()
	c := connect(t, server, protocol)
	reply, err := c.do(c.loginFrame(iggyserver.DefaultPassword))
	require.NoError(t, err)
	c.enter(reply)
	return c
}

func info() wire.ClientInfo {
	return wire.ClientInfo{Version: wire.Version0120, SDKName: "test", SDKVersion: "1"}
}

func (c *client) secret() (s [wire.SecretSize]byte) {
	s[0] = byte(c.id.Lo)
	return s
}

func (c *client) loginFrame(password string) transport.Frame {
	h := wire.RequestHeader{Client: c.id, Operation: wire.OpRegister, Checksum: c.id}
	return c.frame(h, &wire.LoginRegister{
		Client: info(), Secret: c.secret(), Username: iggyserver.DefaultUsername, Password: password,
	})
}

// enter takes note of the reply to a login or a bind.
func (c *client) enter(reply transport.Frame) {
	c.t.Helper()
	_, code, payload := wiretest.Open(c.t, reply)
	require.Zero(c.t, code)
	c.session = wiretest.Decode[wire.Registered](c.t, payload).Session
}

// bindFrame asks for the session to go on over this connection.
func (c *client) bindFrame() transport.Frame {
	return c.frame(c.header(wire.CmdBindSession), &wire.BindSession{
		Client: info(), ClientID: c.id, Session: c.session, Secret: c.secret(),
	})
}

// header is that of the next request for a command.
func (c *client) header(command wire.Command) wire.RequestHeader {
	h := wire.NewRequest(command)
	h.Client, h.Session, h.Request = c.id, c.session, c.requests.Add(1)
	if h.Operation.HasChecksum() {
		h.Checksum = wire.Uint128{Hi: h.Request, Lo: 1}
	}
	return h
}

func (c *client) frame(h wire.RequestHeader, body wire.Body) transport.Frame {
	c.t.Helper()
	frame, err := wire.AppendRequest(nil, h, body)
	require.NoError(c.t, err)
	return frame
}

// do sends a frame and waits for the reply.
func (c *client) do(frame transport.Frame) (transport.Frame, error) {
	return c.conn.Do(c.t.Context(), frame)
}

// result is what came of a request.
type result struct {
	reply transport.Frame
	err   error
}

// begin sends a frame and returns at once.
func (c *client) begin(frame transport.Frame) <-chan result {
	done := make(chan result, 1)
	go func() {
		reply, err := c.do(frame)
		done <- result{reply, err}
	}()
	return done
}

// try sends a command and returns the code and the payload of the reply.
func (c *client) try(at wire.PartitionContext, command wire.Command, body wire.Body) (wire.Code, []byte) {
	c.t.Helper()
	h := c.header(command)
	h.Context = at
	reply, err := c.do(c.frame(h, body))
	require.NoError(c.t, err)
	_, code, payload := wiretest.Open(c.t, reply)
	return code, payload
}

// ok sends a command that has to succeed and returns the payload of the reply.
func (c *client) ok(command wire.Command, body wire.Body) []byte {
	c.t.Helper()
	code, payload := c.try(wire.PartitionContext{}, command, body)
	require.Zero(c.t, code, "%s: %s", command, code)
	return payload
}

// evicted waits for the end of the connection and returns the reason.
func (c *client) evicted() wire.EvictReason {
	c.t.Helper()
	<-c.conn.Done()
	var e *transport.EvictedError
	require.ErrorAs(c.t, c.conn.Err(), &e)
	return wire.EvictReason(e.Frame.Reason())
}

// The stream and the topic of most tests.
var (
	orders = wire.Named("orders")
	events = wire.Named("events")
	reader = wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}
)

// createTopic makes a topic of one partition.
func (c *client) createTopic() {
	c.t.Helper()
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 1})
}

// route asks who serves the partition.
func (c *client) route() wire.PartitionRoute {
	c.t.Helper()
	return wiretest.Decode[wire.PartitionRoute](c.t, c.ok(wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events}))
}

// at asks for the context of the partition.
func (c *client) at() wire.PartitionContext {
	c.t.Helper()
	route := c.route()
	return wire.PartitionContext{Incarnation: route.Incarnation, MetadataOp: route.MetadataOp}
}

// sendFrame asks to store messages.
func (c *client) sendFrame(payloads ...string) transport.Frame {
	c.t.Helper()
	var messages []wire.Message
	for i, p := range payloads {
		messages = append(messages, wire.Message{ID: wire.Uint128{Lo: uint64(i + 1)}, OriginTimestamp: 1000, Payload: []byte(p)})
	}
	batch, err := wire.AppendBatch(nil, nil, messages)
	require.NoError(c.t, err)
	at := c.at()
	h := c.header(wire.CmdSendMessages)
	h.Context = at
	return c.frame(h, &wire.SendMessages{
		Stream: orders, Topic: events, Partitioning: wire.ToPartition(0), MessagesCount: uint32(len(payloads)), Batch: batch,
	})
}

// put stores messages.
func (c *client) put(payloads ...string) {
	c.t.Helper()
	reply, err := c.do(c.sendFrame(payloads...))
	require.NoError(c.t, err)
	_, code, _ := wiretest.Open(c.t, reply)
	require.Zero(c.t, code)
}

// waitFrame asks to wait for a message at an offset, for up to half a minute.
func (c *client) waitFrame(offset uint64) transport.Frame {
	c.t.Helper()
	at := c.at()
	h := c.header(wire.CmdPollMessagesDeferred)
	h.Context = at
	return c.frame(h, &wire.PollMessagesDeferred{
		PollMessages: *polling(offset), WaitMicros: 30_000_000, MinCount: 1, MaxBytes: 1 << 20, TimeoutMicros: 40_000_000,
	})
}

func polling(offset uint64) *wire.PollMessages {
	return &wire.PollMessages{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0),
		Strategy: wire.PollingStrategy{Kind: wire.FromOffset, Value: offset}, Count: 1000,
	}
}

// all reads the messages of the partition.
func (c *client) all() []string {
	c.t.Helper()
	code, payload := c.try(c.at(), wire.CmdPollMessages, polling(0))
	require.Zero(c.t, code)
	return payloads(c.t, wiretest.Decode[wire.PolledMessages](c.t, payload).Records)
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

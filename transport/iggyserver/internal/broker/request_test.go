package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestAReplyEchoesWhatTheClientChecks(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	h := c.header(wire.CmdSendMessages)
	h.Context = c.at(0)
	got, code, _ := wiretest.Open(t, c.send(c.frame(h, sending(0, 1, batch(t, nil, "a")))))
	require.Zero(t, code)
	require.NotZero(t, got.Timestamp)
	require.Equal(t, wire.ReplyHeader{
		Client: c.id, Op: 1, Commit: 1, Timestamp: got.Timestamp, Request: h.Request, Operation: wire.OpSendMessages,
		Committed: true, Incarnation: h.Context.Incarnation,
	}, got)

	h = c.header(wire.CmdCreateStream)
	got, code, _ = wiretest.Open(t, c.send(c.frame(h, &wire.CreateStream{Name: "orders"})))
	require.Equal(t, wire.CodeStreamNameAlreadyExists, code)
	require.Equal(t, wire.ReplyHeader{
		Checksum: h.Checksum, Client: c.id, Op: got.Op, Commit: got.Op, Timestamp: got.Timestamp, Request: h.Request,
		Operation: wire.OpCreateStream, Committed: true,
	}, got, "a rejection is committed, too")

	h = c.header(wire.CmdGetStreams)
	got, _, _ = wiretest.Open(t, c.send(c.frame(h, nil)))
	require.Equal(t, wire.ReplyHeader{Client: c.id, Request: h.Request, Operation: wire.OpNonReplicated}, got)
}

func TestFramesThatNobodyCanBeAnsweredForEndTheConnection(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	noClient := c.header(wire.CmdPing)
	noClient.Client = wire.Uint128{}
	tests := map[string][]byte{
		"nothing":      nil,
		"half a frame": c.frame(c.header(wire.CmdPing), nil)[:100],
		"a reply":      wire.AppendEviction(nil, wire.Eviction{Client: c.id}),
		"wrong size":   append(c.frame(c.header(wire.CmdPing), nil), 1),
		"no client id": c.frame(noClient, nil),
	}
	for name, frame := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, closing := c.link.Handle(t.Context(), frame)
			require.True(t, closing)
			require.Empty(t, reply)
		})
	}
}

func TestRequestsThatAreNotValidAreAnswered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(h *wire.RequestHeader)
		body   wire.Body
		want   wire.Code
	}{
		"no session":              {func(h *wire.RequestHeader) { h.Session = 0 }, &wire.CreateStream{Name: "s"}, wire.CodeUnauthenticated},
		"another session":         {func(h *wire.RequestHeader) { h.Session++ }, &wire.CreateStream{Name: "s"}, wire.CodeUnauthenticated},
		"another client":          {func(h *wire.RequestHeader) { h.Client.Hi++ }, &wire.CreateStream{Name: "s"}, wire.CodeUnauthenticated},
		"no number":               {func(h *wire.RequestHeader) { h.Request = 0 }, &wire.CreateStream{Name: "s"}, wire.CodeInvalidCommand},
		"no body":                 {func(*wire.RequestHeader) {}, nil, wire.CodeInvalidCommand},
		"another body":            {func(*wire.RequestHeader) {}, &wire.GetClient{ClientID: 1}, wire.CodeInvalidCommand},
		"unknown command":         {func(h *wire.RequestHeader) { h.Operation, h.Command = wire.OpNonReplicated, 999 }, nil, wire.CodeInvalidCommand},
		"write as a read":         {func(h *wire.RequestHeader) { h.Operation, h.Command = wire.OpNonReplicated, wire.CmdCreateStream }, &wire.CreateStream{Name: "s"}, wire.CodeInvalidCommand},
		"log of metadata changes": {func(h *wire.RequestHeader) { h.Operation, h.Command = wire.OpNonReplicated, wire.CmdGetMetadataChanges }, nil, wire.CodeInvalidCommand},
		"login with a session":    {func(h *wire.RequestHeader) { h.Operation = wire.OpRegister }, nil, wire.CodeInvalidCommand},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := root(t, newBroker(t))
			h := c.header(wire.CmdCreateStream)
			tt.change(&h)
			got, code, _ := wiretest.Open(t, c.send(c.frame(h, tt.body)))
			require.Equal(t, tt.want, code)
			require.Equal(t, h.Request, got.Request)
			require.False(t, got.Committed)
		})
	}
}

func TestAnOperationOfServersEndsTheConnection(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	h := c.header(wire.CmdCreateStream)
	h.Operation = wire.OpInternalCreateTopic
	require.Equal(t, wire.EvictInvalidOperation, c.evicted(c.frame(h, nil)).Reason)
	reply, closing := c.link.Handle(t.Context(), c.frame(c.header(wire.CmdPing), nil))
	require.True(t, closing, "and stays ended")
	require.NotEmpty(t, reply)
}

func TestARepeatOfAWriteGetsTheReplyOfTheFirst(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	create := c.frame(c.header(wire.CmdCreateStream), &wire.CreateStream{Name: "s"})
	rejected := c.frame(c.header(wire.CmdCreateStream), &wire.CreateStream{Name: "orders"})
	h := c.header(wire.CmdSendMessages)
	h.Context = c.at(0)
	send := c.frame(h, sending(0, 2, batch(t, nil, "a", "b")))
	first := [][]byte{c.send(create), c.send(rejected), c.send(send)}
	c.link.Close()
	c.dial()
	c.ok(wire.CmdBindSession, c.binding())
	again := [][]byte{c.send(create), c.send(rejected), c.send(send)}
	require.Equal(t, first, again)
	require.Equal(t, uint32(2), c.poll(polling(reader, 0, wire.PollingStrategy{Kind: wire.FromFirst}, 10)).Count)
}

func TestAWriteThatWasRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	admin := root(t, b)
	admin.createUser("ada", wire.UserActive, nil)
	ada := login(t, b, "ada", "secret")
	frame := ada.frame(ada.header(wire.CmdCreateStream), &wire.CreateStream{Name: "s"})
	_, code, _ := wiretest.Open(t, ada.send(frame))
	require.Equal(t, wire.CodeUnauthorized, code)
	admin.ok(wire.CmdUpdatePermissions, &wire.UpdatePermissions{
		User: wire.Named("ada"), Permissions: &wire.Permissions{Global: wire.GlobalPermissions{ManageStreams: true}},
	})
	_, code, _ = wiretest.Open(t, ada.send(frame))
	require.Zero(t, code)
}

func TestAnotherRequestWithTheNumberOfAWriteIsRefused(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	h := c.header(wire.CmdCreateStream)
	c.send(c.frame(h, &wire.CreateStream{Name: "s"}))
	otherBody := c.frame(h, &wire.CreateStream{Name: "t"})
	h.Checksum.Hi++
	otherChecksum := c.frame(h, &wire.CreateStream{Name: "s"})
	for _, frame := range [][]byte{otherBody, otherChecksum} {
		_, code, _ := wiretest.Open(t, c.send(frame))
		require.Equal(t, wire.CodeInvalidCommand, code)
	}
	require.Len(t, wiretest.Decode[wire.Streams](t, c.ok(wire.CmdGetStreams, nil)).Streams, 1)
}

func TestARepeatWhoseReplyIsGoneIsToldSo(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t, func(c *brokerConfig) { c.Limits.KeptReplyBytes, c.Limits.KeptReplies = 700, 3 }))
	var frames [][]byte
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		frame := c.frame(c.header(wire.CmdCreateStream), &wire.CreateStream{Name: name})
		c.send(frame)
		frames = append(frames, frame)
	}
	want := []wire.Code{wire.CodeRequestTooOld, wire.CodeRequestTooOld, wire.CodeRequestAlreadyApplied, 0, 0}
	for i, frame := range frames {
		_, code, _ := wiretest.Open(t, c.send(frame))
		require.Equal(t, want[i], code, i)
	}
	require.Len(t, wiretest.Decode[wire.Streams](t, c.ok(wire.CmdGetStreams, nil)).Streams, 5)
}

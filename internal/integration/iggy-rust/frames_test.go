package iggyrust_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// frames talks in frames over TCP: for what the client has no calls for.
type frames struct {
	t       *testing.T
	conn    transport.Conn
	id      wire.Uint128
	session uint64
	request uint64
}

func talk(t *testing.T, server *iggyserver.Server) *frames {
	t.Helper()
	_, dialer := dialerFor(t, server, dial.TCP)
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
func (f *frames) ask(command wire.Command, body wire.Body) []byte {
	f.t.Helper()
	f.request++
	h := wire.NewRequest(command)
	h.Client, h.Session, h.Request = f.id, f.session, f.request
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

func (f *frames) createTopic(stream string, partitions uint32) {
	f.t.Helper()
	f.ask(wire.CmdCreateStream, &wire.CreateStream{Name: stream})
	f.ask(wire.CmdCreateTopic, &wire.CreateTopic{
		Stream: wire.Named(stream), Name: topic, PartitionsCount: partitions,
	})
}

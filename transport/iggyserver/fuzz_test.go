package iggyserver_test

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// FuzzServer gives a server bytes in place of a connection's, and of a request's, over every protocol. Whatever comes, the
// server answers another client.
func FuzzServer(f *testing.F) {
	server := start(f, iggyserver.Limits(transport.Limits{MaxRequestBytes: 1 << 16}))
	other := connect(f, server, dial.TCP) // a session of its own could be taken over
	conn, ping := other.conn, other.pingFrame()
	targets := []func(t *testing.T, data []byte){
		func(t *testing.T, data []byte) { fuzzBytes(t, rawTCP(t, server, dial.TCP), data) },
		func(t *testing.T, data []byte) { fuzzBytes(t, rawTCP(t, server, dial.WebSocket), data) },
		func(t *testing.T, data []byte) { fuzzBytes(t, rawUpgraded(t, server), data) },
		func(t *testing.T, data []byte) { fuzzRequest(t, server, dial.TCP, data) },
		func(t *testing.T, data []byte) { fuzzRequest(t, server, dial.WebSocket, data) },
		func(t *testing.T, data []byte) { fuzzRequest(t, server, dial.QUIC, data) },
	}
	for target := range targets {
		for _, data := range [][]byte{nil, []byte("GET / HTTP/1.1\r\n\r\n"), other.loginFrame("iggy"), other.bindFrame()} {
			f.Add(byte(target), data)
		}
	}
	f.Fuzz(func(t *testing.T, target byte, data []byte) {
		targets[int(target)%len(targets)](t, data)
		_, err := conn.Do(t.Context(), ping)
		require.NoError(t, err)
	})
}

// fuzzBytes writes what may be no frame, and waits until the server has made up its mind.
func fuzzBytes(t *testing.T, conn *net.TCPConn, data []byte) {
	_, _ = conn.Write(data) // the server may close before the end
	_ = conn.CloseWrite()
	closedBy(t, conn)
}

// fuzzRequest sends a frame of the right length in the name of a client that is logged in.
func fuzzRequest(t *testing.T, server *iggyserver.Server, protocol dial.Protocol, data []byte) {
	c := login(t, server, protocol)
	frame := make(transport.Frame, max(wire.HeaderSize, len(data)))
	copy(frame, data)
	binary.LittleEndian.PutUint32(frame[48:], uint32(len(frame)))
	frame[60] = byte(transport.CommandRequest)
	binary.LittleEndian.PutUint64(frame[128:], c.id.Lo)
	binary.LittleEndian.PutUint64(frame[136:], c.id.Hi)
	binary.LittleEndian.PutUint64(frame[184:], c.session)
	_ = c.begin(frame) // may get no answer
	_ = c.ping()       // or end the connection
}

package iggyserver_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// rawTCP is a connection that nothing was said over.
func rawTCP(t testing.TB, server *iggyserver.Server, protocol dial.Protocol) *net.TCPConn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Addr(protocol))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// rawUpgraded is a connection behind the handshake of WebSocket.
func rawUpgraded(t testing.TB, server *iggyserver.Server) *net.TCPConn {
	t.Helper()
	conn := rawTCP(t, server, dial.WebSocket)
	_, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", server.Addr(dial.WebSocket))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	return conn
}

// closedBy holds that the server ends a connection.
func closedBy(t testing.TB, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	if err != nil {
		require.ErrorContains(t, err, "connection reset")
	}
}

// pingFrame is the one request that needs no login.
func (c *client) pingFrame() transport.Frame {
	h := wire.RequestHeader{Client: c.id, Operation: wire.OpNonReplicated, Command: wire.CmdPing, Request: c.requests.Add(1)}
	return c.frame(h, nil)
}

func (c *client) ping() error {
	_, err := c.do(c.pingFrame())
	return err
}

func TestBytesThatAreNoFramesEndTheirConnectionOnly(t *testing.T) {
	t.Parallel()
	server := start(t)
	other := login(t, server, dial.TCP)
	other.createTopic()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		bytes := make([]byte, 1+random.IntN(2*wire.HeaderSize))
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		for _, conn := range []*net.TCPConn{
			rawTCP(t, server, dial.TCP), rawTCP(t, server, dial.WebSocket), rawUpgraded(t, server),
		} {
			_, err := conn.Write(bytes)
			require.NoError(t, err)
			_ = conn.CloseWrite() // the server may have closed
			closedBy(t, conn)
		}
		udp, err := (&net.Dialer{}).DialContext(t.Context(), "udp", server.Addr(dial.QUIC))
		require.NoError(t, err)
		_, err = udp.Write(bytes)
		require.NoError(t, err)
		require.NoError(t, udp.Close())
	}
	other.put("a")
	for _, p := range protocols {
		require.Equal(t, []string{"a"}, login(t, server, p).all())
	}
}

// spoil changes a frame, but not what the client itself checks.
func spoil(frame transport.Frame, random *rand.Rand) {
	size, command := frame.Size(), frame[60]
	for range 1 + random.IntN(8) {
		at := random.IntN(len(frame))
		if random.IntN(3) == 0 {
			at = 128 + random.IntN(wire.HeaderSize-128)
		}
		frame[at] ^= 1 << random.IntN(8)
	}
	binary.LittleEndian.PutUint32(frame[48:], size)
	frame[60] = command
}

func TestSpoiledRequestsLeaveTheOthers(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		server := start(t)
		other := login(t, server, protocol)
		other.createTopic()
		c := login(t, server, protocol)
		random := rand.New(rand.NewPCG(3, 4))
		for i := range 300 {
			frames := []transport.Frame{
				c.loginFrame("iggy"), c.bindFrame(), c.frame(c.header(wire.CmdGetTopics), &wire.GetTopics{Stream: orders}),
				c.frame(c.header(wire.CmdCreateStream), &wire.CreateStream{Name: "more"}),
				c.frame(c.header(wire.CmdStoreConsumerOffset), &wire.StoreConsumerOffset{Consumer: reader, Stream: orders, Topic: events}),
			}
			frame := frames[i%len(frames)]
			spoil(frame, random)
			_ = c.begin(frame) // may be one that gets no answer
			if c.ping() != nil {
				c = login(t, server, protocol)
			}
		}
		other.put("a")
		require.Equal(t, []string{"a"}, other.all())
	})
}

func TestFrameAboveTheLimitEndsItsConnectionOnly(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		server := start(t, iggyserver.Limits(transport.Limits{MaxRequestBytes: 10_000}))
		other := login(t, server, protocol)
		other.createTopic()
		c := login(t, server, protocol)
		_, err := c.do(c.sendFrame(string(make([]byte, 10_000))))
		require.Error(t, err)
		<-c.conn.Done()
		require.ErrorIs(t, c.conn.Err(), transport.ErrLost)
		other.put(string(make([]byte, 1000)))
		require.Len(t, other.all(), 1)
	})
}

// NET-02: the limit for the first byte holds from the start, on every protocol.
func TestNET02SilentConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	const silent = 100
	server := start(t, iggyserver.Limits(transport.Limits{IdleTimeout: 500 * time.Millisecond}))
	var raw []*net.TCPConn
	for range silent {
		raw = append(raw, rawTCP(t, server, dial.TCP), rawTCP(t, server, dial.WebSocket), rawUpgraded(t, server))
	}
	quiet := connect(t, server, dial.QUIC)
	for _, conn := range raw {
		closedBy(t, conn)
	}
	<-quiet.conn.Done()
	for _, p := range protocols {
		require.NoError(t, connect(t, server, p).ping())
	}
}

func TestConnectionsBeyondTheLimitAreClosed(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		server := start(t, iggyserver.MaxConnections(2))
		first, second := connect(t, server, protocol), connect(t, server, protocol)
		require.NoError(t, first.ping())
		require.NoError(t, second.ping())
		for range 20 {
			require.Error(t, connect(t, server, protocol).ping())
		}
		require.NoError(t, second.ping())
		require.NoError(t, first.conn.Close())
		for connect(t, server, protocol).ping() != nil { // until the server has seen that
			require.NoError(t, t.Context().Err())
		}
	})
}

func TestClientThatDoesNotReadIsClosed(t *testing.T) {
	t.Parallel()
	server := start(t, iggyserver.Limits(transport.Limits{FrameTimeout: time.Second}))
	c := login(t, server, dial.TCP)
	c.createTopic()
	for range 8 {
		c.put(string(make([]byte, 1<<20)))
	}
	slow := login(t, server, dial.TCP)
	at := c.at()
	conn := rawTCP(t, server, dial.TCP)
	_, err := conn.Write(slow.bindFrame())
	require.NoError(t, err)
	_, err = transport.ReadFrame(conn, transport.DefaultMaxReplyBytes, nil)
	require.NoError(t, err)
	clients := len(wiretest.Decode[wire.Clients](t, c.ok(wire.CmdGetClients, nil)).Clients)
	for range 100 {
		h := slow.header(wire.CmdPollMessages)
		h.Context = at
		if _, err = conn.Write(slow.frame(h, polling(0))); err != nil {
			break
		}
	}
	for clients == len(wiretest.Decode[wire.Clients](t, c.ok(wire.CmdGetClients, nil)).Clients) {
		require.NoError(t, t.Context().Err()) // until the server has closed it
	}
	closedBy(t, conn)
	c.put("a")
}

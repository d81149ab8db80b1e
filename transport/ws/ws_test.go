package ws_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/ws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinksKeepTheirPromises(t *testing.T) {
	t.Parallel()
	transporttest.Run(t, transporttest.Transport{
		ListenAt: func(t *testing.T, addr string, limits transport.Limits) (transport.Listener, error) {
			return ws.Listen(t.Context(), addr, ws.Limits(limits))
		},
		Dialer: func(addr string, limits transport.Limits) transport.Dialer {
			return ws.NewDialer(addr, ws.Limits(limits))
		},
		RawClient: func(t *testing.T, addr string) transporttest.Raw {
			return raw{stream(t, rawClient(t, addr))}
		},
		RawServer: func(t *testing.T) (string, func() transporttest.Raw) {
			addr, accept := rawServer(t)
			return addr, func() transporttest.Raw { return raw{stream(t, accept())} }
		},
		NoHalfClose: true,
	})
}

func listen(t *testing.T, options ...ws.ListenOption) *ws.Listener {
	t.Helper()
	listener, err := ws.Listen(t.Context(), "127.0.0.1:0", options...)
	require.NoError(t, err)
	return listener
}

// raw is a WebSocket as a stream of bytes.
type raw struct{ net.Conn }

// CloseWrite closes both directions: WebSocket has no other way.
func (r raw) CloseWrite() error { return r.Close() }

func stream(t *testing.T, conn *websocket.Conn) net.Conn {
	t.Helper()
	return websocket.NetConn(context.WithoutCancel(t.Context()), conn, websocket.MessageBinary)
}

func rawClient(t *testing.T, addr string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/", nil) //nolint:bodyclose // the library says that it is closed
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func rawServer(t *testing.T) (addr string, accept func() *websocket.Conn) {
	t.Helper()
	accepted := make(chan *websocket.Conn)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			accepted <- conn
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), func() *websocket.Conn {
		conn := <-accepted
		t.Cleanup(func() { _ = conn.CloseNow() })
		return conn
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	listener, err := ws.Listen(b.Context(), "127.0.0.1:0")
	require.NoError(b, err)
	transporttest.RoundTrips(b, listener, ws.NewDialer(listener.Addr()))
}

package tcp_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/tcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinksKeepTheirPromises(t *testing.T) {
	t.Parallel()
	transporttest.Run(t, transporttest.Transport{
		ListenAt: func(t *testing.T, addr string, limits transport.Limits) (transport.Listener, error) {
			return tcp.Listen(t.Context(), addr, tcp.Limits(limits))
		},
		Dialer: func(addr string, limits transport.Limits) transport.Dialer {
			return tcp.NewDialer(addr, tcp.Limits(limits), tcp.NoDelay(true))
		},
		RawClient: func(t *testing.T, addr string) transporttest.Raw { return rawClient(t, addr) },
		RawServer: rawServer,
	})
}

func listen(t *testing.T, options ...tcp.ListenOption) *tcp.Listener {
	t.Helper()
	listener, err := tcp.Listen(t.Context(), "127.0.0.1:0", options...)
	require.NoError(t, err)
	return listener
}

func rawClient(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

func rawServer(t *testing.T) (addr string, accept func() transporttest.Raw) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String(), func() transporttest.Raw {
		conn, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn.(*net.TCPConn)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for name, noDelay := range map[string]bool{"NoDelay": true, "default": false} {
		b.Run(name, func(b *testing.B) {
			listener, err := tcp.Listen(b.Context(), "127.0.0.1:0")
			require.NoError(b, err)
			transporttest.RoundTrips(b, listener, tcp.NewDialer(listener.Addr(), tcp.NoDelay(noDelay)))
		})
	}
}

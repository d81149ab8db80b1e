package quic_test

import (
	"crypto/tls"
	"net"
	"testing"

	quicgo "github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/quic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinksKeepTheirPromises(t *testing.T) {
	t.Parallel()
	transporttest.Run(t, transporttest.Transport{
		ListenAt: func(t *testing.T, addr string, limits transport.Limits) (transport.Listener, error) {
			return quic.Listen(addr, quic.Limits(limits))
		},
		Dialer: func(addr string, limits transport.Limits) transport.Dialer {
			return quic.NewDialer(addr, quic.Limits(limits))
		},
		RawClient: func(t *testing.T, addr string) transporttest.Raw {
			stream, err := rawClient(t, addr).OpenStream()
			require.NoError(t, err)
			return raw{stream}
		},
		RawServer: rawServer,
		NoPush:    true,
	})
}

func listen(t *testing.T, options ...quic.ListenOption) *quic.Listener {
	t.Helper()
	listener, err := quic.Listen("127.0.0.1:0", options...)
	require.NoError(t, err)
	return listener
}

// raw is a stream.
type raw struct{ *quicgo.Stream }

// CloseWrite ends the direction to the other side.
func (r raw) CloseWrite() error { return r.Stream.Close() }

func rawClient(t *testing.T, addr string) *quicgo.Conn {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp", addr)
	require.NoError(t, err)
	conn, err := socket(t).Dial(t.Context(), to, &tls.Config{InsecureSkipVerify: true}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	return conn
}

// socket is closed with all that is on it when the test ends.
func socket(t *testing.T) *quicgo.Transport {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	transport := &quicgo.Transport{Conn: udp}
	t.Cleanup(func() {
		transport.Close()
		udp.Close()
	})
	return transport
}

func rawServer(t *testing.T) (addr string, accept func() transporttest.Raw) {
	t.Helper()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	listener, err := socket(t).Listen(&tls.Config{Certificates: []tls.Certificate{certificate}}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String(), func() transporttest.Raw {
		conn, err := listener.Accept(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
		stream, err := conn.AcceptStream(t.Context())
		require.NoError(t, err)
		return raw{stream}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	listener, err := quic.Listen("127.0.0.1:0")
	require.NoError(b, err)
	transporttest.RoundTrips(b, listener, quic.NewDialer(listener.Addr()))
}

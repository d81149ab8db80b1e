package client_test

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/quic"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/tcp"
	"github.com/runnel-go/runnel/transport/ws"
)

// A server that cannot be verified is an error at once, however often the client would dial again: it does not change.
func TestServerThatIsNotTrustedIsNotDialledAgain(t *testing.T) {
	t.Parallel()
	server, err := iggyserver.Start(t.Context(), iggyserver.ServeTLS(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	dialers := func(set transport.TLS) map[string]transport.Dialer {
		return map[string]transport.Dialer{
			"tcp":  tcp.NewDialer(server.Addr(dial.TCP), tcp.TLS(set)),
			"ws":   ws.NewDialer(server.Addr(dial.WebSocket), ws.TLS(set)),
			"quic": quic.NewDialer(server.Addr(dial.QUIC), quic.TLS(set)),
			"http": rest.NewDialer(server.Addr(dial.HTTP), rest.TLS(set)),
		}
	}
	for name, d := range dialers(transport.TLS{}) {
		c, err := client.New(d, client.Password("iggy", "iggy"))
		require.NoError(t, err)
		var unknown *tls.CertificateVerificationError
		require.ErrorAs(t, c.Connect(t.Context()), &unknown, name)
		require.NoError(t, c.Shutdown(t.Context()))
	}
	for name, d := range dialers(transport.TLS{CAFile: "not-there.pem"}) {
		c, err := client.New(d, client.Password("iggy", "iggy"))
		require.NoError(t, err)
		require.ErrorIs(t, c.Connect(t.Context()), transport.ErrTLS, name)
		require.NoError(t, c.Shutdown(t.Context()))
	}
}

func TestOptionThatIsNilIsAnError(t *testing.T) {
	t.Parallel()
	_, err := client.New(tcp.NewDialer("127.0.0.1:1"), client.Password("a", "b"), nil)
	require.ErrorContains(t, err, "option 1 is nil")
}

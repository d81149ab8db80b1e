package iggyserver_test

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

func TestCertificateOfTheServerIsVerified(t *testing.T) {
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	file := transporttest.CAFile(t, certificate)
	each(t, func(t *testing.T, protocol dial.Protocol) {
		server := start(t, iggyserver.Certificate(certificate), iggyserver.ServeTLS())
		config, err := dial.Parse(server.ConnectionString(protocol))
		require.NoError(t, err)
		for _, ca := range []string{file, ""} {
			config.TLS = &transport.TLS{CAFile: ca}
			dialer, err := config.Dialer()
			require.NoError(t, err)
			conn, err := dialer.Dial(t.Context())
			if ca == "" {
				var unknown x509.UnknownAuthorityError
				require.ErrorAs(t, err, &unknown)
				continue
			}
			require.NoError(t, err)
			c := connectOver(t, conn)
			require.NoError(t, c.ping())
		}
	})
}

func TestConnectionStringAsksForTLSIfTheServerDoes(t *testing.T) {
	t.Parallel()
	server := start(t, iggyserver.ServeTLS())
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket} {
		config, err := dial.Parse(server.ConnectionString(protocol))
		require.NoError(t, err)
		require.NotNil(t, config.TLS)
	}
	require.NoError(t, connect(t, server, dial.WebSocket).ping(), "which verifies nothing by default")
}

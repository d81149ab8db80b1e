package iggyrust_test

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

// TestTheRustSDKVerifiesTheServer has scenarios run over TLS, with the certificate of the server as the only root.
func TestTheRustSDKVerifiesTheServer(t *testing.T) {
	t.Parallel()
	p := built(t)
	certificate, err := transport.SelfSigned("localhost")
	require.NoError(t, err)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}
	require.NoError(t, os.WriteFile(roots, pem.EncodeToMemory(block), 0o600))
	options := map[dial.Protocol]string{
		dial.TCP:       "&tls_domain=localhost&tls_ca_file=" + roots,
		dial.WebSocket: "&tls_domain=localhost&tls_validate_certificate=true&tls_ca_file=" + roots,
	}
	for protocol, option := range options {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			server := start(t, iggyserver.ServeTLS(), iggyserver.Certificate(certificate))
			for _, scenario := range []string{"login", "poll"} {
				p.run(t, scenario, "--url", server.ConnectionString(protocol)+option, "--name", scenario)
			}
		})
	}
}

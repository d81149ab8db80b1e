package transport_test

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
)

func TestASelfSignedCertificateIsItsOwnRootAndNoAuthority(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("localhost", "127.0.0.1")
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(certificate.Certificate[0])
	require.NoError(t, err)
	require.False(t, parsed.IsCA, "clients on rustls refuse an authority as a server")
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	for _, name := range []string{"localhost", "127.0.0.1"} {
		_, err = parsed.Verify(x509.VerifyOptions{DNSName: name, Roots: roots})
		require.NoError(t, err)
	}
	_, err = parsed.Verify(x509.VerifyOptions{DNSName: "example.org", Roots: roots})
	require.Error(t, err)
}

package quic_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/quic"
)

func TestCertificatesAreVerifiedWhenAsked(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1", "iggy.example")
	require.NoError(t, err)
	file := transporttest.CAFile(t, certificate)
	var unknown x509.UnknownAuthorityError
	var otherName x509.HostnameError
	tests := map[string]struct {
		options []quic.DialOption
		refused any // nil: not
	}{
		"any is taken by default":  {nil, nil},
		"its root":                 {[]quic.DialOption{quic.TLS(transport.TLS{CAFile: file})}, nil},
		"another name of it":       {[]quic.DialOption{quic.TLS(transport.TLS{CAFile: file, ServerName: "iggy.example"})}, nil},
		"a name that it lacks":     {[]quic.DialOption{quic.TLS(transport.TLS{CAFile: file, ServerName: "other"})}, &otherName},
		"the roots of the machine": {[]quic.DialOption{quic.TLS(transport.TLS{})}, &unknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := listen(t, quic.ServeTLS(&tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"other"}}))
			defer listener.Close()
			conn, err := quic.NewDialer(listener.Addr(), tt.options...).Dial(t.Context())
			if tt.refused != nil {
				require.ErrorAs(t, err, tt.refused)
				return
			}
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		})
	}
}

package tcp_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/tcp"
)

func TestLinksOverTLSKeepTheirPromises(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	server := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	file := transporttest.CAFile(t, certificate)
	transporttest.Run(t, transporttest.Transport{
		ListenAt: func(t *testing.T, addr string, limits transport.Limits) (transport.Listener, error) {
			return tcp.Listen(t.Context(), addr, tcp.Limits(limits), tcp.ServeTLS(server))
		},
		Dialer: func(addr string, limits transport.Limits) transport.Dialer {
			return tcp.NewDialer(addr, tcp.Limits(limits), tcp.TLS(transport.TLS{CAFile: file}))
		},
		RawClient: func(t *testing.T, addr string) transporttest.Raw {
			return tls.Client(rawClient(t, addr), &tls.Config{InsecureSkipVerify: true})
		},
		RawServer: func(t *testing.T) (string, func() transporttest.Raw) {
			addr, accept := rawServer(t)
			// The dialer waits for the handshake, so that a connection is taken before accept is called.
			accepted := make(chan *tls.Conn, 1)
			go func() {
				conn := tls.Server(accept().(*net.TCPConn), server)
				_ = conn.HandshakeContext(t.Context())
				accepted <- conn
			}()
			return addr, func() transporttest.Raw { return <-accepted }
		},
	})
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1", "iggy.example")
	require.NoError(t, err)
	file := transporttest.CAFile(t, certificate)
	var unknown x509.UnknownAuthorityError
	var otherName x509.HostnameError
	tests := map[string]struct {
		tls     transport.TLS
		refused any // nil: not
	}{
		"its root":                    {transport.TLS{CAFile: file}, nil},
		"another name of it":          {transport.TLS{CAFile: file, ServerName: "iggy.example"}, nil},
		"a name that it lacks":        {transport.TLS{CAFile: file, ServerName: "other"}, &otherName},
		"the roots of the machine":    {transport.TLS{}, &unknown},
		"no verification, if told so": {transport.TLS{SkipVerify: true}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := listen(t, tcp.ServeTLS(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}))
			defer listener.Close()
			dialer := tcp.NewDialer(listener.Addr(), tcp.TLS(tt.tls))
			require.Equal(t, "tls://"+listener.Addr(), dialer.Addr())
			dialed := make(chan error, 1)
			go func() {
				conn, err := dialer.Dial(t.Context())
				if err == nil {
					err = conn.Close()
				}
				dialed <- err
			}()
			peer, err := listener.Accept(t.Context())
			require.NoError(t, err)
			defer peer.Close()
			if err = <-dialed; tt.refused != nil {
				require.ErrorAs(t, err, tt.refused)
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestPlainClientOfATLSListenerIsClosed(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	listener := listen(t, tcp.ServeTLS(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}))
	defer listener.Close()
	_, err = rawClient(t, listener.Addr()).Write(transporttest.Request(1, ""))
	require.NoError(t, err)
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	_, err = peer.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrLost)
}

func TestDialTimeoutBoundsTheHandshake(t *testing.T) {
	t.Parallel()
	addr, _ := rawServer(t) // says nothing
	_, err := tcp.NewDialer(addr, tcp.TLS(transport.TLS{}), tcp.DialTimeout(20*time.Millisecond)).Dial(t.Context())
	require.ErrorContains(t, err, "deadline exceeded")
}

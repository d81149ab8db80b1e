package dial_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/quic"
	"github.com/runnel-go/runnel/transport/tcp"
	"github.com/runnel-go/runnel/transport/ws"
)

func TestCredentialsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := dial.Parse("iggy+quic://the-user:the-password@h:1")
	require.NoError(t, err)
	token, err := dial.Parse("iggy://the-token@h:1")
	require.NoError(t, err)
	inside := struct{ hidden dial.Secret }{dial.NewSecret("the-password")}
	_ = inside.hidden
	for _, v := range []any{c, &c, token, c.Credentials, token.Credentials, c.Credentials.Password, token.Credentials.Token, inside} {
		var text bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			fmt.Fprintf(&text, verb, v)
		}
		slog.New(slog.NewTextHandler(&text, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&text, nil)).Info("json", "v", v)
		encoded, err := json.Marshal(v)
		require.NoError(t, err)
		text.Write(encoded)
		for _, secret := range []string{"the-user", "the-password", "the-token", fmt.Sprintf("%x", "the-password")} {
			require.NotContains(t, text.String(), secret, "%T", v)
		}
	}
	require.Equal(t, "iggy+quic://[redacted]@h:1", c.String())
	require.Empty(t, dial.Secret{}.Reveal())
}

func TestUnknownProtocolsHaveNoDialer(t *testing.T) {
	t.Parallel()
	_, err := dial.Config{Protocol: "udp"}.Dialer()
	require.ErrorIs(t, err, dial.ErrUnknownProtocol)
}

// failing answers each request with a status, and counts them.
func failing(t *testing.T, status int) (config func(text string) dial.Config, count *atomic.Int32) {
	t.Helper()
	count = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ping" {
			count.Add(1)
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(server.Close)
	return func(options string) dial.Config {
		c, err := dial.Parse("iggy+http://u:p@" + server.Listener.Addr().String() + options)
		require.NoError(t, err)
		return c
	}, count
}

func TestStringsOfHTTPMakeDialersWithoutSessions(t *testing.T) {
	t.Parallel()
	for options, attempts := range map[string]int32{"": 4, "?retries=0": 1, "?retries=1": 2} {
		config, count := failing(t, http.StatusServiceUnavailable)
		d, err := config(options).Dialer()
		require.NoError(t, err)
		require.True(t, transport.IsSessionless(d))
		conn, err := d.Dial(t.Context())
		require.NoError(t, err)
		status, _, err := conn.(transport.HTTPConn).DoHTTP(t.Context(), "POST", "/streams", nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, attempts, count.Load(), options)
		require.NoError(t, conn.Close())
	}
	d, err := dial.Config{Protocol: dial.HTTP, Host: "h", Port: 1, TLS: &transport.TLS{}}.Dialer()
	require.NoError(t, err)
	require.Equal(t, "https://h:1", d.Addr())
	other, err := dial.Config{Protocol: dial.TCP}.Dialer()
	require.NoError(t, err)
	require.False(t, transport.IsSessionless(other))
}

func TestDialersOfStringsReachTheirServers(t *testing.T) {
	t.Parallel()
	listen := map[string]func() (transport.Listener, error){
		"iggy":      func() (transport.Listener, error) { return tcp.Listen(t.Context(), "127.0.0.1:0") },
		"iggy+ws":   func() (transport.Listener, error) { return ws.Listen(t.Context(), "127.0.0.1:0") },
		"iggy+quic": func() (transport.Listener, error) { return quic.Listen("127.0.0.1:0") },
	}
	for scheme, listen := range listen {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			listener, err := listen()
			require.NoError(t, err)
			defer listener.Close()
			c, err := dial.Parse(scheme + "://u:p@" + listener.Addr())
			require.NoError(t, err)
			d, err := c.Dialer()
			require.NoError(t, err)
			conn, err := d.Dial(t.Context())
			require.NoError(t, err)
			defer conn.Close()
			peer, err := listener.Accept(t.Context())
			require.NoError(t, err)
			defer peer.Close()
			answered := make(chan error, 1)
			go func() {
				x, err := peer.Next(t.Context())
				if err == nil {
					err = x.Reply(t.Context(), transporttest.Reply(1, ""))
				}
				answered <- err
			}()
			_, err = conn.Do(t.Context(), transporttest.Request(1, ""))
			require.NoError(t, err)
			require.NoError(t, <-answered)
		})
	}
}

func TestOptionsOfAStringReachTheDialer(t *testing.T) {
	t.Parallel()
	for text, addr := range map[string]string{
		"iggy://u:p@h:1?tls=true":    "tls://h:1",
		"iggy+ws://u:p@h:1?tls=true": "wss://h:1/",
	} {
		c, err := dial.Parse(text + "&tls_ca_file=/no/such/file")
		require.NoError(t, err)
		d, err := c.Dialer()
		require.NoError(t, err)
		require.Equal(t, addr, d.Addr())
	}
	c, err := dial.Parse("iggy+ws://u:p@127.0.0.1:1?tls=true&tls_ca_file=/no/such/file")
	require.NoError(t, err)
	d, err := c.Dialer()
	require.NoError(t, err)
	_, err = d.Dial(t.Context())
	require.ErrorContains(t, err, "/no/such/file")
}

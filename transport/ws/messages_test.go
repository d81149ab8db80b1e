package ws_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/ws"
)

// talk sends a request to a server that answers with messages, and returns what came.
func talk(t *testing.T, limits transport.Limits, messages ...[]byte) (transport.Conn, transport.Frame, error) {
	t.Helper()
	addr, accept := rawServer(t)
	dialed := make(chan struct{})
	go func() {
		defer close(dialed)
		server := accept()
		kind, got, err := server.Read(t.Context())
		if err != nil || kind != websocket.MessageBinary || !bytes.Equal(got, transporttest.Request(1, "")) {
			t.Errorf("a request is one binary message: %v, %v, %d bytes", err, kind, len(got))
		}
		for _, m := range messages {
			_ = server.Write(t.Context(), websocket.MessageBinary, m) // the client may have closed
		}
		_, _, _ = server.Read(context.Background()) // until the client closes
	}()
	conn, err := ws.NewDialer(addr, ws.Limits(limits)).Dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(); <-dialed })
	reply, err := conn.Do(t.Context(), transporttest.Request(1, ""))
	return conn, reply, err
}

func TestNET03RepliesLongerThanTheLibraryReadsByItselfCome(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]int{"100 KiB": 100 << 10, "10 MiB": 10 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := transporttest.Reply(1, strings.Repeat("a", length))
			_, got, err := talk(t, transport.Limits{}, reply)
			require.NoError(t, err)
			require.True(t, bytes.Equal(reply, got))
		})
	}
	t.Run("above the limit", func(t *testing.T) {
		t.Parallel()
		_, _, err := talk(t, transport.Limits{MaxReplyBytes: 1 << 20}, transporttest.Reply(1, strings.Repeat("a", 1<<20)))
		var size *transport.SizeError
		require.ErrorAs(t, err, &size)
		require.Equal(t, "MaxReplyBytes", size.Option)
	})
}

func TestFramesMayBeCutIntoMessagesInAnyWay(t *testing.T) {
	t.Parallel()
	other, reply := transporttest.Reply(9, "to nobody"), transporttest.Reply(1, strings.Repeat("body", 20_000))
	stream := append(bytes.Clone(other), reply...)
	tests := map[string][][]byte{
		"a message a frame":          {other, reply},
		"two frames in a message":    {stream},
		"a frame over messages":      {other, reply[:100], reply[100:256], reply[256:5000], reply[5000:]},
		"messages across frames":     {stream[:300], stream[300:]},
		"empty messages between":     {nil, other, nil, reply[:10], nil, nil, reply[10:], nil},
		"the end of one and a start": {other[:200], stream[200:270], stream[270:]},
	}
	for name, messages := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := talk(t, transport.Limits{}, messages...)
			require.NoError(t, err)
			require.True(t, bytes.Equal(reply, got))
		})
	}
}

func TestClientTakesLeaveWhenItCloses(t *testing.T) {
	t.Parallel()
	addr, accept := rawServer(t)
	closed := make(chan error, 1)
	go func() {
		_, _, err := accept().Read(t.Context())
		closed <- err
	}()
	conn, err := ws.NewDialer(addr).Dial(t.Context())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	var leave websocket.CloseError
	require.ErrorAs(t, <-closed, &leave)
	require.Equal(t, websocket.CloseError{Code: websocket.StatusNormalClosure, Reason: "Client requested shutdown"}, leave)
}

func TestTextMessageEndsTheLink(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	defer listener.Close()
	client := rawClient(t, listener.Addr())
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	require.NoError(t, client.Write(t.Context(), websocket.MessageText, transporttest.Request(1, "")))
	_, _, err = client.Read(t.Context())
	require.Equal(t, websocket.StatusUnsupportedData, websocket.CloseStatus(err))
	_, err = peer.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrLost)
}

func TestListenerClosesClientsThatWereNotAccepted(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	client := rawClient(t, listener.Addr())
	require.NoError(t, listener.Close())
	_, _, err := client.Read(t.Context())
	require.Error(t, err)
}

// NET-02 before the upgrade: the limit is that for the first byte.
func TestNET02ConnectionsThatDoNotUpgradeAreClosed(t *testing.T) {
	t.Parallel()
	listener := listen(t, ws.Limits(transport.Limits{IdleTimeout: 50 * time.Millisecond}))
	defer listener.Close()
	var silent []net.Conn
	for range 200 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr())
		require.NoError(t, err)
		defer conn.Close()
		silent = append(silent, conn)
	}
	for _, conn := range silent {
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err)
	}
}

func TestDialTimeoutBoundsTheUpgrade(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	_, err = ws.NewDialer(silent.Addr().String(), ws.DialTimeout(20*time.Millisecond)).Dial(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestOtherHTTPRequestsGetAnAnswer(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	defer listener.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr()+"/", http.NoBody)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusUpgradeRequired, response.StatusCode)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
}

func TestDialerDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	defer server.Close()
	_, err := ws.NewDialer(strings.TrimPrefix(server.URL, "http://")).Dial(t.Context())
	require.ErrorContains(t, err, "302")
}

func TestLinksOverTLSWork(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	listener := listen(t, ws.ServeTLS(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}))
	defer listener.Close()
	_, err = ws.NewDialer(listener.Addr(), ws.TLS(transport.TLS{})).Dial(t.Context())
	require.ErrorContains(t, err, "certificate")

	dialer := ws.NewDialer(listener.Addr(), ws.TLS(transport.TLS{CAFile: transporttest.CAFile(t, certificate)}))
	require.Equal(t, "wss://"+listener.Addr()+"/", dialer.Addr())
	conn, err := dialer.Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	go func() {
		if x, err := peer.Next(t.Context()); err == nil {
			_ = x.Reply(t.Context(), transporttest.Reply(1, "over TLS"))
		}
	}()
	reply, err := conn.Do(t.Context(), transporttest.Request(1, ""))
	require.NoError(t, err)
	require.Equal(t, "over TLS", string(reply.Body()))
}

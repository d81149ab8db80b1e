package ws_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/ws"
)

func rawTCP(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestRequestThatIsNoHandshakeIsAnsweredAndClosed(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	defer listener.Close()
	conn := rawTCP(t, listener.Addr())
	_, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", listener.Addr())
	require.NoError(t, err)
	read := bufio.NewReader(conn)
	response, err := http.ReadResponse(read, nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusUpgradeRequired, response.StatusCode)
	_, err = io.Copy(io.Discard, read)
	require.NoError(t, err, "it ends")
}

func TestHandshakesBeyondTheLimitAreClosed(t *testing.T) {
	t.Parallel()
	listener := listen(t, ws.MaxHandshakes(2))
	defer listener.Close()
	for range 10 { // links are none
		conn, err := ws.NewDialer(listener.Addr()).Dial(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		peer, err := listener.Accept(t.Context())
		require.NoError(t, err)
		defer peer.Close()
	}
	silent := rawTCP(t, listener.Addr())
	rawTCP(t, listener.Addr())
	third := rawTCP(t, listener.Addr())
	_, err := third.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, silent.Close())
	for {
		conn, err := ws.NewDialer(listener.Addr()).Dial(t.Context())
		if err == nil {
			require.NoError(t, conn.Close())
			return
		}
		require.NoError(t, t.Context().Err()) // until the listener has seen that there is room
	}
}

// pieces writes what it gets in two pieces.
type pieces struct{ net.Conn }

func (p pieces) Write(b []byte) (int, error) {
	half := len(b) / 2
	if n, err := p.Conn.Write(b[:half]); err != nil {
		return n, err
	}
	n, err := p.Conn.Write(b[half:])
	return half + n, err
}

func TestLinkIsWrapped(t *testing.T) {
	t.Parallel()
	listener := listen(t, ws.Wrap(func(conn net.Conn) net.Conn { return pieces{conn} }))
	defer listener.Close()
	client := rawClient(t, listener.Addr())
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	go func() { _ = peer.Evict(t.Context(), transporttest.Eviction(1)) }()
	for range 2 {
		_, message, err := client.Read(t.Context())
		require.NoError(t, err)
		require.Len(t, message, transport.HeaderBytes/2)
	}
}

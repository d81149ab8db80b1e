package tcp_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/tcp"
)

// short ends after one byte.
type short struct{ net.Conn }

func (s short) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b[:1])
	if err == nil {
		err = net.ErrClosed
	}
	return n, err
}

func TestConnectionIsWrapped(t *testing.T) {
	t.Parallel()
	listener := listen(t, tcp.Wrap(func(conn net.Conn) net.Conn { return short{conn} }))
	defer listener.Close()
	client := rawClient(t, listener.Addr())
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, peer.Evict(t.Context(), transporttest.Eviction(1)), transport.ErrLost)
	n, err := client.Read(make([]byte, transport.HeaderBytes))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

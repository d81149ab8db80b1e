//go:build unix

package tcp

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoDelayReachesTheSocket(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	for name, want := range map[string]bool{"on": true, "off": false} {
		conn, err := NewDialer(listener.Addr().String(), NoDelay(want)).connect(t.Context(), "127.0.0.1")
		require.NoError(t, err)
		defer conn.Close()
		raw, err := conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		var value int
		require.NoError(t, raw.Control(func(fd uintptr) {
			value, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
		}))
		require.NoError(t, err)
		require.Equal(t, want, value != 0, name)
	}
}

package quic

import (
	"net"
	"sync/atomic"

	"github.com/quic-go/quic-go"
)

// sock is a UDP socket: of one client, or of a listener and its peers. The last of them to go closes it, so that no
// goroutine of the library stays behind.
type sock struct {
	*quic.Transport
	users atomic.Int32
}

// newSock returns a socket that has one user.
func newSock(socket *net.UDPConn) *sock {
	s := &sock{Transport: &quic.Transport{Conn: socket}}
	s.hold()
	return s
}

func (s *sock) hold() { s.users.Add(1) }

func (s *sock) release() {
	if s.users.Add(-1) == 0 {
		_ = s.Close() // nothing is on its way any more
		_ = s.Conn.Close()
	}
}

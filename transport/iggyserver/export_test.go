package iggyserver

import (
	"context"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// AcceptFrom serves clients of a listener until that is closed.
func (s *Server) AcceptFrom(ctx context.Context, listener transport.Listener) {
	s.intake(listener, wire.TransportTCP).run(ctx)
}

// Serve serves one client.
func (s *Server) Serve(ctx context.Context, peer transport.Peer) {
	s.serve(ctx, peer, wire.TransportTCP)
}

// PanicAt makes requests for a command panic.
func PanicAt(command wire.Command) Option {
	return option(func(c *config) {
		c.handle = func(ctx context.Context, r *request) ([]byte, bool) {
			if h, _, err := wire.DecodeRequest(r.frame); err == nil && h.Carries() == command {
				panic("as asked")
			}
			return handle(ctx, r)
		}
	})
}

package iggyserver

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/webapi"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// openHTTP begins to serve clients over HTTP. The listener has a server of its own, which ends with it.
func (s *Server) openHTTP(ctx context.Context, at place, tlsConfig *tls.Config) (service, error) {
	options := []rest.ListenOption{rest.Limits(s.config.limits), rest.MaxConnections(s.config.maxConnections)}
	now := time.Now
	if s.config.clock != nil {
		options = append(options, rest.WithClock(s.config.clock))
		now = s.config.clock.Now
	}
	if s.config.tls {
		options = append(options, rest.ServeTLS(tlsConfig))
	}
	listener, err := rest.Listen(ctx, at.addr, &web{webapi.New(s.broker, now, 0), s}, options...)
	if err != nil {
		return service{}, err
	}
	return service{
		protocol: dial.HTTP,
		addr:     listener.Addr(),
		run:      func(ctx context.Context) { <-ctx.Done() },
		close:    listener.Close,
	}, nil
}

// web is the server as clients over HTTP see it, with its faults.
type web struct {
	*webapi.Backend

	server *Server
}

// Login refuses everybody while the server is said to be down.
func (w *web) Login(ctx context.Context, login wire.Body) (rest.Identity, wire.Code) {
	if w.server.faults.down.Load() {
		return rest.Identity{}, wire.CodeTransientNotAccepted
	}
	return w.Backend.Login(ctx, login)
}

// Execute carries a request out. Without a reply its connection is closed.
func (w *web) Execute(ctx context.Context, user uint32, frame transport.Frame) transport.Frame {
	if w.server.faults.down.Load() {
		return nil
	}
	r := &request{frame: frame, execute: func(ctx context.Context, frame []byte) []byte {
		return w.Backend.Execute(ctx, user, frame)
	}}
	reply, closing, _ := w.server.carry(ctx, r)
	if closing {
		return nil
	}
	return reply
}

package iggyserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// acceptPause is how long a listener rests after an error, such as that of a process with too many open files.
const acceptPause = 50 * time.Millisecond

// intake takes the clients of one listener. One goroutine runs it.
type intake struct {
	server    *Server
	listener  transport.Listener
	transport wire.Transport

	places chan struct{} // holds one for each connection
	conns  sync.WaitGroup

	full, failing bool // so that the log has the first of many like cases
}

func (s *Server) intake(listener transport.Listener, t wire.Transport) *intake {
	return &intake{server: s, listener: listener, transport: t, places: make(chan struct{}, s.config.maxConnections)}
}

// run serves clients until ctx ends or the listener is closed, and returns when all of them are gone.
func (i *intake) run(ctx context.Context) {
	defer i.conns.Wait()
	for {
		peer, err := i.listener.Accept(ctx)
		switch {
		case err == nil:
			i.failing = false
			i.admit(ctx, peer)
		case ctx.Err() != nil || errors.Is(err, transport.ErrClosed):
			return
		default:
			i.rest(ctx, err)
		}
	}
}

// admit serves a client if there is a place for it, and closes its connection if not.
func (i *intake) admit(ctx context.Context, peer transport.Peer) {
	select {
	case i.places <- struct{}{}:
		i.full = false
		i.conns.Go(func() {
			defer func() { <-i.places }()
			i.server.serve(ctx, peer, i.transport)
		})
	default:
		if !i.full {
			i.server.config.logger.WarnContext(ctx, "too many connections: further ones are closed",
				"peer", peer.RemoteAddr(), "limit", cap(i.places))
		}
		i.full = true
		_ = peer.Close() // returns no error
	}
}

// rest waits after an error, but not beyond the end of ctx.
func (i *intake) rest(ctx context.Context, err error) {
	if !i.failing {
		i.server.config.logger.WarnContext(ctx, "cannot take clients", "error", err)
	}
	i.failing = true
	ctx, cancel := context.WithTimeout(ctx, acceptPause)
	defer cancel()
	<-ctx.Done()
}

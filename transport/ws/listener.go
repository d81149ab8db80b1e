package ws

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/mux"
)

// Listener takes clients over WebSocket, at any path. A text message ends the link of its client.
type Listener struct {
	addr   string
	config listenConfig
	server *http.Server

	handshakes atomic.Int64 // under way

	peers chan transport.Peer // without room: an upgraded connection waits until it is accepted

	mu     sync.Mutex
	closed bool // guarded by mu
	done   chan struct{}
	tasks  sync.WaitGroup // the server and upgrades; added to under mu
}

var _ transport.Listener = (*Listener)(nil)

// Listen takes clients at an address such as 127.0.0.1:8092; port 0 lets the system choose one. It starts an HTTP
// server, which ends with Close.
func Listen(ctx context.Context, addr string, options ...ListenOption) (*Listener, error) {
	l := &Listener{peers: make(chan transport.Peer), done: make(chan struct{})}
	l.config.maxHandshakes = DefaultMaxHandshakes
	for _, o := range options {
		o.applyListen(&l.config)
	}
	if err := l.listen(ctx, addr); err != nil {
		return nil, &transport.Error{Op: "listen", Addr: addr, Err: err}
	}
	return l, nil
}

func (l *Listener) listen(ctx context.Context, addr string) (err error) {
	if l.config.limits, err = l.config.limits.WithDefaults(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	l.addr = listener.Addr().String()
	if l.config.tls != nil {
		listener = tls.NewListener(listener, l.config.tls)
	}
	l.server = &http.Server{
		Handler: http.HandlerFunc(l.upgrade),
		// The first byte of a connection is that of its handshake, which has the time of a request.
		ReadHeaderTimeout: l.config.limits.IdleTimeout,
		ConnState:         l.count,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // faults of strangers
	}
	l.server.SetKeepAlivesEnabled(false)                // what is no link is over with its answer
	l.tasks.Go(func() { _ = l.server.Serve(listener) }) // it returns when it is closed
	return nil
}

// count knows of connections that are no links yet, and closes those that are too many.
func (l *Listener) count(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if l.handshakes.Add(1) > int64(l.config.maxHandshakes) {
			_ = conn.Close() // the server finds out
		}
	case http.StateHijacked, http.StateClosed:
		l.handshakes.Add(-1)
	}
}

// upgrade makes a peer of an HTTP request. The connection outlives the handler.
func (l *Listener) upgrade(w http.ResponseWriter, r *http.Request) {
	if !l.begin() {
		return
	}
	defer l.tasks.Done()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // the client has its answer
	}
	link := newLink(conn)
	if l.config.wrap != nil {
		link.Conn = l.config.wrap(link.Conn)
	}
	peer := mux.Serve(link, r.RemoteAddr, l.config.limits)
	select {
	case l.peers <- peer:
	case <-l.done:
		_ = peer.Close()
	}
}

// begin adds a task, unless the listener is closed.
func (l *Listener) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.tasks.Add(1)
	}
	return !l.closed
}

// Accept returns the next client.
func (l *Listener) Accept(ctx context.Context) (transport.Peer, error) {
	select {
	case peer := <-l.peers:
		return peer, nil
	case <-ctx.Done():
		return nil, &transport.Error{Op: "accept", Addr: l.addr, Err: context.Cause(ctx)}
	case <-l.done:
		return nil, &transport.Error{Op: "accept", Addr: l.addr, Err: transport.ErrClosed}
	}
}

// Addr is the address with its port.
func (l *Listener) Addr() string { return l.addr }

// Close frees the address, and waits for handshakes under way.
func (l *Listener) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	l.mu.Unlock()
	err := l.server.Close()
	l.tasks.Wait()
	return err
}

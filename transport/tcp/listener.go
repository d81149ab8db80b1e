package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/mux"
)

// Listener takes clients over TCP or TLS.
type Listener struct {
	tcp    *net.TCPListener
	config listenConfig
	turn   chan struct{} // holds one while a connection is waited for
}

var _ transport.Listener = (*Listener)(nil)

// Listen takes clients at an address such as 127.0.0.1:8090; port 0 lets the system choose one.
func Listen(ctx context.Context, addr string, options ...ListenOption) (*Listener, error) {
	l := &Listener{turn: make(chan struct{}, 1)}
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
	l.tcp = listener.(*net.TCPListener)
	return nil
}

// Accept returns the next client. The handshake of TLS is a part of its first request, and of the time that has.
func (l *Listener) Accept(ctx context.Context) (transport.Peer, error) {
	conn, err := l.accept(ctx)
	if err != nil {
		return nil, &transport.Error{Op: "accept", Addr: l.Addr(), Err: err}
	}
	remote := conn.RemoteAddr().String()
	if l.config.tls != nil {
		conn = tls.Server(conn, l.config.tls)
	}
	if l.config.wrap != nil {
		conn = l.config.wrap(conn)
	}
	return mux.Serve(conn, remote, l.config.limits), nil
}

// accept waits for a connection. The deadline of the listener is the only way to end the wait and keep the listener, so
// that one waits at a time.
func (l *Listener) accept(ctx context.Context) (net.Conn, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.turn }()
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = l.tcp.SetDeadline(time.Unix(0, 0)) // a closed listener waits for nothing
		close(set)
	})
	conn, err := l.tcp.Accept()
	if !stop() {
		<-set
		_ = l.tcp.SetDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, net.ErrClosed):
		return nil, transport.ErrClosed
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, err
	}
}

// Addr is the address with its port.
func (l *Listener) Addr() string { return l.tcp.Addr().String() }

// Close frees the address.
func (l *Listener) Close() error {
	if err := l.tcp.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return &transport.Error{Op: "close", Addr: l.Addr(), Err: err}
	}
	return nil
}

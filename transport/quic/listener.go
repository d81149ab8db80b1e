package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// Listener takes clients over QUIC.
type Listener struct {
	quic   *quic.Listener
	sock   *sock
	config listenConfig

	closing sync.Once
}

var _ transport.Listener = (*Listener)(nil)

// Listen takes clients at an address such as 127.0.0.1:8080; port 0 lets the system choose one.
func Listen(addr string, options ...ListenOption) (*Listener, error) {
	l := &Listener{}
	for _, o := range options {
		o.applyListen(&l.config)
	}
	if err := l.listen(addr); err != nil {
		return nil, &transport.Error{Op: "listen", Addr: addr, Err: err}
	}
	return l, nil
}

func (l *Listener) listen(addr string) (err error) {
	if l.config.limits, err = l.config.limits.WithDefaults(); err != nil {
		return err
	}
	config := l.config.tls
	if config == nil {
		certificate, err := transport.SelfSigned("localhost", "127.0.0.1", "::1")
		if err != nil {
			return err
		}
		config = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	}
	config = config.Clone()
	config.NextProtos = nil // clients of Iggy offer none
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", at)
	if err != nil {
		return err
	}
	l.sock = newSock(socket)
	if l.quic, err = l.sock.Listen(config, l.config.quic()); err != nil {
		l.sock.release()
	}
	return err
}

// Accept returns the next client, behind its handshake.
func (l *Listener) Accept(ctx context.Context) (transport.Peer, error) {
	conn, err := l.quic.Accept(ctx)
	switch {
	case err == nil:
		return serve(conn, l.sock, l.config.limits), nil
	case errors.Is(err, quic.ErrServerClosed):
		err = transport.ErrClosed
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return nil, &transport.Error{Op: "accept", Addr: l.Addr(), Err: err}
}

// Addr is the address with its port.
func (l *Listener) Addr() string { return l.quic.Addr().String() }

// Close takes no more clients, and closes those that were not accepted. The address is free when every peer is closed.
func (l *Listener) Close() error {
	err := l.quic.Close()
	for {
		conn, none := l.quic.Accept(context.Background()) // does not wait any more
		if none != nil {
			break
		}
		_ = conn.CloseWithError(codeShutdown, "")
	}
	l.closing.Do(l.sock.release)
	if err != nil {
		return &transport.Error{Op: "close", Addr: l.Addr(), Err: err}
	}
	return nil
}

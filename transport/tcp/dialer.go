// Package tcp opens links to an Iggy server over TCP and TLS, and serves them. Frames follow each other on the
// connection, requests of many callers side by side.
package tcp

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/mux"
)

// Dialer opens links to one address.
type Dialer struct {
	addr   string
	config dialConfig
}

var _ transport.Dialer = (*Dialer)(nil)

// NewDialer returns a dialer for an address such as 127.0.0.1:8090 or [::1]:8090. What is wrong with the options is an
// error of Dial.
func NewDialer(addr string, options ...DialOption) *Dialer {
	d := &Dialer{addr: addr, config: dialConfig{timeout: DefaultDialTimeout}}
	for _, o := range options {
		o.applyDial(&d.config)
	}
	return d
}

// Addr is the address behind tcp://, or tls:// with [TLS].
func (d *Dialer) Addr() string {
	if d.config.tls != nil {
		return "tls://" + d.addr
	}
	return "tcp://" + d.addr
}

// Dial opens a link. It waits for the handshake of TLS, but not for a word of Iggy.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, &transport.Error{Op: "dial", Addr: d.Addr(), Err: err}
	}
	return conn, nil
}

func (d *Dialer) dial(ctx context.Context) (transport.Conn, error) {
	limits, err := d.config.limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(d.addr)
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, host)
	if err != nil {
		return nil, err
	}
	return mux.Start(conn, d.Addr(), limits), nil
}

// connect returns a connection, with TLS over it if that is asked for.
func (d *Dialer) connect(ctx context.Context, host string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetNoDelay(d.config.noDelay)
	}
	if err == nil && d.config.tls != nil {
		conn, err = shakeHands(ctx, conn, *d.config.tls, host)
	}
	if err != nil {
		_ = conn.Close() // the handshake has the error that counts
		return nil, err
	}
	return conn, nil
}

// shakeHands returns the connection with TLS over it, also with an error.
func shakeHands(ctx context.Context, conn net.Conn, set transport.TLS, host string) (net.Conn, error) {
	config, err := set.Config(host)
	if err != nil {
		return conn, err
	}
	over := tls.Client(conn, config)
	if err := over.HandshakeContext(ctx); err != nil {
		return over, fmt.Errorf("TLS: %w", err)
	}
	return over, nil
}

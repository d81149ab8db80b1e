// Package quic opens links to an Iggy server over QUIC, and serves them. Each request has a stream of its own, whose two
// directions carry the request and the reply; no ALPN is used.
//
// A server says how many streams a client may have open. Where that is one, as Iggy servers have it unless told
// otherwise, the requests of a link wait for each other, and a posted frame waits for the request that it is to cancel:
// the end of the context of that request, which resets its stream, cancels it too.
package quic

import (
	"context"
	"net"

	"github.com/runnel-go/runnel/transport"
)

// Dialer opens links to one address.
type Dialer struct {
	addr   string
	config dialConfig
}

var _ transport.Dialer = (*Dialer)(nil)

// NewDialer returns a dialer for an address such as 127.0.0.1:8080 or [::1]:8080. What is wrong with the options is an
// error of Dial. Without [TLS] any certificate is taken.
func NewDialer(addr string, options ...DialOption) *Dialer {
	d := &Dialer{addr: addr, config: defaultDialConfig()}
	for _, o := range options {
		o.applyDial(&d.config)
	}
	return d
}

// Addr is the address behind quic://.
func (d *Dialer) Addr() string { return "quic://" + d.addr }

// Dial opens a link, which has a UDP socket of its own.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, &transport.Error{Op: "dial", Addr: d.Addr(), Err: err}
	}
	return conn, nil
}

func (d *Dialer) dial(ctx context.Context) (*Conn, error) {
	limits, err := d.config.limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(d.addr)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := d.config.tls.Config(host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.timeout)
	defer cancel()
	to, err := resolve(ctx, d.addr)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	s := newSock(socket)
	conn, err := s.Dial(ctx, to, tlsConfig, d.config.quic())
	if err != nil {
		s.release()
		return nil, err
	}
	return start(conn, s, d.Addr(), limits), nil
}

// resolve looks an address up. To connect a UDP socket is the way to do so that knows of contexts and of which of many
// addresses can be reached; it sends nothing.
func resolve(ctx context.Context, addr string) (net.Addr, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.RemoteAddr(), nil
}

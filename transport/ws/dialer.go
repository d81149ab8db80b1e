// Package ws opens links to an Iggy server over WebSocket, and serves them. A frame is written as one binary message.
// What is read may be cut into messages in any way: it is taken as a stream of bytes.
package ws

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/mux"
)

// Dialer opens links to one address.
type Dialer struct {
	addr   string
	config dialConfig
}

var _ transport.Dialer = (*Dialer)(nil)

// NewDialer returns a dialer for an address such as 127.0.0.1:8092 or [::1]:8092. What is wrong with the options is an
// error of Dial.
func NewDialer(addr string, options ...DialOption) *Dialer {
	d := &Dialer{addr: addr, config: dialConfig{timeout: DefaultDialTimeout}}
	for _, o := range options {
		o.applyDial(&d.config)
	}
	return d
}

// Addr is the URL: the address behind ws://, or wss:// with [TLS].
func (d *Dialer) Addr() string {
	if d.config.tls != nil {
		return "wss://" + d.addr + "/"
	}
	return "ws://" + d.addr + "/"
}

// Dial opens a link.
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
	upgrade := &http.Transport{DisableKeepAlives: true} // its one connection is the link's
	if d.config.tls != nil {
		if upgrade.TLSClientConfig, err = d.config.tls.Config(host); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.timeout)
	defer cancel()
	client := &http.Client{Transport: upgrade, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the address is the user's choice
	}}
	conn, response, err := websocket.Dial(ctx, d.Addr(), &websocket.DialOptions{HTTPClient: client})
	if response != nil && response.Body != nil {
		_ = response.Body.Close() // there is none behind an upgrade
	}
	if err != nil {
		return nil, err
	}
	return mux.Start(newLink(conn), d.Addr(), limits), nil
}

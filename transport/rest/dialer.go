// Package rest opens links to an Iggy server over its HTTP interface, and serves that. To both sides it is one more
// transport of frames: a client hands over a request as over TCP, which is translated to an HTTP request, and what the
// server answers comes back as the reply to the frame. A server gets HTTP requests as frames, and answers with frames.
// (Iggy binary protocol 0.12, HTTP interface.)
//
// What HTTP cannot say gets code 5: groups, idempotent producers, cancels, reads from several partitions at once. Names of
// digits cannot be told from numbers there, and get code 6. Timestamps of messages are those of the server, and checksums
// of messages that were read are made anew. There are no sessions: see [transport.Sessionless].
//
// Where to look: table.go has the row of each command, which both sides read; route.go says what a row is, call.go how one
// layout is written and read, and layout_*.go what a row says of path, query and body. conn.go, command.go, exchange.go and
// identity.go are the client: a link, a frame made a request, the rules for retries, and who is logged in; special.go has the
// commands that are no row, raw.go requests that are no command. handler.go, respond.go and listener.go are the server.
// status.go knows what a status means.
package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/transport"
)

// Dialer opens links to one address.
type Dialer struct {
	addr   string
	config dialConfig
}

var (
	_ transport.Dialer      = (*Dialer)(nil)
	_ transport.Sessionless = (*Dialer)(nil)
)

// NewDialer returns a dialer for an address such as 127.0.0.1:3000 or [::1]:3000. What is wrong with the options is an
// error of Dial. Proxies that the environment names are not used.
func NewDialer(addr string, options ...DialOption) *Dialer {
	d := &Dialer{addr: addr, config: dialConfig{timeout: DefaultDialTimeout, retries: DefaultRetries, clock: wallclock.Clock{}}}
	for _, o := range options {
		o.applyDial(&d.config)
	}
	return d
}

// Addr is the address behind http://, or https:// with [TLS].
func (d *Dialer) Addr() string {
	if d.config.tls != nil {
		return "https://" + d.addr
	}
	return "http://" + d.addr
}

// Sessionless says that the links have no sessions.
func (*Dialer) Sessionless() bool { return true }

// Dial opens a link: it asks the server whether it is there. Its links are a [transport.HTTPConn].
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
	var config *tls.Config
	if d.config.tls != nil {
		if config, err = d.config.tls.Config(host); err != nil {
			return nil, err
		}
	}
	c := newConn(d, limits, config)
	ctx, cancel := context.WithTimeout(ctx, d.config.timeout)
	defer cancel()
	if err := c.ping(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Bounds of what an answer has besides its body.
const (
	maxAnswerHeader = 64 << 10
	maxRedirects    = 3
)

// newClient returns what makes the requests of a link. It has connections of its own, so that their end is that of the
// link.
func newClient(d *Dialer, limits transport.Limits, config *tls.Config) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: d.config.timeout}).DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    d.config.timeout,
			MaxIdleConnsPerHost:    limits.MaxInFlight,
			IdleConnTimeout:        limits.IdleTimeout / 2, // before the server closes it under a request
			MaxResponseHeaderBytes: maxAnswerHeader,
			DisableCompression:     true, // the length that counts is that of what was sent
			Protocols:              protocols,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect follows a server that says "ask there" on the same host. Credentials and messages go to nobody else, and
// the answer that asked for it is the answer then.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case next.Response == nil || next.Response.StatusCode != http.StatusTemporaryRedirect,
		next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme || next.URL.User != nil:
		return http.ErrUseLastResponse
	case len(before) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", transport.ErrProtocol, maxRedirects)
	}
	return nil
}

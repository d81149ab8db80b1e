package client

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// maxReconnectPause bounds the pause before a link is dialled again.
const maxReconnectPause = 10 * time.Second

// runLoop keeps the client connected until the run is cancelled or there is no use in it.
func (c *Client) runLoop(ctx context.Context, r *run) {
	c.endRun(r, c.keepConnected(ctx, r))
}

// keepConnected returns why it gave up.
func (c *Client) keepConnected(ctx context.Context, r *run) error {
	for attempt := 0; ; attempt++ {
		l, err := c.sweep(ctx)
		if err == nil {
			if !r.wasReady() {
				close(r.ready)
			}
			var lived time.Duration
			lived, err = c.watch(ctx, l)
			if lived >= c.config.reestablishAfter {
				attempt = 0
			}
			c.config.logger.Info("iggy: link lost", "addr", l.addr, "err", err)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isFatal(err, r.wasReady()), c.config.retries != Unlimited && attempt >= c.config.retries:
			return err
		case !sleep(ctx, c.config.jitter(reconnectPause(c.config.interval, attempt))):
			return context.Cause(ctx)
		}
	}
}

// reconnectPause bounds the pause before an attempt, the first of which is 0.
func reconnectPause(interval time.Duration, attempt int) time.Duration {
	for range attempt {
		if interval >= maxReconnectPause {
			break
		}
		interval *= 2
	}
	return min(interval, maxReconnectPause)
}

// isFatal says whether it is of no use to dial again: the server wants another version, or, before there was any link, other
// credentials or another certificate. Later on the client goes on without a login, so that a new one can be made.
func isFatal(err error, wasReady bool) bool {
	var window *VersionError
	return errors.As(err, &window) || !wasReady && (isRejection(CodeOf(err)) || isUntrusted(err))
}

// isUntrusted says whether a server could not be verified, or what it takes to do so is not there.
func isUntrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, transport.ErrTLS)
}

// sweep tries every address once, the configured one first.
func (c *Client) sweep(ctx context.Context) (*link, error) {
	var first error
	for _, d := range c.dialers() {
		l, err := c.establish(ctx, d)
		if err == nil {
			return l, nil
		}
		c.config.logger.Warn("iggy: no link", "addr", d.Addr(), "err", err)
		if first == nil || isFatal(err, false) {
			first = err
		}
		if isFatal(err, false) || ctx.Err() != nil {
			break
		}
	}
	c.setTrouble(ctx, first)
	return nil, first
}

// setTrouble remembers why there is no link, unless that is only because nobody wants one any more.
func (c *Client) setTrouble(ctx context.Context, err error) {
	var dial *Error
	if errors.As(err, &dial) && dial.Code == wire.CodeCannotEstablishConnection && dial.Err != nil {
		err = dial.Err // who waits has this code around it, or another that fits better
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.trouble = err
	}
}

// establish returns a link over which calls can be made. A server that wants another version that is spoken gets it.
func (c *Client) establish(ctx context.Context, d transport.Dialer) (*link, error) {
	for {
		l, err := c.dial(ctx, d)
		var window *VersionError
		if err == nil || !errors.As(err, &window) || !c.adopt(d.Addr(), window) {
			return l, err
		}
	}
}

func (c *Client) dial(ctx context.Context, d transport.Dialer) (*link, error) {
	conn, err := d.Dial(ctx)
	if err != nil {
		return nil, &Error{Code: wire.CodeCannotEstablishConnection, Call: "connect", Addr: d.Addr(), Err: err}
	}
	l, err := c.enter(ctx, &link{conn: conn, addr: d.Addr()})
	if err != nil {
		_ = conn.Close() // there is an error already
		return nil, err
	}
	return l, nil
}

// enter makes a new link one that calls can use: it carries the session over to it, or begins one, and joins the groups
// again, before any call is sent.
func (c *Client) enter(ctx context.Context, l *link) (*link, error) {
	if err := c.lockSigning(ctx); err != nil {
		return nil, &Error{Code: wire.CodeNotConnected, Call: "connect", Addr: l.addr, Err: err}
	}
	defer c.unlockSigning()
	s, err := c.signIn(ctx, l)
	if err != nil {
		return nil, err
	}
	l = &link{conn: l.conn, addr: l.addr, session: s}
	if err := c.prepare(ctx, l); err != nil {
		return nil, err
	}
	c.publish(l)
	return l, nil
}

// signIn returns the session of a new link, or nil if nobody can be logged in.
func (c *Client) signIn(ctx context.Context, l *link) (*session, error) {
	s, who := c.identity()
	if s == nil && who == nil {
		return c.anonymous(), nil
	}
	c.move(Authenticating)
	if s != nil && !c.sessionless {
		bound, err := c.bind(ctx, l, s)
		if err == nil {
			c.setSession(bound)
			return bound, nil
		}
		if !sessionLost(err) {
			return nil, err
		}
		c.config.logger.Info("iggy: session lost", "addr", l.addr)
		c.setSession(nil)
		if l.conn.Err() != nil {
			return nil, err // the next link begins without a session
		}
	}
	if who == nil {
		return c.anonymous(), nil
	}
	return c.register(ctx, l, who)
}

// anonymous stands for who is not logged in: over HTTP requests may be sent even so, and the server decides.
func (c *Client) anonymous() *session {
	if !c.sessionless {
		return nil
	}
	return &session{client: random128(), number: sessionlessNumber, anonymous: true}
}

// prepare does what comes behind a login and before any call.
func (c *Client) prepare(ctx context.Context, l *link) error {
	if l.session == nil || !l.session.fresh || c.sessionless {
		return nil
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.readRoster(ctx, l); err != nil {
		return err
	}
	if err := c.rejoin(ctx, l); err != nil {
		return err
	}
	l.session.fresh = false
	return nil
}

// watch pings a link until it has ended, and returns how long it lived and why it ended.
func (c *Client) watch(ctx context.Context, l *link) (time.Duration, error) {
	since := time.Now()
	beat := time.NewTicker(c.config.heartbeat)
	defer beat.Stop()
	defer c.drop(l)
	others := nodes{client: c, kept: map[uint8]bool{}}
	defer others.tasks.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errNoSession)
	for {
		others.tend(ctx, l)
		select {
		case <-ctx.Done():
			return time.Since(since), context.Cause(ctx)
		case <-l.conn.Done():
			return time.Since(since), linkError("connect", l.addr, l.conn.Err())
		case <-beat.C:
		}
		if err := c.beat(ctx, l.conn); err != nil {
			return time.Since(since), err
		}
	}
}

// beat is one heartbeat: who is logged in on the link may have changed.
func (c *Client) beat(ctx context.Context, conn transport.Conn) error {
	if c.sessionless {
		return nil
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil || l.conn != conn {
		return nil // somebody logs in, or the link is being dropped
	}
	err := c.pingWithin(ctx, l)
	if CodeOf(err) == wire.CodeUnauthenticated && l.session == nil {
		return nil // an answer is a sign of life
	}
	return err
}

// pingWithin is a ping with the time that a heartbeat has.
func (c *Client) pingWithin(ctx context.Context, l *link) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.heartbeat, ErrDeadline)
	defer cancel()
	return c.ping(ctx, l)
}

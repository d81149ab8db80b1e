package client

import (
	"cmp"
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// State is how a client is.
type State uint8

// The states.
const (
	Disconnected   State = iota // no link, and none is dialled
	Connecting                  // a link is dialled
	Connected                   // there is a link, and nobody is logged in
	Authenticating              // a session begins, or is bound to a new link
	Authenticated               // calls can be sent
	ShutDown                    // for ever
)

// String returns the state in words.
func (s State) String() string {
	names := [...]string{"disconnected", "connecting", "connected", "authenticating", "authenticated", "shut down"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// link is one connection, and who is logged in on it. It does not change.
type link struct {
	conn    transport.Conn
	addr    string
	session *session // nil if nobody is logged in
}

func (l *link) loggedIn() bool { return l.session != nil && !l.session.anonymous }

// State returns how the client is right now.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// setState goes to a state and tells who waits and who listens, under mu.
func (c *Client) setState(s State) {
	from := c.state
	if from == ShutDown {
		return
	}
	c.state = s
	close(c.changed)
	c.changed = make(chan struct{})
	if from != s {
		c.events.change(s)
	}
}

// move is setState with mu, for a run that goes on, and for the end.
func (c *Client) move(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil || s == ShutDown {
		c.setState(s)
	}
}

// publish makes a link the one that calls use.
func (c *Client) publish(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == ShutDown || c.run == nil {
		return
	}
	c.link, c.trouble = l, nil
	if l.loggedIn() {
		c.setState(Authenticated)
	} else {
		c.setState(Connected)
	}
}

// drop takes a link away from calls, so that they wait for the next one, and ends it.
func (c *Client) drop(l *link) {
	c.mu.Lock()
	if c.link != nil && c.link.conn == l.conn {
		c.link = nil
		c.setState(Connecting)
	}
	c.mu.Unlock()
	_ = l.conn.Close() // why it ended is known
}

// begin returns which login a call that begins now belongs to.
func (c *Client) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lineage
}

// await returns the link for a call, and waits for one that is on its way. A call dials nothing itself.
func (c *Client) await(ctx context.Context, call string, lineage uint64) (*link, error) {
	for {
		l, changed, err := c.present(call, lineage)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, &Error{Code: wire.CodeNotConnected, Call: call, Err: c.whyNoLink(ctx)}
		}
	}
}

// whyNoLink returns why a wait for a link has ended, and why there is none.
func (c *Client) whyNoLink(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trouble == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w; the last attempt: %w", context.Cause(ctx), c.trouble)
}

// present returns the link, or why there will be none, or what to wait for.
func (c *Client) present(call string, lineage uint64) (*link, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fail := func(code wire.Code, cause error) (*link, <-chan struct{}, error) {
		return nil, nil, &Error{Code: code, Call: call, Err: cause}
	}
	switch {
	case c.state == ShutDown:
		return fail(wire.CodeClientShutdown, nil)
	case c.lineage != lineage:
		return fail(wire.CodeUnauthenticated, ErrOtherLogin)
	case c.run == nil:
		return fail(wire.CodeNotConnected, cmp.Or(c.down, ErrNotConnected))
	case c.link == nil:
		return nil, c.changed, nil
	case c.link.session == nil:
		return fail(wire.CodeUnauthenticated, c.unauthenticated())
	}
	return c.link, nil, nil
}

// unauthenticated says why nobody is logged in, under mu.
func (c *Client) unauthenticated() error {
	if c.refused != nil {
		return c.refused
	}
	return ErrNoCredentials
}

package client

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// Login logs in with the name of a user and a password; the client has to be connected, or about to be. Who was logged in
// is logged out first; calls of theirs that were not sent fail with [wire.CodeUnauthenticated]. The login is used again when
// the server has lost the session, until [Client.Disconnect]. Wrong credentials are [wire.CodeInvalidCredentials]; the client
// is not logged in then.
func (c *Client) Login(ctx context.Context, username, password string) error {
	return c.loginAs(ctx, &credentials{username: username, password: password})
}

// LoginWithToken is [Client.Login] with a personal access token.
func (c *Client) LoginWithToken(ctx context.Context, token string) error {
	return c.loginAs(ctx, &credentials{token: token})
}

// Logout ends the session. The client stays connected. The server has forgotten the memberships in groups then.
func (c *Client) Logout(ctx context.Context) error {
	return c.loginAs(ctx, nil)
}

// loginAs makes the client one of another user, or of nobody.
func (c *Client) loginAs(ctx context.Context, who *credentials) error {
	const call = "login"
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.lockSigning(ctx); err != nil {
		return &Error{Code: wire.CodeNotConnected, Call: call, Err: err}
	}
	l, lineage, err := c.changeLogin(ctx, call, who)
	c.unlockSigning()
	if err != nil {
		return err
	}
	if l == nil || l.session == nil && who != nil {
		return c.awaitLogin(ctx, call, lineage, who)
	}
	return nil
}

// changeLogin logs out and in on the present link, for who holds signing. It returns the link as it is then, or nil if there
// is none, or it was lost: the next one is logged in on from the start.
func (c *Client) changeLogin(ctx context.Context, call string, who *credentials) (*link, uint64, error) {
	c.mu.Lock()
	if c.state == ShutDown || c.run == nil {
		code := wire.CodeNotConnected
		if c.state == ShutDown {
			code = wire.CodeClientShutdown
		}
		c.mu.Unlock()
		return nil, 0, &Error{Code: code, Call: call}
	}
	l := c.link
	c.lineage++
	lineage := c.lineage
	c.credentials, c.refused, c.link = who, nil, nil
	c.mu.Unlock()
	if l != nil && l.loggedIn() {
		_ = c.logout(ctx, l) // a server that does not know the session has ended it
	}
	c.setSession(nil)
	c.groups.clear()
	if l == nil {
		return nil, lineage, nil
	}
	c.move(Connected)
	l, err := c.loginOn(ctx, l, who)
	return l, lineage, err
}

// loginOn begins a session on a live link and makes it the one of calls.
func (c *Client) loginOn(ctx context.Context, l *link, who *credentials) (*link, error) {
	l = &link{conn: l.conn, addr: l.addr, session: c.anonymous()}
	if who != nil {
		c.move(Authenticating)
		s, err := c.register(ctx, l, who)
		if CodeOf(err) == wire.CodeDisconnected {
			c.end(l)
			return nil, nil // the next link finds out what became of it
		}
		if err != nil {
			c.afterRefusal(l)
			return nil, err
		}
		l.session = s
		if err := c.prepare(ctx, l); err != nil {
			c.end(l)
			return nil, nil //nolint:nilerr // the next link does it
		}
	}
	c.publish(l)
	return l, nil
}

// afterRefusal lets the link go on without a login, if it lives.
func (c *Client) afterRefusal(l *link) {
	if l.conn.Err() != nil {
		c.end(l)
		return
	}
	c.publish(&link{conn: l.conn, addr: l.addr, session: c.anonymous()})
}

// end closes a link that is not the one of calls any more.
func (c *Client) end(l *link) {
	c.move(Connecting)
	_ = l.conn.Close() // why it ended is known
}

// awaitLogin waits until the next link is logged in on, or the credentials are refused there.
func (c *Client) awaitLogin(ctx context.Context, call string, lineage uint64, who *credentials) error {
	_, err := c.await(ctx, call, lineage)
	if who == nil && CodeOf(err) == wire.CodeUnauthenticated {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.lineage == lineage && c.refused != nil {
		return c.refused
	}
	return err
}

// logout ends a session on its link.
func (c *Client) logout(ctx context.Context, l *link) error {
	h := c.header(l, wire.CmdLogout)
	h.Checksum = random128()
	_, err := c.control(ctx, l, wire.CmdLogout, h, nil)
	return err
}

// anyLink waits for a link, whether somebody is logged in on it or not.
func (c *Client) anyLink(ctx context.Context) (*link, error) {
	const call = "ping"
	for {
		c.mu.Lock()
		l, changed := c.link, c.changed
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		if _, _, err := c.present(call, c.begin()); err != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, &Error{Code: wire.CodeNotConnected, Call: call, Err: c.whyNoLink(ctx)}
		}
	}
}

package client

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// SignIn makes the client ready for any call: it is [Client.Connect], and over HTTP, where that logs nobody in, also a login
// with the credentials of [Password] or [Token]. A client that is logged in already stays as it is, whoever that is, so that
// several may call SignIn. If nobody is logged in at the end the error is [wire.CodeUnauthenticated] with the reason:
// [ErrNoCredentials], or what the server said when it refused them. It is not asked again then; [Client.Login] does that.
func (c *Client) SignIn(ctx context.Context) error {
	const call = "sign in"
	if err := c.Connect(ctx); err != nil {
		return err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.loginOverHTTP(ctx, call); err != nil {
		return err
	}
	l, err := c.await(ctx, call, c.begin())
	if err != nil || l.loggedIn() {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Error{Code: wire.CodeUnauthenticated, Call: call, Addr: l.addr, Err: c.unauthenticated()}
}

// loginOverHTTP logs in where Connect does not, once, with credentials that were not refused.
func (c *Client) loginOverHTTP(ctx context.Context, call string) error {
	if !c.sessionless {
		return nil
	}
	if err := c.lockSigning(ctx); err != nil {
		return &Error{Code: wire.CodeNotConnected, Call: call, Err: err}
	}
	defer c.unlockSigning()
	c.mu.Lock()
	wanted := c.state != Authenticated && c.config.credentials != nil && c.refused == nil
	c.mu.Unlock()
	if !wanted {
		return nil
	}
	_, _, err := c.changeLogin(ctx, call, c.config.credentials)
	return err
}

package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// goodbyeTime is how long a log-out may take when a client leaves: it is a courtesy.
const goodbyeTime = 2 * time.Second

// run is the time from Connect to Disconnect.
type run struct {
	cancel context.CancelCauseFunc
	ready  chan struct{} // closed when there was a link
	done   chan struct{} // closed when its goroutine has ended
	err    error         // why it ended; set before done is closed
}

// wasReady says whether there was a link.
func (r *run) wasReady() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// Connect dials, logs in if there are credentials, and keeps the client connected until [Client.Disconnect] or
// [Client.Shutdown]. It returns when calls can be made; a client that is connected returns at once. A server that is away is
// waited for, as [Reconnect] says: without a bound there, ctx has to end it. Credentials and versions that are refused are an
// error at once. After an error the client is disconnected.
func (c *Client) Connect(ctx context.Context) error {
	r, began, err := c.startRun()
	if err != nil {
		return err
	}
	select {
	case <-r.ready:
		return nil
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	err = &Error{Code: wire.CodeCannotEstablishConnection, Call: "connect", Addr: c.Addr(), Err: c.whyNoLink(ctx)}
	if began && !r.wasReady() {
		r.cancel(err)
		<-r.done
	}
	return err
}

// startRun returns the run, and whether it began just now.
func (c *Client) startRun() (r *run, began bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == ShutDown {
		return nil, false, &Error{Code: wire.CodeClientShutdown, Call: "connect"}
	}
	if c.run != nil {
		return c.run, false, nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c.run = &run{cancel: cancel, ready: make(chan struct{}), done: make(chan struct{})}
	r = c.run
	c.setState(Connecting)
	c.tasks.Go(func() { c.runLoop(ctx, r) })
	return r, true, nil
}

// endRun is what a run does last.
func (c *Client) endRun(r *run, why error) {
	c.mu.Lock()
	c.run, c.link, c.down = nil, nil, why
	c.setState(Disconnected)
	c.mu.Unlock()
	r.err = why
	r.cancel(why)
	close(r.done)
}

// Disconnect logs out, closes the links and forgets a login that was not an option. The client stays usable: nothing is
// dialled until [Client.Connect]. Calls that were not sent fail with [wire.CodeUnauthenticated]. Over HTTP it has no effect.
// ctx bounds the log-out; it is no error if that fails.
func (c *Client) Disconnect(ctx context.Context) error {
	if c.State() == ShutDown {
		return &Error{Code: wire.CodeClientShutdown, Call: "disconnect"}
	}
	if c.sessionless {
		return nil
	}
	c.leave(ctx, &Error{Code: wire.CodeNotConnected, Call: "disconnect", Err: ErrNotConnected})
	return nil
}

// Shutdown is [Client.Disconnect] for ever: it ends all calls, and later ones fail with [wire.CodeClientShutdown]. Nothing
// of the client is left when it returns. It may be called more than once.
func (c *Client) Shutdown(ctx context.Context) error {
	c.move(ShutDown) // no run begins any more
	c.leave(ctx, &Error{Code: wire.CodeClientShutdown, Call: "shutdown"})
	c.tasks.Wait()
	return nil
}

// leave ends the run and the session.
func (c *Client) leave(ctx context.Context, why error) {
	ctx, cancel := context.WithTimeout(ctx, goodbyeTime)
	defer cancel()
	c.mu.Lock()
	l, r := c.link, c.run
	c.lineage++
	c.credentials = c.config.credentials
	if c.refused != nil || c.sessionless {
		c.credentials = nil
	}
	c.mu.Unlock()
	if l != nil && l.loggedIn() {
		_ = c.logout(ctx, l) // the server finds out later
	}
	if r != nil {
		r.cancel(why)
		<-r.done
	}
	c.setSession(nil)
	c.groups.clear()
}

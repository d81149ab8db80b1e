package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/ending"
	"github.com/runnel-go/runnel/transport/wire"
)

// ErrUnavailable is the cause when a link is asked for something that there is not over HTTP.
var ErrUnavailable = errors.New("not available over HTTP")

// Conn is a link: the connections to one server, and who is logged in there. It ends with [Conn.Close], or when no
// connection can be made for a request any more, nor for its repeats. A connection that is cut is only that of a request.
type Conn struct {
	base   string // scheme, host and port
	config dialConfig
	limits transport.Limits
	client *http.Client
	who    *identity

	places chan struct{} // holds one for each request at work
	ending *ending.Ending

	mu    sync.Mutex
	calls map[*http.Request]context.CancelCauseFunc // of what is at work; nil after the end; guarded by mu
	tasks sync.WaitGroup                            // those calls; added to under mu
}

var (
	_ transport.HTTPConn    = (*Conn)(nil)
	_ transport.Sessionless = (*Conn)(nil)
)

func newConn(d *Dialer, limits transport.Limits, config *tls.Config) *Conn {
	return &Conn{
		base:   d.Addr(),
		config: d.config,
		limits: limits,
		client: newClient(d, limits, config),
		who:    newIdentity(),
		places: make(chan struct{}, limits.MaxInFlight),
		ending: ending.New(),
		calls:  map[*http.Request]context.CancelCauseFunc{},
	}
}

// Do translates a request, makes it and translates the answer. What the server refuses is the status of the reply. An
// error that is not [transport.Unsent] says that a write may have been carried out.
func (c *Conn) Do(ctx context.Context, request transport.Frame) (transport.Frame, error) {
	if err := c.check(ctx, request); err != nil {
		return nil, c.fail("request", true, err)
	}
	if err := c.ending.Take(ctx, c.places); err != nil {
		return nil, c.fail("request", true, err)
	}
	defer func() { <-c.places }()
	header, body, err := wire.DecodeRequest(request)
	if err != nil {
		return nil, c.fail("request", true, err)
	}
	reply, err := c.answer(ctx, &header, body)
	if err != nil {
		return nil, c.explain(err)
	}
	return reply, nil
}

func (c *Conn) check(ctx context.Context, request transport.Frame) error {
	if err := c.ending.Err(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return transport.CheckRequest(request, c.limits)
}

// Post refuses: what needs no answer is a cancel, and the end of the context of [Conn.Do] is that over HTTP.
func (c *Conn) Post(context.Context, transport.Frame) error {
	return c.fail("post", true, ErrUnavailable)
}

// Sessionless says that the link has no session.
func (*Conn) Sessionless() bool { return true }

// Close ends every request and closes the connections. The server is not told: a log-out is a request.
func (c *Conn) Close() error {
	c.end(transport.ErrClosed)
	c.tasks.Wait()
	c.client.CloseIdleConnections()
	c.who.forget()
	return nil
}

// end ends the link and every request.
func (c *Conn) end(why error) {
	c.ending.End(why, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, cancel := range c.calls {
			cancel(why)
		}
		c.calls = nil
	})
}

// Done is closed when the link has ended.
func (c *Conn) Done() <-chan struct{} { return c.ending.Done() }

// Err is [transport.ErrClosed] or [transport.ErrLost] when the link has ended.
func (c *Conn) Err() error { return c.ending.Err() }

// begin notes a call, which the end of the link ends. The function that it returns has to be called.
func (c *Conn) begin(request *http.Request, cancel context.CancelCauseFunc) (end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		return nil, c.ending.Err()
	}
	c.calls[request] = cancel
	c.tasks.Add(1)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, request)
		c.tasks.Done()
	}, nil
}

// fault is why a request has no answer.
type fault struct {
	unsent bool // surely not carried out
	nobody bool // there was no connection to be had
	err    error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// explain makes the error of a request.
func (c *Conn) explain(err error) error {
	var f *fault
	if errors.As(err, &f) {
		return c.fail("request", f.unsent, f.err)
	}
	return c.fail("request", false, err)
}

func (c *Conn) fail(op string, unsent bool, err error) error {
	return &transport.Error{Op: op, Addr: c.base, Unsent: unsent, Err: err}
}

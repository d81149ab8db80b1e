package mux

import (
	"context"
	"errors"
	"sync"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/ending"
)

// writeQueue is how many frames wait to be written to a link at most. It is short, as a request that waits in it has its
// time limit running.
const writeQueue = 32

// Client is a [transport.Conn] over a link.
type Client struct {
	link   Link
	addr   string
	limits transport.Limits

	slots    chan struct{} // holds one for each request under way
	unbound  chan struct{} // holds one while the number 0 is in use
	outgoing chan *outgoing
	table    table
	room     transport.Room // of replies

	ending *ending.Ending
	tasks  sync.WaitGroup
}

var (
	_ transport.Conn     = (*Client)(nil)
	_ transport.Recycler = (*Client)(nil)
)

// Start runs requests over a link, which is the client's from now on. addr names it in errors; limits have their
// defaults. The two goroutines of the client end when the link does.
func Start(link Link, addr string, limits transport.Limits) *Client {
	c := &Client{
		link:     link,
		addr:     addr,
		limits:   limits,
		slots:    make(chan struct{}, limits.MaxInFlight),
		unbound:  make(chan struct{}, 1),
		outgoing: make(chan *outgoing, writeQueue),
		table:    table{waiting: make(map[uint64]*call)},
		ending:   ending.New(),
	}
	c.tasks.Go(c.readLoop)
	c.tasks.Go(c.writeLoop)
	return c
}

// Recycle takes the memory of a reply that nobody looks at any more.
func (c *Client) Recycle(reply transport.Frame) { c.room.Recycle(reply) }

// Do sends a request and waits for its reply.
func (c *Client) Do(ctx context.Context, request transport.Frame) (transport.Frame, error) {
	reply, unsent, err := c.do(ctx, request)
	if err != nil {
		return nil, &transport.Error{Op: "request", Addr: c.addr, Unsent: unsent, Err: err}
	}
	return reply, nil
}

func (c *Client) do(ctx context.Context, request transport.Frame) (reply transport.Frame, unsent bool, err error) {
	if err := transport.CheckRequest(request, c.limits); err != nil {
		return nil, true, err
	}
	if err := c.ending.Take(ctx, c.slots); err != nil {
		return nil, true, err
	}
	defer func() { <-c.slots }()
	id := request.RequestID()
	if id == 0 {
		if err := c.ending.Take(ctx, c.unbound); err != nil {
			return nil, true, err
		}
	}
	call := newCall(id)
	if !c.table.add(call) {
		return nil, true, transport.ErrInFlight
	}
	out := &outgoing{frame: request}
	reply, err = c.ask(ctx, call, out)
	if err == nil {
		out.unused()
		return reply, false, nil
	}
	unsent = out.withdraw()
	if c.table.leave(call, unsent) {
		c.freeUnbound(call)
	}
	return nil, unsent, err
}

// ask hands the request to the writer and waits for the reply.
func (c *Client) ask(ctx context.Context, call *call, out *outgoing) (transport.Frame, error) {
	select {
	case c.outgoing <- out:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ending.Done():
		return nil, c.ending.Err()
	}
	select {
	case reply := <-call.reply:
		return reply, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ending.Done():
		return c.lastReply(call)
	}
}

// lastReply returns a reply that came before the link ended.
func (c *Client) lastReply(call *call) (transport.Frame, error) {
	select {
	case reply := <-call.reply:
		return reply, nil
	default:
		return nil, c.ending.Err()
	}
}

// Post sends a frame and waits until it is written.
func (c *Client) Post(ctx context.Context, request transport.Frame) error {
	unsent, err := c.post(ctx, request)
	if err != nil {
		return &transport.Error{Op: "post", Addr: c.addr, Unsent: unsent, Err: err}
	}
	return nil
}

func (c *Client) post(ctx context.Context, request transport.Frame) (unsent bool, err error) {
	if err := transport.CheckRequest(request, c.limits); err != nil {
		return true, err
	}
	out := &outgoing{frame: request, written: make(chan struct{})}
	select {
	case c.outgoing <- out:
	case <-ctx.Done():
		return true, context.Cause(ctx)
	case <-c.ending.Done():
		return true, c.ending.Err()
	}
	select {
	case <-out.written:
		return false, nil
	case <-ctx.Done():
		return out.withdraw(), context.Cause(ctx)
	case <-c.ending.Done():
		return out.withdraw(), c.ending.Err()
	}
}

// freeUnbound gives the number 0 to the next request, if it was this call's.
func (c *Client) freeUnbound(call *call) {
	if call.id == 0 {
		<-c.unbound
	}
}

// readLoop hands replies to those who wait for them, and drops those that nobody waits for.
func (c *Client) readLoop() {
	frames := newReader(c.link, c.limits.MaxReplyBytes, "MaxReplyBytes", 0, c.limits.FrameTimeout, &c.room)
	for {
		frame, err := frames.next()
		if err == nil {
			err = transport.CheckReply(frame)
		}
		if err != nil {
			c.end(err)
			return
		}
		if call := c.table.answer(frame); call != nil {
			c.freeUnbound(call)
		}
	}
}

// writeLoop writes frames in the order of their calls. What is queued when the link ends stays unsent.
func (c *Client) writeLoop() {
	for c.Err() == nil {
		select {
		case out := <-c.outgoing:
			c.write(out)
		case <-c.ending.Done():
			return
		}
	}
}

// write writes a frame, unless its caller has given up. A link with half a frame on it is of no use.
func (c *Client) write(out *outgoing) {
	out.writing.Lock()
	defer out.writing.Unlock()
	if !out.begin() {
		return
	}
	if err := writeFrame(c.link, out.frame, c.limits.FrameTimeout); err != nil {
		c.end(err)
		return
	}
	if out.written != nil {
		close(out.written)
	}
}

// end ends the link and every wait, for a reason. The first one counts.
func (c *Client) end(reason error) {
	c.ending.End(reason, func() {
		if link, ok := c.link.(Goodbyer); ok && errors.Is(reason, transport.ErrClosed) {
			link.Goodbye()
		}
		_ = c.link.Close() // the reason is known already
	})
}

// Close ends the link and waits for both loops.
func (c *Client) Close() error {
	c.end(transport.ErrClosed)
	c.tasks.Wait()
	return nil
}

// Done is closed when the link has ended.
func (c *Client) Done() <-chan struct{} { return c.ending.Done() }

// Err says why the link ended.
func (c *Client) Err() error { return c.ending.Err() }

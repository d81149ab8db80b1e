package quic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/internal/ending"
)

// Conn is a link over one QUIC connection.
type Conn struct {
	quic   *quic.Conn
	sock   *sock
	addr   string
	limits transport.Limits
	room   transport.Room // of replies

	slots   chan struct{} // holds one for each request under way
	unbound chan struct{} // holds one while a request with number 0 is under way

	ending *ending.Ending
	tasks  sync.WaitGroup

	closing sync.Once // behind tasks
}

var (
	_ transport.Conn     = (*Conn)(nil)
	_ transport.Recycler = (*Conn)(nil)
)

// start runs a link. Its goroutine ends when the connection does.
func start(conn *quic.Conn, s *sock, addr string, limits transport.Limits) *Conn {
	c := &Conn{
		quic:    conn,
		sock:    s,
		addr:    addr,
		limits:  limits,
		slots:   make(chan struct{}, limits.MaxInFlight),
		unbound: make(chan struct{}, 1),
		ending:  ending.New(),
	}
	c.tasks.Go(func() {
		<-conn.Context().Done()
		c.end(transport.Lost(context.Cause(conn.Context())))
	})
	return c
}

// Recycle takes the memory of a reply that nobody looks at any more.
func (c *Conn) Recycle(reply transport.Frame) { c.room.Recycle(reply) }

// Do sends a request on a stream of its own and reads the reply from it. If ctx ends before the reply has come, both
// directions of the stream are reset, which tells the server that nobody waits.
func (c *Conn) Do(ctx context.Context, request transport.Frame) (transport.Frame, error) {
	reply, unsent, err := c.do(ctx, request)
	if err != nil {
		return nil, &transport.Error{Op: "request", Addr: c.addr, Unsent: unsent, Err: c.reason(ctx, err)}
	}
	return reply, nil
}

func (c *Conn) do(ctx context.Context, request transport.Frame) (reply transport.Frame, unsent bool, err error) {
	if err := transport.CheckRequest(request, c.limits); err != nil {
		return nil, true, err
	}
	if err := c.ending.Take(ctx, c.slots); err != nil {
		return nil, true, err
	}
	defer func() { <-c.slots }()
	if request.RequestID() == 0 {
		if err := c.ending.Take(ctx, c.unbound); err != nil {
			return nil, true, err
		}
		defer func() { <-c.unbound }()
	}
	stream, err := c.quic.OpenStreamSync(ctx)
	if err != nil {
		return nil, true, err
	}
	defer context.AfterFunc(ctx, func() { reset(stream) })()
	if err = writeFrame(stream, request, c.limits); err == nil {
		reply, err = c.read(stream, request.RequestID())
	}
	if err != nil {
		reset(stream)
	}
	return reply, false, err
}

// read reads the reply to a request. What is no reply ends the link.
func (c *Conn) read(stream *quic.Stream, id uint64) (transport.Frame, error) {
	reply, err := readFrame(stream, c.limits, c.limits.MaxReplyBytes, 0, &c.room)
	if err == nil {
		err = transport.CheckReply(reply)
	}
	if err == nil && reply.RequestID() != id {
		err = fmt.Errorf("%w: the reply to request %d on the stream of request %d", transport.ErrProtocol, reply.RequestID(), id)
	}
	var size *transport.SizeError
	var evicted *transport.EvictedError
	var gone *quic.StreamError
	switch {
	case err == nil:
		return reply, nil
	case errors.As(err, &size) || errors.As(err, &evicted) || errors.Is(err, transport.ErrProtocol):
		err = transport.NameLimit(err, "MaxReplyBytes")
		c.end(err)
		return nil, err
	case errors.Is(err, io.EOF) || errors.As(err, &gone):
		return nil, fmt.Errorf("%w: %w", transport.ErrNoReply, err)
	default:
		return nil, err
	}
}

// Post sends a frame on a stream of its own, from which nothing is read.
func (c *Conn) Post(ctx context.Context, request transport.Frame) error {
	unsent, err := c.post(ctx, request)
	if err != nil {
		return &transport.Error{Op: "post", Addr: c.addr, Unsent: unsent, Err: c.reason(ctx, err)}
	}
	return nil
}

func (c *Conn) post(ctx context.Context, request transport.Frame) (unsent bool, err error) {
	if err := transport.CheckRequest(request, c.limits); err != nil {
		return true, err
	}
	stream, err := c.quic.OpenStreamSync(ctx)
	if err != nil {
		return true, err
	}
	defer stream.CancelRead(codeGivenUp)
	defer context.AfterFunc(ctx, func() { reset(stream) })()
	if err := writeFrame(stream, request, c.limits); err != nil {
		stream.CancelWrite(codeGivenUp)
		return false, err
	}
	return false, nil
}

// reason returns what ended a wait: the end of the context, or that of the link, both of which a stream only knows as
// its reset; or else err.
func (c *Conn) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if endsConn(err) {
		<-c.ending.Done() // not long: who ends the connection says why first, or its goroutine does
		return c.ending.Err()
	}
	return err
}

// endsConn says whether an error of a stream is one of its connection.
func endsConn(err error) bool {
	var (
		application *quic.ApplicationError
		protocol    *quic.TransportError
		idle        *quic.IdleTimeoutError
		stateless   *quic.StatelessResetError
	)
	return errors.As(err, &application) || errors.As(err, &protocol) || errors.As(err, &idle) || errors.As(err, &stateless)
}

// end ends the link and every wait, for a reason. The first one counts.
func (c *Conn) end(reason error) {
	c.ending.End(reason, func() {
		code, text := codeNone, "Client requested shutdown"
		if errors.Is(reason, transport.ErrProtocol) {
			code, text = codeProtocol, ""
		}
		_ = c.quic.CloseWithError(code, text) // the reason is known already
	})
}

// Close ends the link and frees its socket.
func (c *Conn) Close() error {
	c.end(transport.ErrClosed)
	c.tasks.Wait()
	c.closing.Do(c.sock.release)
	return nil
}

// Done is closed when the link has ended.
func (c *Conn) Done() <-chan struct{} { return c.ending.Done() }

// Err says why the link ended.
func (c *Conn) Err() error { return c.ending.Err() }

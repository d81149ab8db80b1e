package iggyserver

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"
	"golang.org/x/sync/semaphore"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// leaveWait is how long answers may still be written on a connection that the broker has ended.
const leaveWait = time.Second

// request is a request at work.
type request struct {
	link  *broker.Link
	frame []byte
	sent  func() // to be called when the reply is written

	// Of a request that has no connection, over HTTP: what carries it out.
	execute func(ctx context.Context, frame []byte) (reply []byte)
}

// handler answers a request, as [broker.Link.HandleUnsent] does.
type handler func(ctx context.Context, r *request) (reply []byte, closing bool)

// handle is the handler that does nothing else.
func handle(ctx context.Context, r *request) (reply []byte, closing bool) {
	if r.execute != nil {
		return r.execute(ctx, r.frame), false
	}
	reply, closing, r.sent = r.link.HandleUnsent(ctx, r.frame)
	return reply, closing
}

// conn is the connection of one client.
type conn struct {
	server *Server
	peer   transport.Peer
	link   *broker.Link

	places chan struct{}       // holds one for each request at work
	bytes  *semaphore.Weighted // of requests at work
	tasks  sync.WaitGroup

	mu      sync.Mutex
	evicted bool // the client was told why it has to go; guarded by mu
}

// serve answers the requests of a client until one of both ends the connection, and returns when nothing of it is left.
func (s *Server) serve(ctx context.Context, peer transport.Peer, t wire.Transport) {
	c := &conn{
		server: s,
		peer:   peer,
		link:   s.broker.Connect(broker.Peer{Transport: t, Address: peer.RemoteAddr()}),
		places: make(chan struct{}, s.config.limits.MaxInFlight),
		bytes:  semaphore.NewWeighted(int64(s.config.limits.MaxRequestBytes)),
	}
	reading, stopReading := context.WithCancel(ctx) // requests at work end by it, too
	writing, stopWriting := context.WithCancel(ctx)
	if s.faults.down.Load() { // asked behind Connect, so that either this or the broker ends the connection
		c.link.Close()
	}
	c.tasks.Go(func() { c.watch(reading, stopReading) })
	c.readLoop(reading, writing)
	stopReading()
	timer := time.AfterFunc(leaveWait, stopWriting)
	c.tasks.Wait()
	c.leave(writing)
	timer.Stop()
	stopWriting()
	c.link.Close()
}

// watch ends the reading when the broker ends the link.
func (c *conn) watch(reading context.Context, stop context.CancelFunc) {
	select {
	case <-c.link.Done():
		stop()
	case <-reading.Done():
	}
}

// readLoop takes requests, and a task for each.
func (c *conn) readLoop(reading, writing context.Context) {
	for {
		x, err := c.peer.Next(reading)
		if err != nil {
			c.logEnd(reading, err)
			return
		}
		if isCancel(x.Request()) { // it frees the place of another one
			c.answer(reading, writing, x)
			continue
		}
		if !c.begin(reading, x) {
			return
		}
		c.tasks.Go(func() {
			defer c.end(x)
			c.answer(reading, writing, x)
		})
	}
}

// logEnd says why a client is gone, and says it louder if that was its fault. A server that ends closes all connections, and
// says only which clients were at fault before.
func (c *conn) logEnd(reading context.Context, err error) {
	level := slog.LevelDebug
	var size *transport.SizeError
	switch {
	case errors.Is(err, transport.ErrProtocol), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &size):
		level = slog.LevelWarn
	case reading.Err() != nil:
		return
	}
	c.server.config.logger.Log(reading, level, "connection ended", "peer", c.peer.RemoteAddr(), "error", err)
}

// begin waits until there is a place for a request, and room: all requests at work together are no longer than one may be.
// It returns false if the reading has ended first.
func (c *conn) begin(reading context.Context, x transport.Exchange) bool {
	select {
	case c.places <- struct{}{}:
	case <-reading.Done():
		return false
	}
	return c.bytes.Acquire(reading, int64(len(x.Request()))) == nil
}

// end gives back what begin took.
func (c *conn) end(x transport.Exchange) {
	c.bytes.Release(int64(len(x.Request())))
	<-c.places
}

// isCancel says whether a request ends the wait of another one, which takes no time and has no answer.
func isCancel(frame []byte) bool {
	h, _, err := wire.DecodeRequest(frame)
	return err == nil && h.Carries() == wire.CmdCancelDeferred
}

// answer handles one request and sends the reply. A panic ends the connection; others go on.
func (c *conn) answer(reading, writing context.Context, x transport.Exchange) {
	ctx, cancel := context.WithCancel(reading)
	defer cancel()
	c.tasks.Go(func() {
		select {
		case <-x.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	r := &request{link: c.link, frame: x.Request(), sent: func() {}}
	reply, closing := c.handle(ctx, r)
	if closing && ctx.Err() == nil { // a request that was given up may be one of many
		defer c.link.Close()
	}
	c.reply(writing, x, reply)
	r.sent()
	if reading.Err() == nil { // else the end of the connection says so
		x.Drop()
	}
}

// handle carries a request out.
func (c *conn) handle(ctx context.Context, r *request) (reply []byte, closing bool) {
	reply, closing, ok := c.server.carry(ctx, r, "peer", c.peer.RemoteAddr())
	if !ok {
		c.link.Close()
	}
	return reply, closing
}

// carry carries a request out, with the faults that are set. If that panics it is logged, without the request but with about,
// and ok is false: the connection is to be closed.
func (s *Server) carry(ctx context.Context, r *request, about ...any) (reply []byte, closing, ok bool) {
	if p := panics.Try(func() { reply, closing = s.faults.handle(ctx, r) }); p != nil {
		s.config.logger.ErrorContext(ctx, "request made the server panic: its connection is closed",
			append(about, "panic", p.String())...)
		return nil, true, false
	}
	return reply, closing, true
}

// reply sends the answer to a request: what the broker has, or else why the client has to go. Who does not take it has gone
// already, which the reading finds out.
func (c *conn) reply(writing context.Context, x transport.Exchange, reply transport.Frame) {
	eviction := c.link.Eviction()
	switch {
	case eviction != nil && (reply == nil || reply.Command() == transport.CommandEviction):
		c.evict(func() error { return x.Reply(writing, eviction) })
	case reply != nil:
		_ = x.Reply(writing, reply)
	}
}

// evict tells the client why it has to go, if nobody has. A request that is given up meanwhile does not tell it.
func (c *conn) evict(tell func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.evicted {
		c.evicted = tell() == nil
	}
}

// leave closes the connection, and tells the client why, if it was not told yet.
func (c *conn) leave(writing context.Context) {
	if eviction := c.link.Eviction(); eviction != nil {
		c.evict(func() error { return c.peer.Evict(writing, eviction) })
	}
	_ = c.peer.Close() // returns no error
}

package mux

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// evictWait is how long a client that is told to leave has to close the link.
const evictWait = time.Second

// Peer is a [transport.Peer] over a link.
type Peer struct {
	link   Link
	addr   string
	limits transport.Limits

	incoming chan *exchange
	turn     chan struct{} // holds one while an answer is written

	ended chan struct{} // closed when nothing more is read
	err   error         // why; set before ended is closed

	evicting sync.Once
	evicted  chan struct{} // closed when the client is told to leave: requests are dropped from then on

	ending sync.Once
	closed chan struct{} // closed when the link is
	tasks  sync.WaitGroup
}

var _ transport.Peer = (*Peer)(nil)

// Serve reads requests from a link, which is the peer's from now on. addr is the other side; limits have their defaults.
// The time limit for the first byte begins here.
func Serve(link Link, addr string, limits transport.Limits) *Peer {
	p := &Peer{
		link:     link,
		addr:     addr,
		limits:   limits,
		incoming: make(chan *exchange),
		turn:     make(chan struct{}, 1),
		ended:    make(chan struct{}),
		evicted:  make(chan struct{}),
		closed:   make(chan struct{}),
	}
	p.tasks.Go(p.readLoop)
	return p
}

// readLoop reads one request ahead. What ends it leaves the link open, as a client that has closed its side may still
// wait for answers; what is no request closes it.
func (p *Peer) readLoop() {
	frames := newReader(p.link, p.limits.MaxRequestBytes, "MaxRequestBytes", p.limits.IdleTimeout, p.limits.FrameTimeout, &transport.Room{})
	for {
		frame, err := frames.next()
		if err == nil {
			err = transport.CheckRequest(frame, p.limits)
		}
		if err != nil {
			p.stopped(err)
			return
		}
		select {
		case p.incoming <- &exchange{peer: p, request: frame}:
		case <-p.evicted:
		case <-p.closed:
			p.stopped(transport.ErrClosed)
			return
		}
	}
}

// stopped keeps why nothing more is read, and closes the link unless the client has orderly closed its side of it. The
// reason is there before the client can see the link close.
func (p *Peer) stopped(err error) {
	select {
	case <-p.closed:
		p.err = transport.ErrClosed
	default:
		p.err = err
	}
	close(p.ended)
	if !isEnd(err) {
		p.end()
	}
}

// Next returns the next request. What ended the link is told also to who has stopped waiting.
func (p *Peer) Next(ctx context.Context) (transport.Exchange, error) {
	select {
	case x := <-p.incoming:
		return x, nil
	case <-ctx.Done():
	case <-p.ended:
	}
	select {
	case <-p.ended:
		return nil, p.fault("next", p.err)
	default:
		return nil, p.fault("next", context.Cause(ctx))
	}
}

// RemoteAddr is the address of the client.
func (p *Peer) RemoteAddr() string { return p.addr }

// Evict sends an eviction and ends the link.
func (p *Peer) Evict(ctx context.Context, eviction transport.Frame) error {
	err := transport.CheckEviction(eviction, p.limits)
	if err == nil {
		err = p.write(ctx, eviction)
	}
	_ = p.Close() // returns no error
	if err != nil {
		return p.fault("evict", err)
	}
	return nil
}

// Close ends the link and waits for the loop.
func (p *Peer) Close() error {
	select {
	case <-p.evicted:
		p.awaitEnd()
	default:
	}
	p.end()
	p.tasks.Wait()
	return nil
}

// awaitEnd gives the client time to read its eviction. To close a TCP connection that has unread requests would take
// back what was written to it.
func (p *Peer) awaitEnd() {
	timer := time.NewTimer(evictWait)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-p.closed:
	case <-timer.C:
	}
}

func (p *Peer) end() {
	p.ending.Do(func() {
		close(p.closed)
		_ = p.link.Close() // nothing is lost by it that was promised
	})
}

func (p *Peer) fault(op string, err error) error {
	return &transport.Error{Op: op, Addr: p.addr, Err: err}
}

// exchange is a request of a peer.
type exchange struct {
	peer     *Peer
	request  transport.Frame
	answered atomic.Bool
}

var _ transport.Exchange = (*exchange)(nil)

// Request is the frame that came.
func (x *exchange) Request() transport.Frame { return x.request }

// Drop says that no answer will come.
func (x *exchange) Drop() { x.answered.Store(true) }

// Done is closed when the client sends nothing more, which is the most that a stream of bytes tells.
func (x *exchange) Done() <-chan struct{} { return x.peer.ended }

// Reply writes the answer when it is its turn.
func (x *exchange) Reply(ctx context.Context, reply transport.Frame) error {
	if err := transport.CheckAnswer(reply, x.peer.limits); err != nil {
		return x.peer.fault("reply", err)
	}
	if !x.answered.CompareAndSwap(false, true) {
		return x.peer.fault("reply", transport.ErrAnswered)
	}
	if err := x.peer.write(ctx, reply); err != nil {
		return x.peer.fault("reply", err)
	}
	return nil
}

func (p *Peer) write(ctx context.Context, frame transport.Frame) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.closed:
		return transport.ErrClosed
	}
	defer func() { <-p.turn }()
	if ctx.Err() != nil { // the select above chooses at random
		return context.Cause(ctx)
	}
	if frame.Command() == transport.CommandEviction {
		p.evicting.Do(func() { close(p.evicted) })
	}
	defer context.AfterFunc(ctx, p.end)()
	if err := writeFrame(p.link, frame, p.limits.FrameTimeout); err != nil {
		p.end()
		return err
	}
	return nil
}

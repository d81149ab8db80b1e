package quic

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// evictWait is how long a peer that was sent an eviction has to close its connection. What closes it at once would
// overtake the eviction.
const evictWait = time.Second

// Peer is one client over one QUIC connection.
type Peer struct {
	quic   *quic.Conn
	sock   *sock
	limits transport.Limits

	incoming chan *exchange
	evicted  atomic.Bool

	ending sync.Once
	err    error // set before ended is closed
	ended  chan struct{}
	tasks  sync.WaitGroup

	closing sync.Once // behind tasks
}

var _ transport.Peer = (*Peer)(nil)

// serve reads requests from a connection, which is the peer's from now on.
func serve(conn *quic.Conn, s *sock, limits transport.Limits) *Peer {
	s.hold()
	p := &Peer{quic: conn, sock: s, limits: limits, incoming: make(chan *exchange), ended: make(chan struct{})}
	p.tasks.Go(p.acceptLoop)
	return p
}

// acceptLoop starts a task for each stream, of which there are at most [transport.Limits.MaxInFlight] at once.
func (p *Peer) acceptLoop() {
	for {
		stream, err := p.accept()
		if err != nil {
			p.end(transport.Lost(err), codeNone)
			return
		}
		p.tasks.Go(func() { p.read(stream) })
	}
}

// accept waits for a stream as long as a peer may be silent.
func (p *Peer) accept() (*quic.Stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limits.IdleTimeout)
	defer cancel()
	stream, err := p.quic.AcceptStream(ctx)
	if err != nil && ctx.Err() != nil {
		err = late(os.ErrDeadlineExceeded, "IdleTimeout", p.limits.IdleTimeout)
	}
	return stream, err
}

// read reads the request of a stream. A stream that says nothing in its time is reset, and others go on; what is no
// request ends the link.
func (p *Peer) read(stream *quic.Stream) {
	request, err := readFrame(stream, p.limits, p.limits.MaxRequestBytes, p.limits.IdleTimeout, nil)
	if err == nil {
		err = transport.CheckRequest(request, p.limits)
	}
	if err != nil {
		reset(stream)
		p.refuse(err)
		return
	}
	select {
	case p.incoming <- newExchange(p, stream, request):
	case <-p.ended:
	}
}

// refuse ends the link for what is no request.
func (p *Peer) refuse(err error) {
	var size *transport.SizeError
	if errors.As(err, &size) || errors.Is(err, transport.ErrProtocol) {
		p.end(transport.NameLimit(err, "MaxRequestBytes"), codeProtocol)
	}
}

func (p *Peer) end(reason error, code quic.ApplicationErrorCode) {
	p.ending.Do(func() {
		p.err = reason
		close(p.ended)
		_ = p.quic.CloseWithError(code, "") // the reason is known already
	})
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
func (p *Peer) RemoteAddr() string { return p.quic.RemoteAddr().String() }

// Evict ends the link, without the eviction: there is no request whose stream it could be written to. What a server has
// under way is answered with it by Reply.
func (p *Peer) Evict(_ context.Context, eviction transport.Frame) error {
	err := transport.CheckEviction(eviction, p.limits)
	_ = p.Close() // returns no error
	if err != nil {
		return p.fault("evict", err)
	}
	return nil
}

// Close ends the link.
func (p *Peer) Close() error {
	if p.evicted.Load() {
		p.awaitEnd()
	}
	p.end(transport.ErrClosed, codeShutdown)
	p.tasks.Wait()
	p.closing.Do(p.sock.release)
	return nil
}

func (p *Peer) awaitEnd() {
	timer := time.NewTimer(evictWait)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

func (p *Peer) fault(op string, err error) error {
	return &transport.Error{Op: op, Addr: p.RemoteAddr(), Err: err}
}

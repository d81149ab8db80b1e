package broker

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Peer says who is at the other end of a connection.
type Peer struct {
	// Transport is how it is connected.
	Transport wire.Transport
	// Address is its address with the port.
	Address string
}

// Link is one connection of a client. Its methods may be called concurrently.
type Link struct {
	broker *Broker
	id     uint32
	peer   Peer
	slots  chan struct{} // holds a place for each request at work
	room   room          // for the messages in replies
	done   chan struct{}

	session  *session  // the session of the connection, or nil; guarded by the broker's mu, as what follows
	seen     time.Time // when the last request came
	ended    bool
	eviction []byte // the frame that says why it ended, or nil
}

// Connect begins a connection. It ends with [Link.Close]; a link of a broker that is closed has ended already.
func (b *Broker) Connect(peer Peer) *Link {
	limits := &b.config.Limits
	l := &Link{
		broker: b, peer: peer, slots: make(chan struct{}, limits.InFlight), room: newRoom(limits.UnsentBytes), done: make(chan struct{}),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastLink++
	l.id, l.seen = b.lastLink, b.config.Clock.Now()
	if b.closed {
		l.end(nil)
		return l
	}
	b.links[l.id] = l
	return l
}

// Done is closed when the broker ended the connection. The listener then sends what [Link.Eviction] returns, if
// anything, and closes.
func (l *Link) Done() <-chan struct{} { return l.done }

// Eviction returns the frame to send before closing, or nil.
func (l *Link) Eviction() []byte {
	l.broker.mu.Lock()
	defer l.broker.mu.Unlock()
	return l.eviction
}

// Close says that the connection is gone. Its session lives on; its requests end by their contexts.
func (l *Link) Close() {
	l.broker.mu.Lock()
	defer l.broker.mu.Unlock()
	l.end(nil)
}

// end ends the link, under the broker's mu.
func (l *Link) end(eviction []byte) {
	if l.ended {
		return
	}
	l.ended, l.eviction = true, eviction
	l.unbind()
	delete(l.broker.links, l.id)
	close(l.done)
}

// evict ends the link for a reason, under the broker's mu.
func (l *Link) evict(client wire.Uint128, why wire.EvictReason) {
	l.end(wire.AppendEviction(nil, wire.Eviction{Client: client, Reason: why}))
}

// unbind takes the session from the link, under the broker's mu.
func (l *Link) unbind() {
	s := l.session
	if s == nil {
		return
	}
	l.session = nil
	delete(s.links, l)
	if len(s.links) == 0 {
		s.alone = l.broker.config.Clock.Now()
	}
}

// Handle answers one request, as [Link.HandleUnsent] does, of which the reply is sent at once.
func (l *Link) Handle(ctx context.Context, frame []byte) (reply []byte, closing bool) {
	reply, closing, sent := l.HandleUnsent(ctx, frame)
	sent()
	return reply, closing
}

// HandleUnsent answers one request. It may be called for many requests of a link at once, so that one that waits for
// messages does not block others; more than [Limits.InFlight] wait for each other.
//
// The reply is a whole frame, nil if there is none, and must not be changed; closing says that the connection has to be
// closed behind it. The broker keeps nothing of frame. ctx ends when the connection is gone: there is no reply then.
//
// The function sent is to be called once the reply is written, or is not needed any more: the messages in replies of a link
// are bounded by [Limits.UnsentBytes] until then.
func (l *Link) HandleUnsent(ctx context.Context, frame []byte) (reply []byte, closing bool, sent func()) {
	h, body, err := wire.DecodeRequest(frame)
	if err != nil || h.Client.IsZero() {
		return nil, true, nothing // nobody that an answer could name
	}
	if !l.hear() {
		return l.Eviction(), true, nothing
	}
	r := &request{broker: l.broker, link: l, header: h, body: body, frame: frame}
	if h.Operation == wire.OpNonReplicated && h.Command == wire.CmdCancelDeferred {
		l.broker.cancel(r)
		return nil, false, nothing
	}
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, true, nothing
	}
	defer func() { <-l.slots }()
	reply, closing = r.handle(ctx)
	if r.held == 0 {
		return reply, closing, nothing
	}
	return reply, closing, r.release
}

func nothing() {}

// hear notes that the client is there. It returns false on a link that has ended.
func (l *Link) hear() bool {
	l.broker.mu.Lock()
	defer l.broker.mu.Unlock()
	l.seen = l.broker.config.Clock.Now()
	return !l.ended
}

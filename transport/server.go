package transport

import "context"

// Listener waits for peers: the side of a server. It is safe for concurrent use.
type Listener interface {
	// Accept returns the next peer, before or after its first byte has come. What is wrong with one peer is an error
	// of that peer, not of Accept. The end of ctx ends the wait with its cause; after [Listener.Close] the error is
	// [ErrClosed].
	Accept(ctx context.Context) (Peer, error)
	// Addr is the address without the transport, such as 127.0.0.1:8090, with the port that the system chose for
	// port 0.
	Addr() string
	// Close ends Accept, and frees the address; over QUIC that takes the end of every peer too. Peers that Accept returned
	// are to be closed one by one, before or after.
	Close() error
}

// Peer is one client. It is safe for concurrent use.
type Peer interface {
	// Next returns the next request. A peer that is silent for longer than [Limits.IdleTimeout], sends a frame for
	// longer than [Limits.FrameTimeout] or sends what is no request has ended, and Next returns why: [ErrLost] with a
	// cause, [ErrProtocol] or a [*SizeError]. The end of ctx ends the wait only.
	Next(ctx context.Context) (Exchange, error)
	// Evict sends an eviction and ends the link, as [Peer.Close] does. Over QUIC, where a server has no stream of its own,
	// only the link is ended: a client learns the reason when the eviction is the answer to one of its requests. An error
	// says that the eviction may not have come; the link has ended all the same.
	Evict(ctx context.Context, eviction Frame) error
	// RemoteAddr is the address of the client.
	RemoteAddr() string
	// Close ends the link and returns when nothing of it is left. It may be called more than once. Answers that are still
	// on their way may be lost, but for an eviction, on which the client has a second to close the link itself.
	Close() error
}

// Exchange is a request and the place for its answer. It is safe for concurrent use.
type Exchange interface {
	// Request is the frame that came. It belongs to the caller.
	Request() Frame
	// Reply sends the answer, or an eviction. It returns when the frame was handed to the system; the end of ctx while
	// the frame is written ends the link, as half a frame would stand in the way of others. Answers of one peer go one
	// at a time over TCP and WebSocket. The second answer to a request is refused with [ErrAnswered].
	Reply(ctx context.Context, reply Frame) error
	// Drop says that no answer will come. It frees what the request holds; after [Exchange.Reply] it does nothing.
	Drop()
	// Done is closed when nobody waits for the answer any more, as far as that can be told: the client has closed its
	// side of the link, or over QUIC has reset the stream of this request.
	Done() <-chan struct{}
}

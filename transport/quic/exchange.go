package quic

import (
	"context"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// States of an exchange, of which it leaves the first one once.
const (
	open int32 = iota
	answered
	givenUp // by the client
)

// exchange is a request and the stream it came on.
type exchange struct {
	peer    *Peer
	stream  *quic.Stream
	request transport.Frame
	state   atomic.Int32
	unwatch func() bool
}

var _ transport.Exchange = (*exchange)(nil)

// newExchange gives the stream back as soon as the client has reset it, though its request be never answered: the
// library counts it until somebody here has taken note.
func newExchange(p *Peer, stream *quic.Stream, request transport.Frame) *exchange {
	x := &exchange{peer: p, stream: stream, request: request}
	x.unwatch = context.AfterFunc(stream.Context(), func() {
		if x.state.CompareAndSwap(open, givenUp) {
			stream.CancelWrite(codeGivenUp)
		}
	})
	return x
}

// Request is the frame that came.
func (x *exchange) Request() transport.Frame { return x.request }

// Done is closed when the client has reset the stream, when the connection has ended, and behind the answer. The client
// resets the stream of a frame that gets no answer at once.
func (x *exchange) Done() <-chan struct{} { return x.stream.Context().Done() }

// Drop ends the stream without an answer.
func (x *exchange) Drop() {
	if x.state.CompareAndSwap(open, answered) {
		x.unwatch()
		_ = x.stream.Close() // a stream that was reset has ended too
	}
}

// Reply writes the answer and the end of the stream.
func (x *exchange) Reply(ctx context.Context, reply transport.Frame) error {
	err := transport.CheckAnswer(reply, x.peer.limits)
	if err == nil {
		err = x.reply(ctx, reply)
	}
	if err != nil {
		return x.peer.fault("reply", err)
	}
	return nil
}

func (x *exchange) reply(ctx context.Context, reply transport.Frame) error {
	if !x.state.CompareAndSwap(open, answered) {
		if x.state.Load() == givenUp {
			return transport.Lost(context.Cause(x.stream.Context()))
		}
		return transport.ErrAnswered
	}
	x.unwatch()
	if reply.Command() == transport.CommandEviction {
		x.peer.evicted.Store(true)
	}
	defer context.AfterFunc(ctx, func() { x.stream.CancelWrite(codeGivenUp) })()
	err := writeFrame(x.stream, reply, x.peer.limits)
	if err == nil {
		return nil
	}
	x.stream.CancelWrite(codeGivenUp)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return transport.Lost(err)
}

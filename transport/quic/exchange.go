package quic

import (
	"context"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// exchange is a request and the stream it came on.
type exchange struct {
	peer     *Peer
	stream   *quic.Stream
	request  transport.Frame
	answered atomic.Bool
}

var _ transport.Exchange = (*exchange)(nil)

// Request is the frame that came.
func (x *exchange) Request() transport.Frame { return x.request }

// Done is closed when the client has reset the stream, when the connection has ended, and behind the answer. The client
// resets the stream of a frame that gets no answer at once.
func (x *exchange) Done() <-chan struct{} { return x.stream.Context().Done() }

// Drop ends the stream without an answer.
func (x *exchange) Drop() {
	if x.answered.CompareAndSwap(false, true) {
		_ = x.stream.Close() // a stream that was reset has ended too
	}
}

// Reply writes the answer and the end of the stream.
func (x *exchange) Reply(ctx context.Context, reply transport.Frame) error {
	if err := transport.CheckAnswer(reply, x.peer.limits); err != nil {
		return x.peer.fault("reply", err)
	}
	if !x.answered.CompareAndSwap(false, true) {
		return x.peer.fault("reply", transport.ErrAnswered)
	}
	if reply.Command() == transport.CommandEviction {
		x.peer.evicted.Store(true)
	}
	defer context.AfterFunc(ctx, func() { x.stream.CancelWrite(codeGivenUp) })()
	err := writeFrame(x.stream, reply, x.peer.limits)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		err = transport.Lost(err)
	}
	x.stream.CancelWrite(codeGivenUp)
	return x.peer.fault("reply", err)
}

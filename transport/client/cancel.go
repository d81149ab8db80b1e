package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// cancelGrace is how long the answer to a read may take that was cancelled: the server has it ready.
const cancelGrace = 2 * time.Second

// maxWaits is how many reads of a client the server may hold at once. Further ones wait at the client, so that they do not
// take the places of other requests on the link.
const maxWaits = 64

// exchangeCancelable is Do for a request that the server may hold. When ctx ends the server is told, and the answer that
// comes then is the result: it may say that an offset was stored. (Iggy binary protocol, cancel.)
func (c *Client) exchangeCancelable(
	ctx context.Context, l *link, frame transport.Frame, h *wire.RequestHeader,
) (transport.Frame, error) {
	waiting, end := context.WithCancelCause(context.WithoutCancel(ctx))
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		c.cancel(waiting, l, h)
		end(context.Cause(ctx))
	})
	answer, err := l.conn.Do(waiting, frame)
	end(nil)
	if !stop() {
		<-told
	}
	return answer, err
}

// cancel tells the server, and returns when the answer is there or has taken too long.
func (c *Client) cancel(waiting context.Context, l *link, of *wire.RequestHeader) {
	ctx, done := context.WithTimeout(waiting, cancelGrace)
	defer done()
	frame, err := wire.AppendRequest(nil, wire.NewCancel(of), nil)
	if err != nil || l.conn.Post(ctx, frame) != nil {
		return
	}
	<-ctx.Done()
}

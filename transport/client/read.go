package client

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// query is a read on its way. It may be asked anew at any time, as another request.
type query struct {
	command wire.Command
	body    wire.Body
	raw     []byte // the body, if body is nil
	lineage uint64

	target *Partition            // nil for a read that is of no partition
	given  wire.PartitionContext // of the caller; without an incarnation that of the route counts
	waits  bool                  // the server may wait before it answers: the end of ctx cancels that
	stores bool                  // the server stores an offset with it: an unknown outcome counts
	into   *Buffer               // nil for a reply in memory of its own
	aimed  bool                  // it is of the partition of route, though target is nil: a fetch

	route   route
	request uint64    // the number it was sent with last
	sent    bool      // it may have been carried out, and has no reply
	asked40 bool      // a session was made anew for it
	renewed bool      // the route was asked for anew
	evicted int       // how often the link ended for what was sent
	doubted int       // how often a node that is not the leader did not find what is asked for
	last    wire.Code // why the last attempt had to be repeated, or 0
}

// mostDoubts is how often a read is asked again because a node that is not the leader did not find something, for a link to
// the leader may come meanwhile.
const mostDoubts = 3

// ask asks until there is an answer or ctx ends.
func (c *Client) ask(ctx context.Context, q *query) (reply, error) {
	pause := c.newPause()
	for {
		r, again, err := c.askOnce(ctx, q)
		if !again {
			return r, err
		}
		if !pause.wait(ctx) {
			return reply{}, q.expired(ctx)
		}
	}
}

// expired is the error of a read whose time is up.
func (q *query) expired(ctx context.Context) error {
	code := q.last
	if code == 0 || code == wire.CodeTransientNotCommitted { // a read has nothing to commit
		code = wire.CodeTransientNotAccepted
	}
	return &Error{Code: code, Call: q.command.String(), Err: context.Cause(ctx)}
}

// askOnce asks once. It is to be asked again if again is true.
func (c *Client) askOnce(ctx context.Context, q *query) (r reply, again bool, err error) {
	if q.target != nil {
		if q.route, err = c.findRoute(ctx, q.lineage, *q.target, q.route.view); err != nil {
			return reply{}, false, err
		}
	}
	l, err := c.await(ctx, q.command.String(), q.lineage)
	if err != nil {
		return reply{}, false, err
	}
	l = c.toward(l, q.target != nil || q.aimed, q.route)
	h := c.header(l, q.command)
	h.Context = c.contextOf(q)
	frame, err := c.encoded(q.command, q.body, q.raw)
	if err != nil {
		return reply{}, false, err
	}
	q.into.giveBack(l.conn)
	stamp(*frame, &h)
	q.request = h.Request
	answer, err := c.exchange(ctx, q, l, *frame, &h)
	if err != nil { // the frame may be on its way still, and is left to the collector
		return c.unanswered(ctx, q, l, err)
	}
	c.freeFrame(frame)
	if r, err = readReply(answer, &h); err != nil {
		return reply{}, false, malformed(q.command.String(), l.addr, err)
	}
	q.sent = false
	q.into.keep(answer)
	return c.answered(ctx, q, l, r)
}

// contextOf is the context that goes into the header of a read. (Iggy binary protocol, metadata watermark.)
func (c *Client) contextOf(q *query) wire.PartitionContext {
	switch {
	case q.target != nil && q.given.Incarnation != 0:
		return q.given
	case q.target != nil:
		of := q.route.context
		of.OwnerGeneration = q.given.OwnerGeneration
		return of
	}
	switch q.command {
	case wire.CmdPing, wire.CmdGetClusterMetadata, wire.CmdFetchMessages:
		return wire.PartitionContext{}
	}
	return wire.PartitionContext{MetadataOp: c.watermark.Load()}
}

// exchange sends the frame and waits for the reply.
func (c *Client) exchange(
	ctx context.Context, q *query, l *link, frame transport.Frame, h *wire.RequestHeader,
) (transport.Frame, error) {
	if !q.waits || c.sessionless {
		return l.conn.Do(ctx, frame)
	}
	select {
	case c.waits <- struct{}{}:
		defer func() { <-c.waits }()
		return c.exchangeCancelable(ctx, l, frame, h)
	case <-ctx.Done():
		return nil, &transport.Error{Op: "request", Addr: l.addr, Unsent: true, Err: context.Cause(ctx)}
	}
}

// unanswered says what to do about an attempt without a reply.
func (c *Client) unanswered(ctx context.Context, q *query, l *link, err error) (reply, bool, error) {
	if !transport.Unsent(err) {
		q.sent = true
	}
	switch {
	case q.sent && q.stores:
		if l.conn.Err() != nil {
			c.drop(l)
		}
		return reply{}, false, linkError(q.command.String(), l.addr, err)
	case ctx.Err() != nil:
		return reply{}, false, q.expired(ctx)
	case l.conn.Err() != nil:
		c.drop(l)
		q.last = 0
		if lostCode(err) == wire.CodeInvalidCommand {
			q.evicted++
		}
		if q.evicted > mostEvictions {
			return reply{}, false, linkError(q.command.String(), l.addr, err)
		}
		return reply{}, true, nil
	case transport.Unsent(err) && !errors.Is(err, transport.ErrInFlight):
		return reply{}, false, malformed(q.command.String(), l.addr, err) // the link refuses such a frame
	}
	return reply{}, true, nil
}

// answered says what to do about a reply.
func (c *Client) answered(ctx context.Context, q *query, l *link, r reply) (reply, bool, error) {
	q.last = r.code
	refused := &Error{Code: r.code, Call: q.command.String(), Addr: l.addr}
	switch r.code {
	case 0:
		return r, false, nil
	case wire.CodeTransientNotCommitted, wire.CodeTransientNotAccepted, wire.CodeDeferredPollCapacityExceeded,
		wire.CodeLifecycleBusy:
		return reply{}, true, nil
	case wire.CodeNotPrimary:
		if q.target == nil {
			return r, false, refused
		}
		q.route.view++ // the next attempt asks for a route with at least this one
		return reply{}, true, nil
	case wire.CodeHistoryUnavailable:
		if q.target == nil {
			return r, false, refused
		}
		c.routes.forget(*q.target)
		if q.given.Incarnation != 0 || q.renewed {
			return r, false, refused
		}
		q.renewed = true
		return reply{}, true, nil
	case wire.CodeStreamIDNotFound, wire.CodeStreamNameNotFound, wire.CodeTopicIDNotFound, wire.CodeTopicNameNotFound,
		wire.CodePartitionNotFound: // a node may not have it yet
		q.doubted++
		return r, q.doubted <= mostDoubts && c.isFollower(l), refused
	case wire.CodeUnauthenticated:
		if q.asked40 || c.sessionless {
			return r, false, loginFirst(l, refused)
		}
		q.asked40 = true
		c.drop(l)
		return reply{}, ctx.Err() == nil, refused
	}
	return r, false, refused
}

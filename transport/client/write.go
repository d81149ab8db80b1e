package client

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// write is a change on its way: of metadata, or of a partition. One goroutine at a time works on it.
type write struct {
	command wire.Command
	frame   *[]byte // header and body
	shared  bool    // the frame may be on its way still, and must not be changed any more

	target   *Partition // nil for a change of metadata
	route    route      // of the target
	fixed    bool       // the context is that of the caller, and not of the route
	restarts bool       // it may begin anew in a new life of the partition
	keys     []laneKey  // the lanes that it holds
	room     [2]laneKey // memory of keys

	lineage   uint64
	header    wire.RequestHeader // as sent; its request is 0 as long as none was
	session   wire.Uint128       // client id of the session it was sent in
	uncertain bool               // it was sent, and may have happened
	asked40   bool               // a session was made anew for it
	evicted   int                // how often the link ended for what was sent
	kept      bool               // its outcome is uncertain, and it has become one of [retained]
	last      wire.Code          // why the last attempt had to be repeated, or 0
}

// perform carries out a write, with everything around it, and returns the reply. A write that is kept keeps its frame.
func (c *Client) perform(ctx context.Context, w *write) (reply, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	w.lineage = c.begin()
	if c.sessionless {
		return c.performOnce(ctx, w)
	}
	size := len(*w.frame)
	if err := c.pending.take(ctx, size); err != nil {
		return reply{}, c.busy(w, err)
	}
	r, err := c.performIn(ctx, w)
	if w.kept {
		return r, err
	}
	c.pending.give(size)
	if !w.shared {
		c.freeFrame(w.frame)
	}
	return r, err
}

// performIn carries out a write that has its room among the pending ones. In a new life of its partition it may begin anew,
// once, if it surely was not done in the old one.
func (c *Client) performIn(ctx context.Context, w *write) (reply, error) {
	for again := false; ; again = true {
		if err := c.locate(ctx, w); err != nil {
			return reply{}, err
		}
		if err := c.lanes.take(ctx, w.keys); err != nil {
			return reply{}, laneError(w.command, err)
		}
		r, err := c.drive(ctx, w)
		c.settle(w, err)
		if CodeOf(err) == wire.CodeHistoryUnavailable && w.target != nil {
			c.routes.forget(*w.target)
		}
		if again || !w.restarts || CodeOf(err) != wire.CodeHistoryUnavailable {
			return r, err
		}
		w.header = wire.RequestHeader{}
	}
}

// locate finds the partition of a write and the lanes that it takes.
func (c *Client) locate(ctx context.Context, w *write) error {
	w.keys = w.room[:0]
	if w.target == nil {
		w.keys = append(w.keys, laneKey{kind: metadataLane})
		return nil
	}
	given := w.route.context
	r, err := c.findRoute(ctx, w.lineage, *w.target, 0)
	if err != nil {
		return err
	}
	w.route = r
	if w.fixed {
		w.route.context = given
	}
	at := laneKey{partitionLane, w.route.context.Incarnation, w.target.ID}
	if w.command != wire.CmdSendMessages {
		w.keys = append(w.keys, laneKey{progressLane, at.incarnation, at.partition})
	}
	w.keys = append(w.keys, at)
	return nil
}

// drive sends a write until its outcome is known or the time is up.
func (c *Client) drive(ctx context.Context, w *write) (reply, error) {
	pause := c.newPause()
	for {
		r, again, err := c.attempt(ctx, w)
		if !again {
			return r, err
		}
		if !pause.wait(ctx) {
			return reply{}, c.expired(ctx, w)
		}
	}
}

// attempt sends a write once. It is to be sent again if again is true.
func (c *Client) attempt(ctx context.Context, w *write) (r reply, again bool, err error) {
	l, err := c.await(ctx, w.command.String(), w.lineage)
	if err != nil {
		return reply{}, false, c.inDoubt(w, err)
	}
	if w.header.Request != 0 && w.session != l.session.client {
		if w.uncertain {
			return reply{}, false, c.inDoubt(w, ErrSessionReplaced)
		}
		w.header.Request = 0
	}
	if w.header.Request == 0 {
		c.address(w, l)
	}
	l = c.toward(l, w.target != nil, w.route)
	answer, err := l.conn.Do(ctx, *w.frame)
	if err != nil {
		return c.failed(ctx, w, l, err)
	}
	r, err = readReply(answer, &w.header)
	if err != nil { // what came proves nothing; the server may have done it
		w.uncertain = true
		c.drop(l)
		return reply{}, true, nil //nolint:nilerr // the write is sent again
	}
	return c.judge(ctx, w, l, r)
}

// address makes a write a new request of the session of a link.
func (c *Client) address(w *write, l *link) {
	h := c.header(l, w.command)
	if h.Operation.HasChecksum() {
		h.Checksum = random128()
	}
	h.Context = w.route.context
	w.header, w.session = h, l.session.client
	if w.shared {
		frame := append([]byte(nil), *w.frame...)
		w.frame, w.shared = &frame, false
	}
	stamp(*w.frame, &h)
}

// failed says what to do about an attempt without a reply.
func (c *Client) failed(ctx context.Context, w *write, l *link, err error) (reply, bool, error) {
	w.shared = true
	if !transport.Unsent(err) {
		w.uncertain = true
	}
	switch {
	case ctx.Err() != nil:
		return reply{}, false, c.expired(ctx, w)
	case l.conn.Err() != nil:
		c.drop(l)
		if lostCode(err) == wire.CodeInvalidCommand {
			w.evicted++
		}
		if w.evicted > mostEvictions {
			return reply{}, false, c.inDoubt(w, linkError(w.command.String(), l.addr, err))
		}
		return reply{}, true, nil
	case transport.Unsent(err) && !errors.Is(err, transport.ErrInFlight):
		return reply{}, false, c.inDoubt(w, malformed(w.command.String(), l.addr, err)) // the link refuses such a frame
	}
	return reply{}, true, nil
}

// judge says what to do about a reply.
func (c *Client) judge(ctx context.Context, w *write, l *link, r reply) (reply, bool, error) {
	w.last = r.code
	refused := &Error{Code: r.code, Call: w.command.String(), Addr: l.addr}
	switch r.code {
	case 0:
		if w.target == nil {
			c.raiseWatermark(r.header.Commit)
		}
		return r, false, nil
	case wire.CodeTransientNotCommitted:
		w.uncertain = true
		return reply{}, true, nil
	case wire.CodeTransientNotAccepted, wire.CodeDeferredPollCapacityExceeded:
		if w.target == nil {
			c.leaderMoved(ctx, l)
		}
		return reply{}, true, nil
	case wire.CodeLifecycleBusy:
		if !w.uncertain {
			w.header.Request = 0
		}
		return reply{}, true, nil
	case wire.CodeNotPrimary:
		return reply{}, w.target != nil, c.relocate(ctx, w, refused)
	case wire.CodeUnauthenticated:
		if w.asked40 && !w.uncertain {
			return reply{}, false, refused
		}
		w.asked40 = true
		c.drop(l)
		return reply{}, true, nil
	case wire.CodeHistoryUnavailable:
		if w.uncertain && w.target != nil {
			return reply{}, false, c.inDoubt(w, refused)
		}
	}
	return r, false, refused
}

// relocate asks for a newer route of a partition that has moved. The write stays what it is.
func (c *Client) relocate(ctx context.Context, w *write, refused error) error {
	if w.target == nil {
		return refused
	}
	r, err := c.findRoute(ctx, w.lineage, *w.target, w.route.view+1)
	if err == nil {
		w.route.view, w.route.primary = r.view, r.primary
	}
	return nil // without a route the next attempt fails, or the time is up
}

// expired is the error of a write whose time is up.
func (c *Client) expired(ctx context.Context, w *write) error {
	code := w.last
	if code == 0 {
		code = wire.CodeTransientNotAccepted
	}
	return c.inDoubt(w, &Error{Code: code, Call: w.command.String(), Err: context.Cause(ctx)})
}

// inDoubt is the error of a write that ends now: that its outcome is uncertain, or else why.
func (c *Client) inDoubt(w *write, why error) error {
	if !w.uncertain {
		return why
	}
	return &Error{
		Code: wire.CodeOperationUncertain, Call: w.command.String(), Addr: c.Addr(), Operation: w.header.Request, Err: why,
	}
}

// busy is the error of a write that found no room.
func (c *Client) busy(w *write, cause error) error {
	c.freeFrame(w.frame)
	return &Error{Code: wire.CodeTransientNotAccepted, Call: w.command.String(), Err: cause}
}

// laneError is the error of a call that did not get into its lanes.
func laneError(command wire.Command, err error) error {
	var blocked *blockedError
	if errors.As(err, &blocked) {
		return &Error{Code: wire.CodeLaneBlocked, Call: command.String(), Operation: blocked.operation}
	}
	return &Error{Code: wire.CodeTransientNotAccepted, Call: command.String(), Err: err}
}

// performOnce carries out a write over a link without sessions: nothing is sent again, as the server would know no repeat.
func (c *Client) performOnce(ctx context.Context, w *write) (reply, error) {
	call := w.command.String()
	l, err := c.await(ctx, call, w.lineage)
	if err != nil {
		return reply{}, err
	}
	c.address(w, l)
	answer, err := l.conn.Do(ctx, *w.frame)
	switch {
	case err == nil:
		c.freeFrame(w.frame)
	case transport.Unsent(err):
		return reply{}, &Error{Code: wire.CodeTransientNotAccepted, Call: call, Addr: l.addr, Err: err}
	default:
		return reply{}, &Error{Code: wire.CodeTransientNotCommitted, Call: call, Addr: l.addr, Err: err}
	}
	r, err := readReply(answer, &w.header)
	if err != nil { // it may have been done
		return reply{}, &Error{Code: wire.CodeTransientNotCommitted, Call: call, Addr: l.addr, Err: err}
	}
	if r.code != 0 {
		return r, loginFirst(l, &Error{Code: r.code, Call: call, Addr: l.addr})
	}
	return r, nil
}

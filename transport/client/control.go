package client

import (
	"context"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// reply is what came back for a request.
type reply struct {
	header  wire.ReplyHeader
	code    wire.Code // why it was refused, or 0
	payload []byte    // a view of the frame
}

// readReply takes a frame apart that came for a request. An error says that it is not the reply to it.
func readReply(frame transport.Frame, request *wire.RequestHeader) (reply, error) {
	h, body, err := wire.DecodeReply(frame)
	if err != nil {
		return reply{}, err
	}
	code, payload, err := h.Result(body)
	if err != nil {
		return reply{}, err
	}
	switch code {
	case wire.CodeTransientNotCommitted, wire.CodeTransientNotAccepted, wire.CodeNotPrimary,
		wire.CodeDeferredPollCapacityExceeded: // not committed, whatever the mark says
	default:
		err = h.CheckCommit(request)
	}
	return reply{header: h, code: code, payload: payload}, err
}

// control sends a request that is about the link or the session itself, once. An error is an [*Error].
func (c *Client) control(
	ctx context.Context, l *link, call wire.Command, h wire.RequestHeader, body wire.Body,
) (reply, error) {
	frame, err := wire.AppendRequest(nil, h, body)
	if err != nil {
		return reply{}, malformed(call.String(), l.addr, err)
	}
	return c.controlFrame(ctx, l, call, &h, frame)
}

// controlFrame is control for a frame that is made already.
func (c *Client) controlFrame(
	ctx context.Context, l *link, call wire.Command, h *wire.RequestHeader, frame transport.Frame,
) (reply, error) {
	answer, err := l.conn.Do(ctx, frame)
	if err != nil {
		return reply{}, linkError(call.String(), l.addr, err)
	}
	r, err := readReply(answer, h)
	if err != nil {
		return reply{}, malformed(call.String(), l.addr, err)
	}
	if r.code != 0 {
		return r, &Error{Code: r.code, Call: call.String(), Addr: l.addr}
	}
	return r, nil
}

// header returns the header of a request on a link, with the next number if somebody is logged in there.
func (c *Client) header(l *link, command wire.Command) wire.RequestHeader {
	h := wire.NewRequest(command)
	if l.session == nil {
		h.Client = random128() // whoever: there is no session
		return h
	}
	h.Client, h.Session, h.Request = l.session.client, l.session.number, c.requests.Add(1)
	return h
}

// ping asks for a sign of life on a link.
func (c *Client) ping(ctx context.Context, l *link) error {
	_, err := c.control(ctx, l, wire.CmdPing, c.header(l, wire.CmdPing), nil)
	return err
}

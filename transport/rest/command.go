package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// result is what came of a command: a code, or a payload, which may be none.
type result struct {
	code    wire.Code
	payload wire.Body
	raw     []byte // stands behind the payload
}

// answer makes the request of a frame, and the frame of the answer.
func (c *Conn) answer(ctx context.Context, h *wire.RequestHeader, body []byte) (transport.Frame, error) {
	switch command := h.Carries(); command {
	case wire.CmdLoginRegister:
		return c.logIn(ctx, h, body)
	case wire.CmdBindSession:
		return c.bind(h)
	case wire.CmdLogout:
		return c.logOut(ctx, h)
	case wire.CmdPing:
		return c.finish(h, result{}, c.ping(ctx))
	case wire.CmdPollMessages:
		got, err := c.poll(ctx, h, body)
		return c.finish(h, got, err)
	case wire.CmdFetchMessages:
		got, err := c.fetch(ctx, body)
		return c.finish(h, got, err)
	case wire.CmdGetPartitionRoute:
		got, err := c.route(ctx, body)
		return c.finish(h, got, err)
	default:
		got, err := c.command(ctx, command, h.Context, body)
		return c.finish(h, got, err)
	}
}

// finish makes the frame of a result.
func (c *Conn) finish(h *wire.RequestHeader, got result, err error) (transport.Frame, error) {
	switch {
	case err != nil:
		return nil, err
	case got.code != 0:
		return refusal(h, got.code), nil
	}
	frame, err := replyTo(h, got.payload, got.raw)
	if err != nil {
		return nil, err
	}
	if err := frame.Check(c.limits.MaxReplyBytes); err != nil {
		return nil, transport.NameLimit(err, "MaxReplyBytes")
	}
	return frame, nil
}

// replyTo makes the reply to a request. It does not say that something is committed, as no answer over HTTP says so.
func replyTo(h *wire.RequestHeader, payload wire.Body, raw []byte) (transport.Frame, error) {
	header := wire.NewReply(h)
	if polled, ok := payload.(*wire.PolledMessages); ok {
		header.Incarnation = polled.Context.Incarnation
	}
	frame, err := wire.AppendReply(nil, header, payload)
	if err == nil && len(raw) > 0 {
		frame = append(frame, raw...)
		err = wire.SetSize(frame)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", transport.ErrProtocol, err)
	}
	return frame, nil
}

// refusal makes the reply that says why not.
func refusal(h *wire.RequestHeader, code wire.Code) transport.Frame {
	header := wire.NewReply(h)
	header.Status = code
	frame, _ := wire.AppendReply(nil, header, nil) // a header alone has no error
	return frame
}

// command makes the request of a row of the table.
func (c *Conn) command(ctx context.Context, command wire.Command, at wire.PartitionContext, body []byte) (result, error) {
	row, call, code := write(command, at, body)
	if code != 0 {
		return result{code: code}, nil
	}
	got, err := c.exchange(ctx, &outgoing{
		method: row.method, path: row.target(call.path), query: call.query, body: call.body, safe: row.safe(),
		wait: call.wait, timeout: call.timeout,
	})
	if err != nil {
		return result{}, err
	}
	if !row.safe() && got.status >= http.StatusInternalServerError && got.status != http.StatusServiceUnavailable {
		return result{}, transport.Lost(fmt.Errorf("status %d, which does not say whether the write was carried out", got.status))
	}
	if row.maybe && got.status == http.StatusNotFound && absent(command, codeOf(got)) {
		return result{}, nil
	}
	if code := codeOf(got); code != 0 {
		return result{code: code}, nil
	}
	payload, raw, err := row.reply.read(got.body)
	if err != nil {
		return result{}, fmt.Errorf("%w: the answer to %s cannot be read: %w", transport.ErrProtocol, command, err)
	}
	return result{payload: payload, raw: raw}, nil
}

// absent says whether a code means that there is nothing of what was asked for. A partition that is not there is not the
// same as an offset that is not.
func absent(command wire.Command, code wire.Code) bool {
	return command != wire.CmdGetConsumerOffset || code == wire.CodeResourceNotFound || code == wire.CodeConsumerOffsetNotFound
}

// write finds the row for a request and writes the request so.
func write(command wire.Command, at wire.PartitionContext, body []byte) (*route, *call, wire.Code) {
	for _, row := range table {
		if row.command != command || row.served {
			continue
		}
		c := &call{writing: true, at: at, query: url.Values{}}
		row.request.write(c, body)
		var wrong *callError
		switch {
		case errors.As(c.err, &wrong):
			return nil, nil, wrong.code
		case !c.declined:
			return row, c, 0
		}
	}
	return nil, nil, wire.CodeFeatureUnavailable
}

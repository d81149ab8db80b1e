package client

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// replyBody is the body of a reply, of type T.
type replyBody[T any] interface {
	*T
	wire.Body
}

// call makes a request that is of no partition, body nil for none, and returns the reply. From the command it follows how:
// a read is asked anew when it gets no answer; a change of metadata goes through its lane and is never done twice.
func call[R any, P replyBody[R]](ctx context.Context, c *Client, command wire.Command, body wire.Body) (R, error) {
	payload, addr, err := c.request(ctx, command, body)
	if err != nil {
		var none R
		return none, err
	}
	r, err := wire.Decode[R, P](payload)
	if err != nil {
		return r, malformed(command.String(), addr, err)
	}
	return r, nil
}

// callIfAny is [call] for one thing that may not be there: found says so.
func callIfAny[R any, P replyBody[R]](
	ctx context.Context, c *Client, command wire.Command, body wire.Body,
) (r R, found bool, err error) {
	payload, addr, err := c.request(ctx, command, body)
	if err != nil {
		return r, false, err
	}
	r, found, err = wire.DecodeIfAny[R, P](payload)
	if err != nil {
		return r, false, malformed(command.String(), addr, err)
	}
	return r, found, nil
}

// callBytes is [call] for a reply that is no body: its bytes, which are the caller's.
func callBytes(ctx context.Context, c *Client, command wire.Command, body wire.Body) ([]byte, error) {
	payload, _, err := c.request(ctx, command, body)
	return payload, err
}

// request makes a request that is of no partition and returns the payload of the reply.
func (c *Client) request(ctx context.Context, command wire.Command, body wire.Body) (payload []byte, addr string, err error) {
	payload, err = c.requestRaw(ctx, command, body, nil)
	return payload, c.Addr(), err
}

// requestRaw is request with the bytes of the body, if body is nil. A command that is not known counts as a read.
func (c *Client) requestRaw(ctx context.Context, command wire.Command, body wire.Body, raw []byte) ([]byte, error) {
	if command.Operation() == wire.OpNonReplicated {
		ctx, cancel := c.bounded(ctx)
		defer cancel()
		r, err := c.ask(ctx, &query{command: command, body: body, raw: raw, lineage: c.begin()})
		return r.payload, err
	}
	frame, err := c.encoded(command, body, raw)
	if err != nil {
		return nil, err
	}
	r, err := c.perform(ctx, &write{command: command, frame: frame})
	return r.payload, err
}

// callOne is [callIfAny] where it is an error, with the code absent, that there is none.
func callOne[R any, P replyBody[R]](
	ctx context.Context, c *Client, command wire.Command, body wire.Body, absent wire.Code,
) (R, error) {
	r, found, err := callIfAny[R, P](ctx, c, command, body)
	if err == nil && !found {
		err = &Error{Code: absent, Call: command.String(), Addr: c.Addr()}
	}
	return r, err
}

// do is [call] for what only succeeds, if there is no fault in the arguments.
func (c *Client) do(ctx context.Context, command wire.Command, body wire.Body, faults ...*fault) error {
	if err := check(command, faults...); err != nil {
		return err
	}
	_, err := call[wire.Empty](ctx, c, command, body)
	return err
}

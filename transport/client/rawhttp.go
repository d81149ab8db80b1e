package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// SendHTTPRequest makes any request of the HTTP interface of the server, as the user that is logged in, and returns the status
// and the body of whatever answer there is: a status is not an error. The path begins with / and may have a query; the body is
// JSON, nil for none. Over other transports the error is [wire.CodeFeatureUnavailable]. A path that changes who is logged in is
// refused with [wire.CodeInvalidCommand]. [Timeout] bounds it. It waits for no lane. A request but GET and HEAD that was sent
// and got no answer is [wire.CodeTransientNotCommitted]: it may have happened or not.
func (c *Client) SendHTTPRequest(
	ctx context.Context, method, path string, body []byte,
) (status int, reply []byte, err error) {
	const call = "http request"
	if !c.sessionless {
		return 0, nil, &Error{Code: wire.CodeFeatureUnavailable, Call: call, Err: ErrHTTPOnly}
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	l, err := c.await(ctx, call, c.begin())
	if err != nil {
		return 0, nil, err
	}
	conn, ok := l.conn.(transport.HTTPConn)
	if !ok {
		return 0, nil, &Error{Code: wire.CodeFeatureUnavailable, Call: call, Addr: l.addr}
	}
	status, reply, err = conn.DoHTTP(ctx, method, path, body)
	switch {
	case err == nil:
		return status, reply, nil
	case transport.Unsent(err) && ctx.Err() == nil && l.conn.Err() == nil && !errors.Is(err, transport.ErrInFlight):
		return 0, nil, malformed(call, l.addr, err) // the link refuses such a request
	case !transport.Unsent(err) && method != http.MethodGet && method != http.MethodHead:
		return 0, nil, &Error{Code: wire.CodeTransientNotCommitted, Call: call, Addr: l.addr, Err: err}
	}
	return 0, nil, linkError(call, l.addr, err)
}

package transport

import "context"

// Sessionless is what a [Dialer] or a [Conn] has whose links carry no session: those over HTTP. A server knows of such a
// link no more than the request at hand. So
//
//   - it knows no repeat of a write: a frame with an unknown outcome must not be sent again, as it may be done twice;
//   - there are no groups to join, no cancel, and no idempotent producers: such requests get code 5;
//   - session numbers mean nothing, and to bind a session is only to ask whether the link is logged in.
type Sessionless interface {
	// Sessionless says whether that is so. A type that has the method may still say false.
	Sessionless() bool
}

// IsSessionless says whether the links of a dialer, or a link, carry no session. One that does not say so carries one.
func IsSessionless(of any) bool {
	s, ok := of.(Sessionless)
	return ok && s.Sessionless()
}

// HTTPConn is a [Conn] over HTTP, which can make any request of the server's HTTP interface.
type HTTPConn interface {
	Conn
	// DoHTTP makes a request as the user that is logged in, and returns the status and the body of whatever answer there
	// is, in memory that is the caller's. The path begins with / and may have a query; the body is JSON, nil for none.
	// Requests that change who is logged in are refused. Retries, errors and ctx are as with [Conn.Do], but a status is
	// none of its errors.
	DoHTTP(ctx context.Context, method, path string, body []byte) (status int, reply []byte, err error)
}

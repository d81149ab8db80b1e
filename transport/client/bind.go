package client

import (
	"context"
	"errors"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// bindTimeout bounds the bind of a session to a new link.
const bindTimeout = 10 * time.Second

// bind makes a session go on over a new link, also one of which only the login was sent. It returns the session with its
// number. (Iggy binary protocol, binding another connection.)
func (c *Client) bind(ctx context.Context, l *link, s *session) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bindTimeout, ErrDeadline)
	defer cancel()
	info := c.info(l.addr)
	h := wire.NewRequest(wire.CmdBindSession)
	h.Client, h.Session = s.client, s.number
	if s.number != 0 {
		h.Request = c.requests.Add(1)
	}
	r, err := c.control(ctx, l, wire.CmdBindSession, h, &wire.BindSession{
		Client: info, ClientID: s.client, Session: s.number, MetadataWatermark: c.watermark.Load(), Secret: s.secret,
	})
	var e *Error
	if window := versionRefused(err, info.Version); window != nil && errors.As(err, &e) {
		e.Code, e.Err = wire.CodeIncompatibleProtocolVersion, window
	}
	if err != nil {
		return nil, err
	}
	return c.registered(l, wire.CmdBindSession, info.Version, s, r)
}

// sessionLost says whether an error of a bind means that the server does not know the session: what it answered or evicted
// the client for, and not what else became of the link.
func sessionLost(err error) bool {
	var e *Error
	var evicted *transport.EvictedError
	if !errors.As(err, &e) || e.Err != nil && !errors.As(err, &evicted) {
		return false
	}
	return e.Code == wire.CodeUnauthenticated || e.Code == wire.CodeTransientNotCommitted
}

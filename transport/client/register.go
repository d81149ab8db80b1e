package client

import (
	"context"
	"errors"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// register begins a session on a link. The session is noted before the login is sent: if its reply is lost, the next link
// asks what became of it. (Iggy binary protocol, login.)
func (c *Client) register(ctx context.Context, l *link, who *credentials) (*session, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	s := newSession()
	command, info, body := c.login(l.addr, who, s)
	h := wire.NewRequest(command)
	h.Client = s.client
	frame, err := wire.AppendRequest(nil, h, body)
	if err != nil {
		return nil, malformed(command.String(), l.addr, err)
	}
	h.Checksum = wire.RequestChecksum(frame[wire.HeaderSize:])
	stamp(frame, &h)
	if !c.sessionless {
		c.setSession(s)
	}
	r, err := c.registerFrame(ctx, l, command, &h, frame)
	if err == nil {
		s, err = c.registered(l, command, info.Version, s, r)
	}
	if err != nil {
		return nil, c.judgeLogin(l, info.Version, err)
	}
	c.setSession(s)
	c.raiseWatermark(r.header.Commit)
	return s, nil
}

// login is the request that begins a session.
func (c *Client) login(addr string, who *credentials, s *session) (wire.Command, wire.ClientInfo, wire.Body) {
	info := c.info(addr)
	if who.token != "" {
		return wire.CmdLoginRegisterWithToken, info,
			&wire.LoginRegisterWithToken{Client: info, Secret: s.secret, Token: who.token}
	}
	return wire.CmdLoginRegister, info,
		&wire.LoginRegister{Client: info, Secret: s.secret, Username: who.username, Password: who.password}
}

// registerFrame sends a login until the server has decided about it: the same frame each time.
func (c *Client) registerFrame(
	ctx context.Context, l *link, command wire.Command, h *wire.RequestHeader, frame []byte,
) (reply, error) {
	pause := c.newPause()
	for {
		r, err := c.controlFrame(ctx, l, command, h, frame)
		transient := r.code == wire.CodeTransientNotCommitted || r.code == wire.CodeTransientNotAccepted
		if !transient || !pause.wait(ctx) {
			return r, err
		}
	}
}

// registered reads the reply to a login or a bind.
func (c *Client) registered(l *link, command wire.Command, v wire.Version, s *session, r reply) (*session, error) {
	is, err := wire.Decode[wire.Registered](r.payload)
	if err != nil {
		return nil, malformed(command.String(), l.addr, err)
	}
	if err := checkVersion(v, &is); err != nil {
		return nil, &Error{Code: wire.CodeIncompatibleProtocolVersion, Call: command.String(), Addr: l.addr, Err: err}
	}
	number := is.Session
	if c.sessionless {
		number = sessionlessNumber
	}
	switch {
	case number == 0:
		return nil, &Error{Code: wire.CodeInvalidSession, Call: command.String(), Addr: l.addr}
	case s.number != 0 && number != s.number:
		return nil, &Error{Code: wire.CodeSessionMismatch, Call: command.String(), Addr: l.addr}
	}
	return s.numbered(number), nil
}

// judgeLogin says what an error of a login means: a version to try, credentials to forget, or a loss, in which the session
// may have begun.
func (c *Client) judgeLogin(l *link, announced wire.Version, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if window := versionRefused(err, announced); window != nil {
		e.Code, e.Err = wire.CodeIncompatibleProtocolVersion, window
		c.setSession(nil)
		return e
	}
	if !isRejection(e.Code) {
		if e.Code != wire.CodeDisconnected {
			c.setSession(nil) // the server has decided, or nothing of the kind was sent
		}
		return e
	}
	if e.Code == wire.CodeInvalidFormat && e.Err == nil {
		e.Err = ErrOtherProtocol
	}
	c.setSession(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.credentials, c.refused = nil, e
	return e
}

// rejections are the codes behind which the same credentials are of no use, so that they are not sent again and again.
var rejections = []wire.Code{
	wire.CodeInvalidFormat, wire.CodeUnauthenticated, wire.CodeInvalidCredentials, wire.CodeInvalidUsername,
	wire.CodeInvalidPassword, wire.CodeUserInactive, wire.CodeInvalidPersonalAccessToken,
	wire.CodePersonalAccessTokenExpired,
}

func isRejection(code wire.Code) bool { return slices.Contains(rejections, code) }

package broker

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// What a listener asks that has no sessions: for HTTP. (Iggy HTTP interface.)

// CheckPassword returns the user whose name and password these are; the code is why there is none. The end of ctx gives
// it up, with code 58.
func (b *Broker) CheckPassword(ctx context.Context, name, password string) (user uint32, code wire.Code) {
	u, ok, done := b.checkPassword(ctx, wire.Named(name), password)
	switch {
	case !done:
		return 0, wire.CodeTransientNotAccepted
	case !ok:
		return 0, wire.CodeInvalidCredentials
	}
	return u.id, b.CheckUser(u.id)
}

// CheckToken returns the user of a personal access token; the code is why there is none.
func (b *Broker) CheckToken(token string) (user uint32, code wire.Code) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tokens[hashToken(token)]
	switch {
	case t == nil:
		return 0, wire.CodeInvalidPersonalAccessToken
	case t.expired(b.now()):
		return 0, wire.CodePersonalAccessTokenExpired
	case t.user.status != wire.UserActive:
		return 0, wire.CodeUserInactive
	}
	return t.user.id, 0
}

// CheckUser returns why a user may not make requests; 0 if it may. Numbers of users are not used twice.
func (b *Broker) CheckUser(user uint32) wire.Code {
	b.mu.Lock()
	defer b.mu.Unlock()
	u, ok := b.users.find(wire.ID(user))
	switch {
	case !ok:
		return wire.CodeUnauthenticated
	case u.status != wire.UserActive:
		return wire.CodeUserInactive
	}
	return 0
}

// Execute answers a request of a user who has no session. It is no repeat of another one, and cannot be cancelled but by
// the end of ctx, after which there is no reply. What needs a session gets code 5. Its connection is not among the clients.
func (b *Broker) Execute(ctx context.Context, user uint32, frame []byte) (reply []byte) {
	h, body, err := wire.DecodeRequest(frame)
	if err != nil {
		return nil
	}
	link := &Link{broker: b, peer: Peer{Transport: wire.TransportHTTP}, room: newRoom(b.config.Limits.UnsentBytes)}
	r := &request{broker: b, header: h, body: body, frame: frame, link: link}
	o := r.execute(ctx, user)
	switch {
	case o.abandoned:
		return nil
	case o.repeat != nil:
		return o.repeat
	}
	return r.reply(o)
}

func (r *request) execute(ctx context.Context, user uint32) outcome {
	command := r.header.Carries()
	answer, ok := handlers[command]
	switch {
	case !ok, needsSession(command):
		return refused(wire.CodeFeatureUnavailable)
	case command.Operation() != r.header.Operation, r.header.Validate() != nil,
		len(r.body) > maxBody && command != wire.CmdSendMessages:
		return refused(wire.CodeInvalidCommand)
	}
	if r.session = r.broker.passing(user); r.session == nil {
		return refused(wire.CodeUnauthenticated)
	}
	return answer(ctx, r)
}

// needsSession says whether a command is about the session, or leaves something in it.
func needsSession(command wire.Command) bool {
	switch command {
	case wire.CmdLogout, wire.CmdGetMe, wire.CmdJoinConsumerGroup, wire.CmdLeaveConsumerGroup, wire.CmdSyncConsumerGroup:
		return true
	}
	return false
}

// passing returns a session for one request of a user, or nil if there is no such user. It is not among the sessions, and
// nothing of it is left behind.
func (b *Broker) passing(user uint32) *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	u, ok := b.users.find(wire.ID(user))
	if !ok || u.status != wire.UserActive {
		return nil
	}
	return &session{user: u, passing: true, waits: map[uint64]chan struct{}{}}
}

// alive says whether a session may still do something, under mu: it has not ended, and for one request its user is still
// there.
func (b *Broker) alive(s *session) bool {
	if !s.passing {
		return b.sessions[s.client] == s
	}
	u, ok := b.users.find(wire.ID(s.user.id))
	return ok && u == s.user && u.status == wire.UserActive
}

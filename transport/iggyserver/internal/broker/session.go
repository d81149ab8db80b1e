package broker

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// session is what a login begins. It lives on without a connection, and may have several. (Iggy binary protocol, session
// lifecycle.) Its fields are guarded by the broker's mu.
type session struct {
	client   wire.Uint128
	number   uint64
	user     *user
	checksum wire.Uint128      // of the login: who sends it again gets the same session
	verifier [sha256.Size]byte // hash of the secret that binds other connections
	links    map[*Link]bool
	alone    time.Time // since when it has no link
	ledger   ledger
	members  map[*group]*member
	waits    map[uint64]chan struct{} // reads that wait, by request; closed to end the wait
	early    []uint64                 // cancelled before they came
	passing  bool                     // it is for one request, and not among the sessions
}

// newSession begins a session for a user, under mu. It returns nil if there are too many that have connections.
func (b *Broker) newSession(r *request, u *user, secret [wire.SecretSize]byte) *session {
	if len(b.sessions) >= b.config.Limits.Sessions && !b.dropIdleSession() {
		return nil
	}
	b.op++
	s := &session{
		client:   r.header.Client,
		number:   b.op,
		user:     u,
		checksum: r.header.Checksum,
		verifier: sha256.Sum256(secret[:]),
		links:    map[*Link]bool{},
		members:  map[*group]*member{},
		waits:    map[uint64]chan struct{}{},
	}
	b.sessions[s.client] = s
	return s
}

// dropIdleSession ends the session that has been without a connection for the longest.
func (b *Broker) dropIdleSession() bool {
	var oldest *session
	for _, s := range b.sessions {
		if len(s.links) == 0 && (oldest == nil || s.alone.Before(oldest.alone)) {
			oldest = s
		}
	}
	if oldest != nil {
		b.endSession(oldest)
	}
	return oldest != nil
}

// endSession forgets a session: its links have none any more, and its partitions go to others. It returns the links.
func (b *Broker) endSession(s *session) []*Link {
	delete(b.sessions, s.client)
	links := slices.Collect(maps.Keys(s.links))
	for _, l := range links {
		l.unbind()
	}
	b.leaveAll(s)
	for _, wait := range s.waits {
		close(wait)
	}
	s.waits = nil
	return links
}

// leaveAll ends the memberships of a session.
func (b *Broker) leaveAll(s *session) {
	for g, m := range s.members {
		b.op++
		b.leave(g, m)
	}
}

// attach makes a session that of a link.
func (s *session) attach(l *Link) {
	if l.session != s {
		l.unbind()
	}
	l.session = s
	s.links[l] = true
}

// registered is the reply to a login and to a bind.
func (s *session) registered(b *Broker) wire.Body {
	return &wire.Registered{
		UserID: s.user.id, Session: s.number, Version: b.config.Version, ServerVersion: b.config.ServerVersion,
	}
}

// bind makes a session go on over another connection: who has its secret may. (Iggy binary protocol, binding.)
func (r *request) bind() outcome {
	b := r.broker
	if o := r.versionGate(); o.evict != 0 {
		return o
	}
	arguments, err := wire.Decode[wire.BindSession](r.body)
	if err != nil || arguments.ClientID != r.header.Client {
		return refused(wire.CodeInvalidCommand)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[arguments.ClientID]
	given := sha256.Sum256(arguments.Secret[:])
	switch {
	case s == nil, r.link.ended:
		return refused(wire.CodeUnauthenticated)
	case arguments.Session != 0 && arguments.Session != s.number, r.header.Session != arguments.Session:
		return refused(wire.CodeUnauthenticated)
	case subtle.ConstantTimeCompare(given[:], s.verifier[:]) != 1:
		return refused(wire.CodeUnauthenticated)
	}
	s.attach(r.link)
	return outcome{payload: s.registered(b)}
}

// logout ends the session. The link may begin another one.
func logout(_ context.Context, r *request) outcome {
	if len(r.body) > 0 {
		return refused(wire.CodeInvalidCommand)
	}
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.alive(r.session) {
		return refused(wire.CodeUnauthenticated)
	}
	b.endSession(r.session)
	b.op++
	return outcome{op: b.op}
}

// repeats says whether a login is the one that began the session, sent again.
func (s *session) repeats(r *request, secret [wire.SecretSize]byte) bool {
	given := sha256.Sum256(secret[:])
	return s.checksum == r.header.Checksum && subtle.ConstantTimeCompare(given[:], s.verifier[:]) == 1
}

// supersede ends a session that a new login of its client takes the place of.
func (b *Broker) supersede(s *session, by *Link) {
	for _, l := range b.endSession(s) {
		if l != by {
			l.evict(s.client, wire.EvictSessionTooLow)
		}
	}
}

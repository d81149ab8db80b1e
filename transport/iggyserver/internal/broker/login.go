package broker

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// versionGate looks at what a login or a bind begins with, before anything else of it. (Iggy binary protocol, version
// gate.)
func (r *request) versionGate() outcome {
	info, err := wire.DecodeClientInfo(r.body)
	if err != nil {
		return outcome{evict: wire.EvictMalformedLogin}
	}
	newest := r.broker.config.Version
	sameLine := info.Version.Major() == newest.Major() && info.Version.Minor() == newest.Minor()
	if info.Version < r.broker.config.Oldest || info.Version > newest && !sameLine {
		return outcome{evict: wire.EvictIncompatibleProtocol}
	}
	return outcome{}
}

// register begins a session. (Iggy binary protocol, login.)
func (r *request) register(ctx context.Context) outcome {
	if r.header.Session != 0 || r.header.Request != 0 {
		return refused(wire.CodeInvalidCommand)
	}
	if o := r.versionGate(); o.evict != 0 {
		return o
	}
	password, token, err := wire.DecodeLogin(r.body)
	if err != nil {
		return outcome{evict: wire.EvictMalformedLogin}
	}
	if token != nil {
		return r.registerToken(token)
	}
	b := r.broker
	u, ok, done := b.checkPassword(ctx, wire.Named(password.Username), password.Password)
	switch {
	case !done:
		return outcome{abandoned: true}
	case !ok:
		return outcome{evict: wire.EvictInvalidCredentials}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return r.begin(u, password.Secret)
}

// checkPassword compares a password with that of a user. It takes as long for a user that is not there. done is false if
// ctx ended first.
func (b *Broker) checkPassword(ctx context.Context, name wire.Identifier, password string) (u *user, ok, done bool) {
	b.mu.Lock()
	u, found := b.users.find(name)
	hash := b.decoy
	if found {
		hash = u.password
	}
	b.mu.Unlock()
	if !b.hash(ctx, func() { ok = hash.matches(password) }) {
		return nil, false, false
	}
	return u, ok && found, true
}

// hash does something that hashes a password, with few others at a time. It returns false if ctx ended first.
func (b *Broker) hash(ctx context.Context, do func()) bool {
	select {
	case b.hashing <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-b.hashing }()
	do()
	return true
}

// registerToken begins a session with a personal access token.
func (r *request) registerToken(login *wire.LoginRegisterWithToken) outcome {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tokens[hashToken(login.Token)]
	if t == nil || t.expired(b.now()) {
		return outcome{evict: wire.EvictInvalidToken}
	}
	return r.begin(t.user, login.Secret)
}

// begin begins a session for a user whose credentials were right, under mu. A login that is sent again has begun it
// already; a new one of the same client takes the place of the old.
func (r *request) begin(u *user, secret [wire.SecretSize]byte) outcome {
	b := r.broker
	if current, ok := b.users.find(wire.ID(u.id)); !ok || current != u {
		return outcome{evict: wire.EvictInvalidCredentials}
	}
	switch {
	case u.status != wire.UserActive:
		return outcome{evict: wire.EvictUserInactive}
	case r.link.ended:
		return outcome{abandoned: true}
	}
	s := b.sessions[r.header.Client]
	switch {
	case s == nil:
	case s.user != u:
		return outcome{evict: wire.EvictSessionError}
	case !s.repeats(r, secret):
		b.supersede(s, r.link)
		s = nil
	}
	if s == nil {
		s = b.newSession(r, u, secret)
	}
	if s == nil {
		return outcome{evict: wire.EvictSessionError}
	}
	s.attach(r.link)
	return outcome{payload: s.registered(b), op: s.number}
}

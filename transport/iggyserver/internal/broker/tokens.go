package broker

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"math"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// accessToken is a personal access token. The token itself is told once and not kept: 48 random bytes need no salt.
type accessToken struct {
	name     string
	user     *user
	hash     [sha256.Size]byte
	expiryAt uint64 // in microseconds since 1970; 0 for never
}

func hashToken(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

func (t *accessToken) expired(now uint64) bool { return t.expiryAt != 0 && now >= t.expiryAt }

// sortedTokens are the tokens of a user by name.
func (u *user) sortedTokens() []*accessToken {
	return slices.SortedFunc(maps.Values(u.tokens), func(a, b *accessToken) int { return cmp.Compare(a.name, b.name) })
}

// withTokens is the user with other tokens.
func (u *user) withTokens(change func(map[string]*accessToken)) *user {
	next := *u
	next.tokens = maps.Clone(u.tokens)
	change(next.tokens)
	return &next
}

func getTokens(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	var tokens wire.PersonalAccessTokens
	for _, t := range r.session.user.sortedTokens() {
		tokens.Tokens = append(tokens.Tokens, wire.PersonalAccessToken{Name: t.name, ExpiryAt: t.expiryAt})
	}
	return &tokens, 0
}

func createToken(r *request, arguments wire.CreatePersonalAccessToken) (wire.Body, wire.Code) {
	b, u := r.broker, r.session.user
	now := b.now()
	for name, t := range u.tokens {
		if t.expired(now) {
			b.forgetToken(u, name)
		}
	}
	t := &accessToken{name: arguments.Name, user: u}
	switch {
	case !lengthIn(t.name, 3, 30):
		return nil, wire.CodeInvalidPersonalAccessTokenName
	case u.tokens[t.name] != nil:
		return nil, wire.CodePersonalAccessTokenAlreadyExists
	case len(u.tokens) >= b.config.Limits.Tokens:
		return nil, wire.CodePersonalAccessTokensLimitReached
	case arguments.Expiry == wire.NeverExpires, arguments.Expiry == wire.ServerDefault:
	case arguments.Expiry > math.MaxInt64-now:
		return nil, wire.CodeInvalidPersonalAccessTokenExpiry
	default:
		t.expiryAt = now + arguments.Expiry
	}
	var random [48]byte
	_, _ = rand.Read(random[:]) // never returns an error
	raw := base64.RawURLEncoding.EncodeToString(random[:])
	t.hash = hashToken(raw)
	next := u.withTokens(func(all map[string]*accessToken) { all[t.name] = t })
	if code := b.save(next.entry()); code != 0 {
		return nil, code
	}
	u.tokens[t.name], b.tokens[t.hash] = t, t
	return &wire.RawToken{Token: raw}, 0
}

func deleteToken(r *request, arguments wire.DeletePersonalAccessToken) (wire.Body, wire.Code) {
	u := r.session.user
	if u.tokens[arguments.Name] == nil {
		return nil, wire.CodeResourceNotFound
	}
	next := u.withTokens(func(all map[string]*accessToken) { delete(all, arguments.Name) })
	if code := r.broker.save(next.entry()); code != 0 {
		return nil, code
	}
	r.broker.forgetToken(u, arguments.Name)
	return nil, 0
}

func (b *Broker) forgetToken(u *user, name string) {
	delete(b.tokens, u.tokens[name].hash)
	delete(u.tokens, name)
}

// Package webapi is the embedded server as the HTTP interface sees it: the broker, and the tokens that stand for a login.
package webapi

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// DefaultLifetime is how long a token counts if nothing else is said.
const DefaultLifetime = time.Hour

// issuer names the server in its tokens, and whom they are for.
const issuer = "iggy.apache.org"

// secretBytes is the length of a secret that is made: that of what it is hashed to.
const secretBytes = 32

// Backend answers the HTTP interface. It is safe for concurrent use.
type Backend struct {
	broker   *broker.Broker
	now      func() time.Time
	lifetime time.Duration
	secret   []byte
	parser   *jwt.Parser
}

var _ rest.Backend = (*Backend)(nil)

// New returns a backend whose tokens count for some time by now, 0 for [DefaultLifetime]. They are signed with a secret that is
// made now: those of another server, or of the same one before it was started again, are worth nothing.
func New(b *broker.Broker, now func() time.Time, lifetime time.Duration) *Backend {
	if lifetime == 0 {
		lifetime = DefaultLifetime
	}
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never returns an error
	return &Backend{broker: b, now: now, lifetime: lifetime, secret: secret, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(issuer),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(now), jwt.WithStrictDecoding(),
	)}
}

// Login checks a password or a personal access token.
func (b *Backend) Login(ctx context.Context, login wire.Body) (rest.Identity, wire.Code) {
	user, code := uint32(0), wire.CodeInvalidCommand
	switch v := login.(type) {
	case *wire.LoginRegister:
		user, code = b.broker.CheckPassword(ctx, v.Username, v.Password)
	case *wire.LoginRegisterWithToken:
		user, code = b.broker.CheckToken(v.Token)
	}
	if code != 0 {
		return rest.Identity{}, code
	}
	return b.issue(user)
}

// Refresh makes a new token for who has one.
func (b *Backend) Refresh(_ context.Context, token string) (rest.Identity, wire.Code) {
	user, code := b.check(token)
	if code != 0 {
		return rest.Identity{}, code
	}
	return b.issue(user)
}

// Authenticate returns the user of a token: a signed one has dots, which a personal access token has not.
func (b *Backend) Authenticate(_ context.Context, token string) (user uint32, code wire.Code) {
	if strings.Contains(token, ".") {
		return b.check(token)
	}
	user, code = b.broker.CheckToken(token)
	if code != 0 {
		code = wire.CodeUnauthenticated // whatever is wrong with it
	}
	return user, code
}

// Execute has the broker carry out a request.
func (b *Backend) Execute(ctx context.Context, user uint32, request transport.Frame) transport.Frame {
	return b.broker.Execute(ctx, user, request)
}

// issue makes a token. (Iggy HTTP interface, JWT.)
func (b *Backend) issue(user uint32) (rest.Identity, wire.Code) {
	now := b.now()
	expiry := now.Add(b.lifetime).Truncate(time.Second)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		ID: rand.Text(), Subject: strconv.FormatUint(uint64(user), 10), Issuer: issuer, Audience: jwt.ClaimStrings{issuer},
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expiry),
	}).SignedString(b.secret)
	if err != nil {
		return rest.Identity{}, wire.CodeError
	}
	return rest.Identity{User: user, Token: token, Expiry: expiry}, 0
}

// check returns the user of a token that the backend has made, that has not ended, and whose user is there.
func (b *Backend) check(token string) (user uint32, code wire.Code) {
	var claims jwt.RegisteredClaims
	_, err := b.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return b.secret, nil })
	if err != nil {
		return 0, wire.CodeUnauthenticated
	}
	id, err := strconv.ParseUint(claims.Subject, 10, 32)
	if err != nil || b.broker.CheckUser(uint32(id)) != 0 {
		return 0, wire.CodeUnauthenticated
	}
	return uint32(id), 0
}

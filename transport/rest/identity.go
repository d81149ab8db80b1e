package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// Paths that change who is logged in.
const (
	pathLogin      = "/users/login"
	pathTokenLogin = "/personal-access-tokens/login"
	pathRefresh    = "/users/refresh-token"
	pathLogout     = "/users/logout"
)

// refreshAhead is how long before its end a token is replaced, unless that is more than a tenth of its life.
const refreshAhead = time.Minute

// refreshPause is how long after a refresh that failed the next one is tried.
const refreshPause = 5 * time.Second

// login is what was logged in with.
type login struct {
	path string
	body transport.Secret // JSON
}

// identity is who is logged in on a link.
type identity struct {
	turn chan struct{} // holds one while a token is fetched

	mu        sync.Mutex
	token     transport.Secret // empty for none; guarded by mu, as what follows
	user      uint32
	refreshAt time.Time // zero for never
	with      *login    // nil when nobody is logged in
}

func newIdentity() *identity { return &identity{turn: make(chan struct{}, 1)} }

// current returns the token and whether it is time to replace it. Nobody has the empty one.
func (i *identity) current(now time.Time) (token string, stale bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token.Empty() {
		return "", false
	}
	return i.token.Reveal(), !i.refreshAt.IsZero() && !now.Before(i.refreshAt)
}

// loggedIn returns the user, and what was logged in with; nil for nobody.
func (i *identity) loggedIn() (user uint32, with *login) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.user, i.with
}

// set takes note of a login, or of a token in the place of another one.
func (i *identity) set(got httpjson.Identity, with *login, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token, i.user, i.with, i.refreshAt = transport.NewSecret(got.AccessToken.Token), got.UserID, with, time.Time{}
	expiry := time.Unix(int64(min(got.AccessToken.Expiry, 1<<40)), 0)
	if life := expiry.Sub(now); life > 0 { // or else the clocks differ, and the server says when it is over
		i.refreshAt = expiry.Add(-min(life/10, refreshAhead))
	}
}

// later puts the next refresh off.
func (i *identity) later(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refreshAt = now.Add(refreshPause)
}

// forget ends the login on this side.
func (i *identity) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token, i.with, i.user, i.refreshAt = transport.Secret{}, nil, 0, time.Time{}
}

// token returns what a request carries, after it was replaced if it ends soon. That this fails is no matter yet: the
// server says when the old one has ended.
func (c *Conn) token(ctx context.Context) string {
	token, stale := c.who.current(c.config.clock.Now())
	if !stale || c.ending.Take(ctx, c.who.turn) != nil {
		return token
	}
	defer func() { <-c.who.turn }()
	if token, stale = c.who.current(c.config.clock.Now()); !stale {
		return token // somebody else has done it
	}
	_, with := c.who.loggedIn()
	body, err := json.Marshal(httpjson.LoginWithToken{Token: token})
	if err == nil {
		_, _, err = c.identify(ctx, &login{path: pathRefresh, body: transport.NewSecret(string(body))}, with)
	}
	if err != nil {
		c.who.later(c.config.clock.Now())
	}
	token, stale = c.who.current(c.config.clock.Now())
	if stale {
		c.who.later(c.config.clock.Now())
	}
	return token
}

// renew logs in again, with what was logged in with, because the server did not take a token. It returns false if that
// cannot be done, and whoever logged in is forgotten if the server does not take him either. Of many requests with the
// same token one does it.
func (c *Conn) renew(ctx context.Context, refused string) (ok bool, err error) {
	if err := c.ending.Take(ctx, c.who.turn); err != nil {
		return false, err
	}
	defer func() { <-c.who.turn }()
	token, _ := c.who.current(c.config.clock.Now())
	_, with := c.who.loggedIn()
	switch {
	case with == nil:
		return false, nil
	case token != refused:
		return true, nil
	}
	_, code, err := c.identify(ctx, with, with)
	if err == nil && code != 0 {
		c.who.forget()
	}
	return err == nil && code == 0, err
}

// identify fetches a token and takes note of it, and of what to log in with later. The code is why the server gives none.
func (c *Conn) identify(ctx context.Context, by, later *login) (user uint32, code wire.Code, err error) {
	got, err := c.exchange(ctx, &outgoing{method: http.MethodPost, path: by.path, body: []byte(by.body.Reveal()), public: true})
	if err != nil {
		return 0, 0, err
	}
	if got.status != http.StatusOK {
		return 0, loginCode(got), nil
	}
	var is httpjson.Identity
	if err := json.Unmarshal(got.body, &is); err != nil || is.AccessToken.Token == "" {
		return 0, 0, fmt.Errorf("%w: the answer to a login is no identity", transport.ErrProtocol)
	}
	c.who.set(is, later, c.config.clock.Now())
	return is.UserID, 0, nil
}

// logIn answers the frame of a login.
func (c *Conn) logIn(ctx context.Context, h *wire.RequestHeader, body []byte) (transport.Frame, error) {
	password, token, err := wire.DecodeLogin(body)
	if err != nil {
		return refusal(h, wire.CodeInvalidFormat), nil
	}
	with, err := loginOf(password, token)
	if err != nil {
		return refusal(h, wire.CodeInvalidFormat), nil
	}
	if err := c.ending.Take(ctx, c.who.turn); err != nil {
		return nil, &fault{unsent: true, err: err}
	}
	defer func() { <-c.who.turn }()
	user, code, err := c.identify(ctx, with, with)
	switch {
	case err != nil:
		return nil, err
	case code != 0:
		return refusal(h, code), nil
	}
	return replyTo(h, registered(user), nil)
}

func loginOf(password *wire.LoginRegister, token *wire.LoginRegisterWithToken) (*login, error) {
	if token != nil {
		body, err := json.Marshal(httpjson.LoginWithToken{Token: token.Token})
		return &login{path: pathTokenLogin, body: transport.NewSecret(string(body))}, err
	}
	body, err := json.Marshal(httpjson.Login{
		Context: &password.Context, Password: password.Password, Username: password.Username, Version: &password.Client.SDKVersion,
	})
	return &login{path: pathLogin, body: transport.NewSecret(string(body))}, err
}

// Of a session there is no more than that somebody is logged in.
const (
	theSession    = 1
	serverVersion = "HTTP" // a server does not tell
)

// registered is the reply to a login, and to a bind.
func registered(user uint32) wire.Body {
	return &wire.Registered{UserID: user, Session: theSession, Version: wire.Version0120, ServerVersion: serverVersion}
}

// bind answers the frame of a bind: there is nothing to bind to, but somebody may be logged in.
func (c *Conn) bind(h *wire.RequestHeader) (transport.Frame, error) {
	user, with := c.who.loggedIn()
	if with == nil {
		return refusal(h, wire.CodeUnauthenticated), nil
	}
	return replyTo(h, registered(user), nil)
}

// logOut answers the frame of a log-out. The token is forgotten even if the server cannot be told.
func (c *Conn) logOut(ctx context.Context, h *wire.RequestHeader) (transport.Frame, error) {
	got, err := c.exchange(ctx, &outgoing{method: http.MethodDelete, path: pathLogout, safe: true})
	c.who.forget()
	if err != nil {
		return nil, err
	}
	if code := codeOf(got); code != 0 {
		return refusal(h, code), nil
	}
	return replyTo(h, nil, nil)
}

// ping asks whether the server is there.
func (c *Conn) ping(ctx context.Context) error {
	got, err := c.attempt(ctx, &outgoing{method: http.MethodGet, path: "/ping", safe: true, public: true}, "", 0)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("%w: status %d of a ping", transport.ErrProtocol, got.status)
	}
	return nil
}

package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"

	"github.com/runnel-go/runnel/transport/wire"
)

// session is what a login begins, and what outlives links. It does not change, but for fresh.
type session struct {
	client wire.Uint128
	secret [wire.SecretSize]byte
	number uint64 // 0 while the outcome of the login is not known
	fresh  bool   // its groups are not joined; for who holds signing

	anonymous bool // nobody is logged in, but requests may be sent: HTTP
}

// sessionlessNumber stands for the session in requests over links that have none.
const sessionlessNumber = 1

// credentials are what a login takes: a token, or else a name and a password.
type credentials struct {
	username, password, token string
}

// newSession returns a session that has not begun.
func newSession() *session {
	s := &session{client: random128(), fresh: true}
	_, _ = rand.Read(s.secret[:]) // it never fails
	return s
}

// random128 returns a random number that is not 0.
func random128() wire.Uint128 {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return wire.Uint128{Hi: binary.LittleEndian.Uint64(b[:]), Lo: binary.LittleEndian.Uint64(b[8:]) | 1}
}

// numbered returns the session once its number is known.
func (s *session) numbered(number uint64) *session {
	if s.number == number {
		return s
	}
	with := *s
	with.number = number
	return &with
}

// info is what a login and a bind say of the client to an address.
func (c *Client) info(addr string) wire.ClientInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.versions[addr]
	if !ok {
		v = c.config.version
	}
	return wire.ClientInfo{Version: v, SDKName: sdkName, SDKVersion: sdkVersion}
}

// lockSigning makes the caller the only one that begins, binds or ends a session.
func (c *Client) lockSigning(ctx context.Context) error {
	select {
	case c.signing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Client) unlockSigning() { <-c.signing }

// setSession makes s the session of the client, nil for none. What an earlier one left behind, which no server can tell
// about any more, is dropped: kept writes, routes and the watermark.
func (c *Client) setSession(s *session) {
	c.mu.Lock()
	old := c.session
	c.session = s
	c.mu.Unlock()
	if old != nil && (s == nil || old.client != s.client) {
		c.dropRetained()
		c.routes.clear()
		c.watermark.Store(0)
	}
}

// identity returns the session and the credentials.
func (c *Client) identity() (*session, *credentials) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.credentials
}

// raiseWatermark notes a position in the log of the metadata.
func (c *Client) raiseWatermark(commit uint64) {
	for {
		seen := c.watermark.Load()
		if commit <= seen || c.watermark.CompareAndSwap(seen, commit) {
			return
		}
	}
}

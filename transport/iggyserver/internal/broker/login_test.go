package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestALoginBeginsASession(t *testing.T) {
	t.Parallel()
	c := connect(t, newBroker(t))
	reply := c.send(c.loginFrame("iggy", "iggy"))
	h, code, payload := wiretest.Open(t, reply)
	require.Zero(t, code)
	got := wiretest.Decode[wire.Registered](t, payload)
	require.NotZero(t, got.Session)
	require.Equal(t, wire.Version0122, got.Version)
	require.Equal(t, "0.10.0", got.ServerVersion)
	require.Equal(t, wire.ReplyHeader{
		Checksum: c.id, Client: c.id, Op: got.Session, Commit: got.Session, Timestamp: h.Timestamp,
		Operation: wire.OpRegister, Committed: true,
	}, h)
}

func TestTheVersionIsLookedAtBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		version wire.Version
		taken   bool
	}{
		"the one before":         {wire.MakeVersion(0, 11, 9), false},
		"the oldest":             {wire.Version0120, true},
		"the newest":             {wire.Version0122, true},
		"a later patch":          {wire.MakeVersion(0, 12, 9), true},
		"the next minor version": {wire.MakeVersion(0, 13, 0), false},
		"the next major version": {wire.MakeVersion(1, 12, 0), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, newBroker(t))
			version := info()
			version.Version = tt.version
			frame := c.frame(c.registration(), &version) // nothing behind it
			e := c.evicted(frame)
			require.Equal(t, c.id, e.Client)
			if tt.taken {
				require.Equal(t, wire.EvictMalformedLogin, e.Reason)
				return
			}
			require.Equal(t, wire.Eviction{
				Client: c.id, Newest: wire.Version0122, Oldest: wire.Version0120, Reason: wire.EvictIncompatibleProtocol,
			}, e)
		})
	}
}

func TestALoginThatIsNotRightEndsTheConnection(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		frame func(c *client) []byte
		want  wire.EvictReason
	}{
		"wrong password": {func(c *client) []byte { return c.loginFrame("iggy", "wrong") }, wire.EvictInvalidCredentials},
		"no such user":   {func(c *client) []byte { return c.loginFrame("nobody", "iggy") }, wire.EvictInvalidCredentials},
		"empty password of no such user": {
			func(c *client) []byte { return c.loginFrame("nobody", "") }, wire.EvictInvalidCredentials,
		},
		"user that is not active": {func(c *client) []byte { return c.loginFrame("idle", "secret") }, wire.EvictUserInactive},
		"no such token": {func(c *client) []byte {
			return c.frame(c.registration(), &wire.LoginRegisterWithToken{Client: info(), Token: "none"})
		}, wire.EvictInvalidToken},
		"no body": {func(c *client) []byte { return c.frame(c.registration(), nil) }, wire.EvictMalformedLogin},
		"a login of old clients": {func(c *client) []byte {
			return c.frame(wire.RequestHeader{Client: c.id, Operation: wire.OpNonReplicated, Command: wire.CmdLegacyLogin}, nil)
		}, wire.EvictMalformedLogin},
		"client id of another user": {func(c *client) []byte {
			other := login(c.t, c.broker, "ada", "secret")
			c.id = other.id
			return c.loginFrame("iggy", "iggy")
		}, wire.EvictSessionError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBroker(t)
			admin := root(t, b)
			admin.createUser("idle", wire.UserInactive, nil)
			admin.createUser("ada", wire.UserActive, nil)
			c := connect(t, b)
			require.Equal(t, tt.want, c.evicted(tt.frame(c)).Reason)
		})
	}
}

func TestALoginThatIsSentAgainGetsTheSameSession(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	first := c.session
	c.dial()
	c.enter(c.send(c.loginFrame("iggy", "iggy")))
	require.Equal(t, first, c.session)
}

func TestANewLoginOfAClientEndsItsOldSession(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	old := *c
	c.dial()
	c.secret[1] = 1
	c.enter(c.send(c.loginFrame("iggy", "iggy")))
	require.NotEqual(t, old.session, c.session)
	require.Equal(t, wire.EvictSessionTooLow, old.evicted(old.frame(old.header(wire.CmdGetMe), nil)).Reason)
	c.ok(wire.CmdGetMe, nil)
}

func TestOnlyAPingIsAnsweredBeforeTheLogin(t *testing.T) {
	t.Parallel()
	c := connect(t, newBroker(t))
	ping := wire.RequestHeader{Client: c.id, Operation: wire.OpNonReplicated, Command: wire.CmdPing}
	h, code, payload := wiretest.Open(t, c.send(c.frame(ping, nil)))
	require.Zero(t, code)
	require.Empty(t, payload)
	require.Equal(t, wire.ReplyHeader{Client: c.id, Operation: wire.OpNonReplicated}, h)
	c.refused(wire.CodeUnauthenticated, wire.CmdGetMe, nil)
	c.refused(wire.CodeUnauthenticated, wire.CmdCreateStream, &wire.CreateStream{Name: "s"})
}

func (c *client) binding() *wire.BindSession {
	return &wire.BindSession{Client: info(), ClientID: c.id, Session: c.session, Secret: c.secret}
}

func TestASessionGoesOnOverAnotherConnection(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	c.link.Close()
	c.dial()
	c.refused(wire.CodeUnauthenticated, wire.CmdGetMe, nil)
	got := wiretest.Decode[wire.Registered](t, c.ok(wire.CmdBindSession, c.binding()))
	require.Equal(t, wire.Registered{Session: c.session, Version: wire.Version0122, ServerVersion: "0.10.0"}, got)
	c.ok(wire.CmdGetMe, nil)
}

func TestABindFindsTheSessionOfALoginWhoseReplyWasLost(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	session := c.session
	c.dial()
	c.session = 0
	got := wiretest.Decode[wire.Registered](t, c.ok(wire.CmdBindSession, c.binding()))
	require.Equal(t, session, got.Session)
}

func TestABindThatProvesNothingIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(c *client, b *wire.BindSession)
		want   wire.Code
	}{
		"wrong secret":    {func(_ *client, b *wire.BindSession) { b.Secret[3] = 9 }, wire.CodeUnauthenticated},
		"another session": {func(c *client, b *wire.BindSession) { b.Session++; c.session++ }, wire.CodeUnauthenticated},
		"unknown client":  {func(c *client, b *wire.BindSession) { b.ClientID.Hi++; c.id.Hi++ }, wire.CodeUnauthenticated},
		"of another than the header": {
			func(_ *client, b *wire.BindSession) { b.ClientID.Hi++ }, wire.CodeInvalidCommand,
		},
		"after the logout": {func(c *client, _ *wire.BindSession) { c.ok(wire.CmdLogout, nil) }, wire.CodeUnauthenticated},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := root(t, newBroker(t))
			bind := c.binding()
			tt.change(c, bind)
			c.dial()
			c.refused(tt.want, wire.CmdBindSession, bind)
		})
	}
}

func TestALogoutEndsTheSessionButNotTheConnection(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	h, code, payload := wiretest.Open(t, c.send(c.frame(c.header(wire.CmdLogout), nil)))
	require.Zero(t, code)
	require.Empty(t, payload)
	require.True(t, h.Committed)
	c.refused(wire.CodeUnauthenticated, wire.CmdGetMe, nil)
	first := c.session
	c.enter(c.send(c.loginFrame("iggy", "iggy")))
	require.Greater(t, c.session, first)
	c.ok(wire.CmdGetMe, nil)
}

func (c *client) tokenFrame(token string) []byte {
	return c.frame(c.registration(), &wire.LoginRegisterWithToken{Client: info(), Secret: c.secret, Token: token})
}

func TestATokenLogsInUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		admin := root(t, b)
		raw := wiretest.Decode[wire.RawToken](t, admin.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{
			Name: "robot", Expiry: uint64(time.Hour.Microseconds()),
		}))
		time.Sleep(time.Hour - time.Second)
		c := connect(t, b)
		c.enter(c.send(c.tokenFrame(raw.Token)))
		time.Sleep(time.Second)
		late := connect(t, b)
		require.Equal(t, wire.EvictInvalidToken, late.evicted(late.tokenFrame(raw.Token)).Reason)
		c.ok(wire.CmdGetMe, nil) // the session goes on
	})
}

func TestTheSessionWithoutAConnectionMakesRoomForANewOne(t *testing.T) {
	t.Parallel()
	b := newBroker(t, func(c *brokerConfig) { c.Limits.Sessions = 2 })
	one, two := root(t, b), root(t, b)
	full := connect(t, b)
	require.Equal(t, wire.EvictSessionError, full.evicted(full.loginFrame("iggy", "iggy")).Reason)
	one.link.Close()
	root(t, b)
	two.ok(wire.CmdGetMe, nil)
	one.dial()
	one.refused(wire.CodeUnauthenticated, wire.CmdBindSession, one.binding())
}

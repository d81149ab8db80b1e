package broker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

type brokerConfig = broker.Config

// createUser makes a user with the password "secret".
func (c *client) createUser(name string, status wire.UserStatus, may *wire.Permissions) wire.UserDetails {
	c.t.Helper()
	return wiretest.Decode[wire.UserDetails](c.t, c.ok(wire.CmdCreateUser, &wire.CreateUser{
		Username: name, Password: "secret", Status: status, Permissions: may,
	}))
}

func TestAUserIsThereUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	may := &wire.Permissions{Global: wire.GlobalPermissions{ReadStreams: true}}
	made := c.createUser("ada", wire.UserActive, may)
	require.Equal(t, may, made.Permissions)
	require.Equal(t, uint32(1), made.User.ID)
	byName := wiretest.Decode[wire.UserDetails](t, c.ok(wire.CmdGetUser, &wire.GetUser{User: wire.Named("ada")}))
	require.Equal(t, made, byName)
	all := wiretest.Decode[wire.Users](t, c.ok(wire.CmdGetUsers, nil))
	require.Len(t, all.Users, 2)
	require.Equal(t, "iggy", all.Users[0].Username)

	ada := login(t, c.broker, "ada", "secret")
	require.Equal(t, uint32(1), ada.user)
	token := wiretest.Decode[wire.RawToken](t, ada.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "mine"}))
	c.ok(wire.CmdDeleteUser, &wire.DeleteUser{User: wire.ID(1)})
	require.Empty(t, c.ok(wire.CmdGetUser, &wire.GetUser{User: wire.ID(1)}))
	require.Equal(t, wire.EvictNoSession, ada.evicted(ada.frame(ada.header(wire.CmdGetMe), nil)).Reason)
	late := connect(t, c.broker)
	require.Equal(t, wire.EvictInvalidCredentials, late.evicted(late.loginFrame("ada", "secret")).Reason)
	late.dial()
	require.Equal(t, wire.EvictInvalidToken, late.evicted(late.tokenFrame(token.Token)).Reason)
}

func TestUsersThatCannotBeAreRejected(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t, func(c *brokerConfig) { c.Limits.Users = 2 }))
	c.createUser("ada", wire.UserActive, nil)
	tests := map[string]struct {
		command wire.Command
		body    wire.Body
		want    wire.Code
	}{
		"name taken":     {wire.CmdCreateUser, &wire.CreateUser{Username: "ada", Password: "secret", Status: 1}, wire.CodeUserAlreadyExists},
		"too many":       {wire.CmdCreateUser, &wire.CreateUser{Username: "eve", Password: "secret", Status: 1}, wire.CodeUsersLimitReached},
		"short name":     {wire.CmdCreateUser, &wire.CreateUser{Username: "a", Password: "secret", Status: 1}, wire.CodeInvalidUsername},
		"long name":      {wire.CmdCreateUser, &wire.CreateUser{Username: strings.Repeat("a", 51), Password: "secret", Status: 1}, wire.CodeInvalidUsername},
		"short password": {wire.CmdCreateUser, &wire.CreateUser{Username: "eve", Password: "x", Status: 1}, wire.CodeInvalidPassword},
		"unknown status": {wire.CmdCreateUser, &wire.CreateUser{Username: "eve", Password: "secret", Status: 3}, wire.CodeInvalidUserStatus},
		"options": {wire.CmdCreateUser, &wire.CreateUser{
			Username: "eve", Password: "secret", Status: 1, Options: wire.Options{{Key: "k", Value: wire.StringValue("v")}},
		}, wire.CodeUnsupportedOptionKey},
		"delete of none":             {wire.CmdDeleteUser, &wire.DeleteUser{User: wire.ID(9)}, wire.CodeResourceNotFound},
		"delete of the root user":    {wire.CmdDeleteUser, &wire.DeleteUser{User: wire.ID(0)}, wire.CodeCannotDeleteUser},
		"permissions of the root":    {wire.CmdUpdatePermissions, &wire.UpdatePermissions{User: wire.ID(0)}, 49},
		"permissions of none":        {wire.CmdUpdatePermissions, &wire.UpdatePermissions{User: wire.ID(9)}, wire.CodeResourceNotFound},
		"password of none":           {wire.CmdChangePassword, &wire.ChangePassword{User: wire.ID(9), Current: "x", New: "secret"}, wire.CodeResourceNotFound},
		"password that is not right": {wire.CmdChangePassword, &wire.ChangePassword{User: wire.ID(1), Current: "x", New: "secret"}, wire.CodeInvalidCredentials},
		"new password too short":     {wire.CmdChangePassword, &wire.ChangePassword{User: wire.ID(1), Current: "secret", New: "x"}, wire.CodeInvalidPassword},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { c.refused(tt.want, tt.command, tt.body) })
	}
}

func TestUsersChangeTheirOwnPassword(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	root(t, b).createUser("ada", wire.UserActive, nil)
	ada := login(t, b, "ada", "secret")
	ada.ok(wire.CmdChangePassword, &wire.ChangePassword{User: wire.Named("ada"), Current: "secret", New: "better"})
	ada.refused(wire.CodeUnauthorized, wire.CmdChangePassword, &wire.ChangePassword{User: wire.ID(0), Current: "iggy", New: "mine"})
	login(t, b, "ada", "better")
	old := connect(t, b)
	require.Equal(t, wire.EvictInvalidCredentials, old.evicted(old.loginFrame("ada", "secret")).Reason)
}

func TestAUserThatBecomesInactiveLosesItsSessions(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	c.createUser("ada", wire.UserActive, nil)
	ada := login(t, c.broker, "ada", "secret")
	c.ok(wire.CmdUpdateResource, &wire.UpdateResource{
		Scope: wire.ScopeUser, User: wire.ID(1),
		Set: wire.Options{{Key: "status", Value: wire.StringValue("inactive")}, {Key: "username", Value: wire.StringValue("eve")}},
	})
	require.Equal(t, wire.EvictUserInactive, ada.evicted(ada.frame(ada.header(wire.CmdGetMe), nil)).Reason)
	got := wiretest.Decode[wire.UserDetails](t, c.ok(wire.CmdGetUser, &wire.GetUser{User: wire.Named("eve")}))
	require.Equal(t, wire.UserInactive, got.User.Status)
	c.refused(wire.CodeCannotModifyRootUser, wire.CmdUpdateResource, &wire.UpdateResource{
		Scope: wire.ScopeUser, User: wire.ID(0), Set: wire.Options{{Key: "status", Value: wire.StringValue("inactive")}},
	})
}

func TestTokensAreListedAndDeleted(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t, func(c *brokerConfig) { c.Limits.Tokens = 2 }))
	raw := wiretest.Decode[wire.RawToken](t, c.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "one", Expiry: wire.NeverExpires}))
	c.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "two"})
	tokens := wiretest.Decode[wire.PersonalAccessTokens](t, c.ok(wire.CmdGetPersonalAccessTokens, nil))
	require.Equal(t, []wire.PersonalAccessToken{{Name: "one"}, {Name: "two"}}, tokens.Tokens)
	c.refused(wire.CodePersonalAccessTokenAlreadyExists, wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "one"})
	c.refused(wire.CodePersonalAccessTokensLimitReached, wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "three"})
	c.refused(wire.CodeInvalidPersonalAccessTokenName, wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "x"})
	c.ok(wire.CmdDeletePersonalAccessToken, &wire.DeletePersonalAccessToken{Name: "one"})
	c.refused(wire.CodeResourceNotFound, wire.CmdDeletePersonalAccessToken, &wire.DeletePersonalAccessToken{Name: "one"})
	c.refused(wire.CodeInvalidPersonalAccessTokenExpiry, wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "far", Expiry: 1 << 63})
	other := connect(t, c.broker)
	require.Equal(t, wire.EvictInvalidToken, other.evicted(other.tokenFrame(raw.Token)).Reason)
}

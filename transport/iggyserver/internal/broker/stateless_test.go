package broker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// passing makes the frame of a request without a session.
func passing(t testing.TB, at wire.PartitionContext, command wire.Command, body wire.Body) []byte {
	t.Helper()
	h := wire.NewRequest(command)
	h.Client, h.Request, h.Session, h.Context = wire.Uint128{Lo: 1}, 1, 1, at
	frame, err := wire.AppendRequest(nil, h, body)
	require.NoError(t, err)
	return frame
}

// passed carries out a request of a user without a session.
func passed(t testing.TB, b *broker.Broker, user uint32, command wire.Command, body wire.Body) (wire.Code, []byte) {
	t.Helper()
	_, code, payload := wiretest.Open(t, b.Execute(t.Context(), user, passing(t, wire.PartitionContext{}, command, body)))
	return code, payload
}

func TestRequestsWithoutASessionAreNoRepeatsOfEachOther(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	code, _ := passed(t, b, 0, wire.CmdCreateStream, &wire.CreateStream{Name: "a"})
	require.Zero(t, code)
	code, _ = passed(t, b, 0, wire.CmdCreateStream, &wire.CreateStream{Name: "a"})
	require.Equal(t, wire.CodeStreamNameAlreadyExists, code, "the same frame is another request")
	_, payload := passed(t, b, 0, wire.CmdGetClients, &wire.Empty{})
	require.Empty(t, payload)
}

func TestWhatNeedsASessionIsRefusedWithoutOne(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	of := wire.GroupOf{Stream: orders, Topic: events, Group: wire.Named("workers")}
	for command, body := range map[wire.Command]wire.Body{
		wire.CmdJoinConsumerGroup:  &wire.JoinConsumerGroup{GroupOf: of},
		wire.CmdLeaveConsumerGroup: &wire.LeaveConsumerGroup{GroupOf: of},
		wire.CmdSyncConsumerGroup:  &wire.SyncConsumerGroup{GroupOf: of},
		wire.CmdLogout:             &wire.Empty{},
		wire.CmdGetMe:              &wire.Empty{},
		wire.CmdBindSession:        &wire.BindSession{Client: info(), ClientID: c.id},
		wire.CmdLoginRegister:      &wire.LoginRegister{Client: info(), Username: "iggy", Password: "iggy"},
		wire.CmdCancelDeferred:     &wire.Empty{},
	} {
		code, _ := passed(t, c.broker, 0, command, body)
		require.Equal(t, wire.CodeFeatureUnavailable, code, command)
	}
	group := wiretest.Decode[wire.GroupDetails](t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: of}))
	require.Empty(t, group.Members)
	require.Nil(t, c.broker.Execute(t.Context(), 0, []byte("no frame")))
}

func TestUserWithoutASessionHasItsRightsAndNoMore(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	created := wiretest.Decode[wire.UserDetails](t, c.ok(wire.CmdCreateUser, &wire.CreateUser{
		Username: "alice", Password: "alice-secret", Status: wire.UserActive,
	}))
	alice := created.User.ID
	user, code := c.broker.CheckPassword(t.Context(), "alice", "alice-secret")
	require.Zero(t, code)
	require.Equal(t, alice, user)
	_, code = c.broker.CheckPassword(t.Context(), "alice", "wrong")
	require.Equal(t, wire.CodeInvalidCredentials, code)
	code, _ = passed(t, c.broker, alice, wire.CmdGetStreams, &wire.Empty{})
	require.Equal(t, wire.CodeUnauthorized, code)

	_, payload := passed(t, c.broker, alice, wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "robot", Expiry: wire.NeverExpires})
	token := wiretest.Decode[wire.RawToken](t, payload).Token
	user, code = c.broker.CheckToken(token)
	require.Zero(t, code)
	require.Equal(t, alice, user)

	c.ok(wire.CmdUpdateResource, &wire.UpdateResource{
		Scope: wire.ScopeUser, User: wire.ID(alice), Set: wire.Options{{Key: wire.OptionStatus, Value: wire.StringValue("inactive")}},
	})
	_, code = c.broker.CheckPassword(t.Context(), "alice", "alice-secret")
	require.Equal(t, wire.CodeUserInactive, code)
	_, code = c.broker.CheckToken(token)
	require.Equal(t, wire.CodeUserInactive, code)
	code, _ = passed(t, c.broker, alice, wire.CmdGetStreams, &wire.Empty{})
	require.Equal(t, wire.CodeUnauthenticated, code)

	c.ok(wire.CmdDeleteUser, &wire.DeleteUser{User: wire.ID(alice)})
	require.Equal(t, wire.CodeUnauthenticated, c.broker.CheckUser(alice))
	_, code = c.broker.CheckToken(token)
	require.Equal(t, wire.CodeInvalidPersonalAccessToken, code)
	require.Zero(t, c.broker.CheckUser(0))
}

func TestReadWithoutASessionWaitsUntilThereIsSomethingOrNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		frame := passing(t, c.at(0), wire.CmdPollMessagesDeferred, deferred(polling(reader, 0, wire.PollingStrategy{Kind: wire.FromFirst}, 5), 9_000_000, 1))
		ctx, cancel := context.WithCancel(t.Context())
		given, gone := make(chan []byte, 1), make(chan []byte, 1)
		go func() { given <- c.broker.Execute(t.Context(), 0, frame) }()
		go func() { gone <- c.broker.Execute(ctx, 0, frame) }()
		time.Sleep(time.Second)
		cancel()
		require.Nil(t, <-gone)
		c.put(0, "a")
		_, code, payload := wiretest.Open(t, <-given)
		require.Zero(t, code)
		require.Equal(t, []string{"a"}, payloads(t, wiretest.Decode[wire.PolledMessages](t, payload).Records))
	})
}

func TestReadThatWaitsGivesNothingToAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]action{
		"deleted": {wire.CmdDeleteUser, &wire.DeleteUser{User: wire.Named("ada")}},
		"inactive": {wire.CmdUpdateResource, &wire.UpdateResource{
			Scope: wire.ScopeUser, User: wire.Named("ada"), Set: options(wire.OptionStatus, wire.StringValue("inactive")),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := withTopic(t, 1)
				ada := c.createUser("ada", wire.UserActive, &wire.Permissions{Global: wire.GlobalPermissions{PollMessages: true}})
				frame := passing(t, c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
				reply := make(chan []byte, 1)
				go func() { reply <- c.broker.Execute(t.Context(), ada.User.ID, frame) }()
				synctest.Wait()
				c.ok(end.command, end.body)
				c.put(0, "not for ada")
				_, code, payload := wiretest.Open(t, <-reply)
				require.Equal(t, wire.CodeUnauthenticated, code)
				require.Empty(t, payload)
			})
		})
	}
}

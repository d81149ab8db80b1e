package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// action is a request that wants a right.
type action struct {
	command wire.Command
	body    wire.Body
}

// actions are requests, by what they want. Those that would change what others find come to nothing: they name what is
// not there, or say what cannot be.
func actions() map[string]action {
	return map[string]action{
		"stats":          {wire.CmdGetStats, nil},
		"users":          {wire.CmdGetUsers, nil},
		"delete user":    {wire.CmdDeleteUser, &wire.DeleteUser{User: wire.ID(99)}},
		"create stream":  {wire.CmdCreateStream, &wire.CreateStream{Name: "orders"}},
		"list streams":   {wire.CmdGetStreams, nil},
		"look at stream": {wire.CmdGetStream, &wire.GetStream{Stream: orders}},
		"change stream": {wire.CmdUpdateResource, &wire.UpdateResource{
			Scope: wire.ScopeStream, Stream: orders, Set: options("name", wire.StringValue("orders")),
		}},
		"create topic":  {wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events"}},
		"list topics":   {wire.CmdGetTopics, &wire.GetTopics{Stream: orders}},
		"look at topic": {wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}},
		"change topic":  {wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 9}},
		"group":         {wire.CmdGetConsumerGroups, &wire.GetConsumerGroups{Stream: orders, Topic: events}},
		"route":         {wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events}},
		"poll":          {wire.CmdPollMessages, polling(reader, 0, wire.PollingStrategy{Kind: wire.FromFirst}, 1)},
		"send":          {wire.CmdSendMessages, nil}, // with a batch
		"other topic":   {wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: wire.Named("other")}},
		"other stream":  {wire.CmdGetStream, &wire.GetStream{Stream: wire.Named("none")}},
	}
}

func TestPermissionsAllowWhatTheyNameAndWhatIsLess(t *testing.T) {
	t.Parallel()
	global := func(g wire.GlobalPermissions) *wire.Permissions { return &wire.Permissions{Global: g} }
	inStream := func(s wire.StreamPermissions) *wire.Permissions {
		return &wire.Permissions{Streams: []wire.StreamPermissions{s}}
	}
	inTopic := func(p wire.TopicPermissions) *wire.Permissions {
		return inStream(wire.StreamPermissions{Topics: []wire.TopicPermissions{p}})
	}
	tests := map[string]struct {
		permissions *wire.Permissions
		may         []string
	}{
		"none at all":    {nil, nil},
		"none":           {global(wire.GlobalPermissions{}), nil},
		"read servers":   {global(wire.GlobalPermissions{ReadServers: true}), []string{"stats"}},
		"manage servers": {global(wire.GlobalPermissions{ManageServers: true}), []string{"stats"}},
		"read users":     {global(wire.GlobalPermissions{ReadUsers: true}), []string{"users"}},
		"manage users":   {global(wire.GlobalPermissions{ManageUsers: true}), []string{"users", "delete user"}},
		"manage streams": {global(wire.GlobalPermissions{ManageStreams: true}), []string{
			"create stream", "list streams", "look at stream", "change stream", "create topic", "list topics", "look at topic",
			"change topic", "group", "route", "poll", "send", "other topic", "other stream",
		}},
		"read streams": {global(wire.GlobalPermissions{ReadStreams: true}), []string{
			"list streams", "look at stream", "list topics", "look at topic", "group", "route", "poll", "other topic", "other stream",
		}},
		"manage topics": {global(wire.GlobalPermissions{ManageTopics: true}), []string{
			"create topic", "list topics", "look at topic", "change topic", "group", "route", "poll", "send", "other topic",
		}},
		"read topics": {global(wire.GlobalPermissions{ReadTopics: true}), []string{
			"list topics", "look at topic", "group", "route", "poll", "other topic",
		}},
		"poll": {global(wire.GlobalPermissions{PollMessages: true}), []string{"group", "route", "poll"}},
		"send": {global(wire.GlobalPermissions{SendMessages: true}), []string{"route", "send"}},
		"manage the stream": {inStream(wire.StreamPermissions{ManageStream: true}), []string{
			"look at stream", "change stream", "create topic", "list topics", "look at topic", "change topic", "group", "route",
			"poll", "send", "other topic",
		}},
		"read the stream": {inStream(wire.StreamPermissions{ReadStream: true}), []string{
			"look at stream", "list topics", "look at topic", "group", "route", "poll", "other topic",
		}},
		"manage its topics": {inStream(wire.StreamPermissions{ManageTopics: true}), []string{
			"create topic", "list topics", "look at topic", "change topic", "group", "route", "poll", "send", "other topic",
		}},
		"read its topics": {inStream(wire.StreamPermissions{ReadTopics: true}), []string{
			"list topics", "look at topic", "group", "route", "poll", "other topic",
		}},
		"poll in the stream": {inStream(wire.StreamPermissions{PollMessages: true}), []string{"group", "route", "poll"}},
		"send in the stream": {inStream(wire.StreamPermissions{SendMessages: true}), []string{"route", "send"}},
		"another stream":     {inStream(wire.StreamPermissions{StreamID: 7, ManageStream: true}), nil},
		"manage the topic": {inTopic(wire.TopicPermissions{ManageTopic: true}), []string{
			"look at topic", "change topic", "group", "route", "poll", "send",
		}},
		"read the topic":    {inTopic(wire.TopicPermissions{ReadTopic: true}), []string{"look at topic", "group", "route", "poll"}},
		"poll in the topic": {inTopic(wire.TopicPermissions{PollMessages: true}), []string{"group", "route", "poll"}},
		"send in the topic": {inTopic(wire.TopicPermissions{SendMessages: true}), []string{"route", "send"}},
		"another topic":     {inTopic(wire.TopicPermissions{TopicID: 7, ManageTopic: true}), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := withTopic(t, 1)
			c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "other"})
			c.createUser("ada", wire.UserActive, tt.permissions)
			ada, at := login(t, c.broker, "ada", "secret"), c.at(0)
			var may []string
			for name, a := range actions() {
				if a.command == wire.CmdSendMessages {
					a.body = sending(0, 1, batch(t, nil, "a"))
				}
				if code, _ := ada.tryAt(at, a.command, a.body); code != wire.CodeUnauthorized {
					may = append(may, name)
				}
			}
			require.ElementsMatch(t, tt.may, may)
		})
	}
}

func TestEveryUserMayLookAtItself(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	c.createUser("ada", wire.UserActive, nil)
	ada := login(t, c.broker, "ada", "secret")
	require.NotEmpty(t, ada.ok(wire.CmdGetUser, &wire.GetUser{User: wire.Named("ada")}))
	ada.refused(wire.CodeUnauthorized, wire.CmdGetUser, &wire.GetUser{User: wire.ID(0)})
	ada.refused(wire.CodeUnauthorized, wire.CmdGetClients, nil)
	ada.refused(wire.CodeUnauthorized, wire.CmdGetClient, &wire.GetClient{ClientID: 1})
	ada.refused(wire.CodeUnauthorized, wire.CmdGetSnapshot, &wire.GetSnapshot{})
	ada.ok(wire.CmdGetMe, nil)
	ada.ok(wire.CmdGetClusterMetadata, nil)
	ada.ok(wire.CmdDescribeOptions, &wire.DescribeOptions{Scope: wire.ScopeUser})
	ada.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "mine"})
}

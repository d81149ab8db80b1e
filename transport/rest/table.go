package rest

import (
	"net/http"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// Paths of what lies in a topic.
const (
	topicPath   = "/streams/{stream}/topics/{topic}"
	messagePath = topicPath + "/messages"
	offsetPath  = topicPath + "/consumer-offsets"
	groupPath   = topicPath + "/consumer-groups"
)

// Statuses, shorter.
const (
	ok        = http.StatusOK
	created   = http.StatusCreated
	noContent = http.StatusNoContent
)

// table has all routes that stand for a command. Those that change who is logged in are not here. (Iggy HTTP interface,
// routes.)
var table = concat(systemRoutes(), userRoutes(), streamRoutes(), topicRoutes(), messageRoutes())

func concat(parts ...[]route) []*route {
	var all []*route
	for _, part := range parts {
		for i := range part {
			all = append(all, &part[i])
		}
	}
	return all
}

func systemRoutes() []route {
	return []route{
		{
			command: wire.CmdGetStats, method: "GET", path: "/stats", status: ok, request: noArguments(),
			reply: reply(sure(httpjson.StatsOf), (*httpjson.Stats).Wire),
		},
		{
			command: wire.CmdGetSnapshot, method: "POST", path: "/snapshot", status: ok, request: request(snapshot), reply: archive(),
		},
		{
			command: wire.CmdGetClusterMetadata, method: "GET", path: "/cluster/metadata", status: ok, request: noArguments(),
			reply: reply(sure(httpjson.ClusterMetadataOf), (*httpjson.ClusterMetadata).Wire),
		},
		{
			command: wire.CmdDescribeOptions, method: "GET", path: "/options/{scope}", status: ok, request: request(scope),
			reply: list(func(l *wire.OptionDescriptions) *[]wire.OptionDescription { return &l.Options },
				httpjson.OptionDescriptionOf, (*httpjson.OptionDescription).Wire),
		},
		{
			command: wire.CmdGetClients, method: "GET", path: "/clients", status: ok, request: noArguments(),
			reply: list(func(l *wire.Clients) *[]wire.Client { return &l.Clients }, httpjson.ClientOf, (*httpjson.Client).Wire),
		},
		{
			command: wire.CmdGetClient, method: "GET", path: "/clients/{client}", status: ok, request: request(client), maybe: true,
			reply: reply(sure(httpjson.ClientDetailsOf), (*httpjson.Client).Details),
		},
	}
}

func userRoutes() []route {
	details := reply(sure(httpjson.UserDetailsOf), (*httpjson.UserDetails).Wire)
	return []route{
		{
			command: wire.CmdGetUsers, method: "GET", path: "/users", status: ok, request: noArguments(),
			reply: list(func(l *wire.Users) *[]wire.User { return &l.Users }, httpjson.UserOf, (*httpjson.User).Wire),
		},
		{command: wire.CmdCreateUser, method: "POST", path: "/users", status: ok, request: request(createUser), reply: details},
		{
			command: wire.CmdGetUser, method: "GET", path: "/users/{user}", status: ok, maybe: true, reply: details,
			request: request(func(c *call, v *wire.GetUser) { c.identifier(&v.User, "user_id") }),
		},
		{
			command: wire.CmdDeleteUser, method: "DELETE", path: "/users/{user}", status: noContent, reply: nothing(),
			request: request(func(c *call, v *wire.DeleteUser) { c.identifier(&v.User, "user_id") }),
		},
		{
			command: wire.CmdUpdateResource, method: "PUT", path: "/users/{user}", status: noContent, reply: nothing(),
			request: request(update(wire.ScopeUser)),
		},
		{
			command: wire.CmdUpdatePermissions, method: "PUT", path: "/users/{user}/permissions", status: noContent,
			request: request(updatePermissions), reply: nothing(),
		},
		{
			command: wire.CmdChangePassword, method: "PUT", path: "/users/{user}/password", status: noContent,
			request: request(changePassword), reply: nothing(),
		},
		{
			command: wire.CmdGetPersonalAccessTokens, method: "GET", path: "/personal-access-tokens", status: ok, request: noArguments(),
			reply: list(func(l *wire.PersonalAccessTokens) *[]wire.PersonalAccessToken { return &l.Tokens },
				httpjson.TokenOf, (*httpjson.PersonalAccessToken).Wire),
		},
		{
			command: wire.CmdCreatePersonalAccessToken, method: "POST", path: "/personal-access-tokens", status: ok,
			request: request(createToken),
			reply: reply(
				func(t wire.RawToken) (httpjson.RawToken, error) { return httpjson.RawToken{Token: t.Token}, nil },
				func(t *httpjson.RawToken) (wire.RawToken, error) { return wire.RawToken{Token: t.Token}, nil },
			),
		},
		{
			command: wire.CmdDeletePersonalAccessToken, method: "DELETE", path: "/personal-access-tokens/{name}", status: noContent,
			request: request(func(c *call, v *wire.DeletePersonalAccessToken) { c.segment(&v.Name, "name") }), reply: nothing(),
		},
	}
}

func streamRoutes() []route {
	details := reply(sure(httpjson.StreamDetailsOf), (*httpjson.Stream).Details)
	return []route{
		{
			command: wire.CmdGetStreams, method: "GET", path: "/streams", status: ok, request: noArguments(),
			reply: list(func(l *wire.Streams) *[]wire.Stream { return &l.Streams }, httpjson.StreamOf, (*httpjson.Stream).Wire),
		},
		{command: wire.CmdCreateStream, method: "POST", path: "/streams", status: ok, request: request(createStream), reply: details},
		{
			command: wire.CmdGetStream, method: "GET", path: "/streams/{stream}", status: ok, maybe: true, reply: details,
			request: request(func(c *call, v *wire.GetStream) { c.stream(&v.Stream) }),
		},
		{
			command: wire.CmdUpdateResource, method: "PUT", path: "/streams/{stream}", status: noContent, reply: nothing(),
			request: request(update(wire.ScopeStream)),
		},
		{
			command: wire.CmdDeleteStream, method: "DELETE", path: "/streams/{stream}", status: noContent, reply: nothing(),
			request: request(func(c *call, v *wire.DeleteStream) { c.stream(&v.Stream) }),
		},
	}
}

func topicRoutes() []route {
	details := reply(sure(httpjson.TopicDetailsOf), (*httpjson.Topic).Details)
	group := reply(sure(httpjson.GroupDetailsOf), (*httpjson.Group).Details)
	return []route{
		{
			command: wire.CmdGetTopics, method: "GET", path: "/streams/{stream}/topics", status: ok,
			request: request(func(c *call, v *wire.GetTopics) { c.stream(&v.Stream) }),
			reply:   list(func(l *wire.Topics) *[]wire.Topic { return &l.Topics }, httpjson.TopicOf, (*httpjson.Topic).Wire),
		},
		{
			command: wire.CmdCreateTopic, method: "POST", path: "/streams/{stream}/topics", status: ok,
			request: request(createTopic), reply: details,
		},
		{
			command: wire.CmdGetTopic, method: "GET", path: topicPath, status: ok, maybe: true, reply: details,
			request: request(func(c *call, v *wire.GetTopic) { c.topic(&v.Stream, &v.Topic) }),
		},
		{
			command: wire.CmdUpdateResource, method: "PUT", path: topicPath, status: noContent, reply: nothing(),
			request: request(update(wire.ScopeTopic)),
		},
		{
			command: wire.CmdDeleteTopic, method: "DELETE", path: topicPath, status: noContent, reply: nothing(),
			request: request(func(c *call, v *wire.DeleteTopic) { c.topic(&v.Stream, &v.Topic) }),
		},
		{
			command: wire.CmdCreatePartitions, method: "POST", path: topicPath + "/partitions", status: ok,
			request: request(createPartitions), reply: nothing(),
		},
		{
			command: wire.CmdDeletePartitions, method: "DELETE", path: topicPath + "/partitions", status: noContent,
			request: request(deletePartitions), reply: nothing(),
		},
		{
			command: wire.CmdDeleteSegments, method: "DELETE", path: topicPath + "/partitions/{partition}", status: noContent,
			request: request(deleteSegments), reply: nothing(),
		},
		{
			command: wire.CmdGetConsumerGroups, method: "GET", path: groupPath, status: ok,
			request: request(func(c *call, v *wire.GetConsumerGroups) { c.topic(&v.Stream, &v.Topic) }),
			reply:   list(func(l *wire.Groups) *[]wire.Group { return &l.Groups }, httpjson.GroupOf, (*httpjson.Group).Wire),
		},
		{
			command: wire.CmdCreateConsumerGroup, method: "POST", path: groupPath, status: ok,
			request: request(createGroup), reply: group,
		},
		{
			command: wire.CmdGetConsumerGroup, method: "GET", path: groupPath + "/{group}", status: ok, maybe: true, reply: group,
			request: request(func(c *call, v *wire.GetConsumerGroup) { groupOf(c, &v.GroupOf) }),
		},
		{
			command: wire.CmdDeleteConsumerGroup, method: "DELETE", path: groupPath + "/{group}", status: noContent, reply: nothing(),
			request: request(func(c *call, v *wire.DeleteConsumerGroup) { groupOf(c, &v.GroupOf) }),
		},
	}
}

func messageRoutes() []route {
	polled := reply(httpjson.PolledMessagesOf, (*httpjson.PolledMessages).Wire)
	return []route{
		{
			command: wire.CmdSendMessages, method: "POST", path: messagePath, status: created, request: request(sendMessages),
			reply: reply(sure(httpjson.SentMessagesOf), (*httpjson.SentMessages).Wire),
		},
		{
			command: wire.CmdPollMessagesDeferred, method: "GET", path: messagePath + "/deferred", status: ok,
			request: request(deferred(false)), reply: polled,
		},
		{
			command: wire.CmdPollMessagesDeferred, method: "POST", path: messagePath + "/deferred", status: ok,
			request: request(deferred(true)), reply: polled,
		},
		{
			command: wire.CmdPollMessages, method: "GET", path: messagePath, status: ok, served: true,
			request: request(poll), reply: polled,
		},
		{
			command: wire.CmdGetConsumerOffset, method: "GET", path: offsetPath, status: ok, maybe: true, request: request(getOffset),
			reply: reply(sure(httpjson.ConsumerOffsetOf), (*httpjson.ConsumerOffset).Wire),
		},
		{
			command: wire.CmdStoreConsumerOffset, method: "PUT", path: offsetPath, status: noContent,
			request: request(storeOffset), reply: nothing(),
		},
		{
			command: wire.CmdDeleteConsumerOffset, method: "DELETE", path: offsetPath + "/{consumer}", status: noContent,
			request: request(deleteOffset), reply: nothing(),
		},
	}
}

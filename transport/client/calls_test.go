package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// open starts a server that is empty.
func open(t *testing.T) *iggyserver.Server {
	t.Helper()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// enter returns a client that is logged in over a protocol.
func enter(t *testing.T, server *iggyserver.Server, over dial.Protocol, username, password string) *client.Client {
	t.Helper()
	config, err := dial.Parse(server.ConnectionString(over))
	require.NoError(t, err)
	dialer, err := config.Dialer()
	require.NoError(t, err)
	c, err := client.New(dialer)
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Shutdown(t.Context())) })
	require.NoError(t, c.Login(t.Context(), username, password))
	return c
}

var protocols = []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket, dial.HTTP}

// tour is one round of calls, with what came of them.
type tour struct {
	t    *testing.T
	c    *client.Client
	http bool
	seen []string
}

// note takes down a reply, which is the same over every transport.
func (r *tour) note(call string, reply any, err error) {
	r.t.Helper()
	require.NoError(r.t, err, call)
	r.seen = append(r.seen, fmt.Sprintf("%s: %+v", call, reply))
}

// done notes that a call without a reply succeeded.
func (r *tour) done(call string, err error) { r.t.Helper(); r.note(call, "", err) }

var stream, topic = wire.Named("orders"), wire.Named("new")

func (r *tour) system() {
	ctx := r.t.Context()
	stats, err := r.c.GetStats(ctx)
	r.note("stats", []any{stats.Hostname, stats.ServerVersion, stats.Streams, stats.ProcessID}, err)
	clients, err := r.c.GetClients(ctx)
	require.NotEmpty(r.t, clients)
	r.note("clients", "", err)
	one, err := r.c.GetClient(ctx, clients[0].ID)
	require.Equal(r.t, clients[0].ID, one.Client.ID)
	r.note("client", one.Client.Transport, err)
	cluster, err := r.c.GetClusterMetadata(ctx)
	r.note("cluster", cluster, err)
	for scope := wire.ScopeTopic; scope <= wire.ScopeUser; scope++ {
		options, err := r.c.DescribeOptions(ctx, scope)
		require.NotEmpty(r.t, options)
		r.note("options", options, err)
	}
	archive, err := r.c.GetSnapshot(ctx, client.SnapshotDeflated)
	require.Contains(r.t, string(archive[:2]), "PK")
	r.note("snapshot", "", err)
	me, err := r.c.GetMe(ctx)
	if r.http {
		require.ErrorIs(r.t, err, wire.CodeFeatureUnavailable)
		return
	}
	require.NoError(r.t, err)
	require.NotEmpty(r.t, me.Client.Address)
}

func (r *tour) users() {
	ctx, anna := r.t.Context(), wire.Named("anna")
	show := func(u wire.UserDetails) any {
		u.User.ID, u.User.CreatedAt = 0, 0
		return fmt.Sprintf("%+v %+v", u.User, u.Permissions)
	}
	u, err := r.c.CreateUser(ctx, "anna", "first password", wire.UserActive, nil)
	r.note("create user", show(u), err)
	r.done("permissions", r.c.UpdatePermissions(ctx, anna, &wire.Permissions{
		Global:  wire.GlobalPermissions{ReadStreams: true},
		Streams: []wire.StreamPermissions{{StreamID: 7, ReadTopics: true, Topics: []wire.TopicPermissions{{TopicID: 1, SendMessages: true}}}},
	}))
	r.done("change password", r.c.ChangePassword(ctx, anna, "first password", "second password"))
	u, err = r.c.GetUser(ctx, anna)
	r.note("user", show(u), err)
	r.done("update user", r.c.UpdateUser(ctx, anna, client.UserUpdate{Username: "anne", Status: wire.UserInactive}))
	all, err := r.c.GetUsers(ctx)
	require.Len(r.t, all, 2)
	r.note("users", []any{all[0].Username, all[1].Username, all[1].Status}, err)
	r.done("delete user", r.c.DeleteUser(ctx, wire.Named("anne")))

	token, err := r.c.CreatePersonalAccessToken(ctx, "reports", client.Forever)
	require.False(r.t, token.Empty())
	r.note("create token", token, err)
	tokens, err := r.c.GetPersonalAccessTokens(ctx)
	r.note("tokens", tokens, err)
	r.done("delete token", r.c.DeletePersonalAccessToken(ctx, "reports"))
}

// plain is a topic without what differs from one to the next.
func plain(d wire.TopicDetails) string {
	d.Topic.ID, d.Topic.CreatedAt = 0, 0
	for i := range d.Partitions {
		d.Partitions[i].CreatedAt, d.Partitions[i].Context = 0, wire.PartitionContext{}
	}
	return fmt.Sprintf("%+v", d)
}

func (r *tour) topics() {
	ctx := r.t.Context()
	s, err := r.c.CreateStream(ctx, "orders", client.StreamOptions{})
	require.Positive(r.t, s.Stream.CreatedAt)
	r.note("create stream", s.Stream.Name, err)
	made := client.TopicOptions{
		MessageExpiry: time.Hour, MaxSizeBytes: 1 << 30, Compression: client.CompressionGzip, SegmentBytes: 1 << 20,
		Durability: client.Persisted, OffsetDurability: client.Replicated, ResizePolicy: client.ResizeMutable,
		MessagesToSave: 10, BytesToSave: 1 << 12, Preallocate: true, ReplicationFactor: 1,
	}
	d, err := r.c.CreateTopic(ctx, stream, "new", 3, made)
	r.note("create topic", plain(d), err)
	require.Len(r.t, d.Partitions, 3)
	got := client.TopicOptionsOf(d.Topic)
	got.Others = nil
	require.Equal(r.t, made, got)
	r.done("update topic", r.c.UpdateTopic(ctx, stream, topic, client.TopicUpdate{
		MaxSizeBytes: 1 << 31, Reset: []string{wire.OptionMessageExpiry},
	}))
	r.done("create partitions", r.c.CreatePartitions(ctx, stream, topic, 2))
	r.done("delete partitions", r.c.DeletePartitions(ctx, stream, topic, 1))
	r.done("delete segments", r.c.DeleteSegments(ctx, client.Partition{Stream: stream, Topic: topic, ID: 3}, 1))
	d, err = r.c.GetTopic(ctx, stream, topic)
	r.note("topic", plain(d), err)
	require.Len(r.t, d.Partitions, 4)
	got = client.TopicOptionsOf(d.Topic)
	require.Equal(r.t, client.Forever, got.MessageExpiry)
	require.Equal(r.t, uint64(1<<31), got.MaxSizeBytes)
	list, err := r.c.GetTopics(ctx, stream)
	require.Len(r.t, list, 1)
	r.note("topics", list[0].Name, err)
	r.groups()
	r.messages()
	r.done("delete topic", r.c.DeleteTopic(ctx, stream, topic))
	r.done("update stream", r.c.UpdateStream(ctx, stream, client.StreamUpdate{Name: "old orders"}))
	s, err = r.c.GetStream(ctx, wire.Named("old orders"))
	r.note("stream", []any{s.Stream.Name, s.Topics}, err)
	streams, err := r.c.GetStreams(ctx)
	require.Len(r.t, streams, 1)
	r.note("streams", []any{streams[0].Name, streams[0].Explicit, streams[0].Derived}, err)
	r.done("delete stream", r.c.DeleteStream(ctx, wire.Named("old orders")))
}

func (r *tour) messages() {
	ctx, of := r.t.Context(), client.Partition{Stream: stream, Topic: topic, ID: 2}
	_, _, err := r.c.Send(ctx, of, nil, texts(0, 3))
	r.done("send", err)
	polled, err := r.c.Poll(ctx, single, of, wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
	r.note("poll", payloads(r.t, polled.Records), err)
	r.done("store offset", r.c.StoreOffset(ctx, single, of, 1, polled.Context))
	offset, found, err := r.c.GetOffset(ctx, single, of)
	require.True(r.t, found)
	r.note("offset", offset, err)
	r.done("delete offset", r.c.DeleteOffset(ctx, single, of, wire.PartitionContext{}))
	_, found, err = r.c.GetOffset(ctx, single, of)
	r.note("no offset", found, err)
}

func (r *tour) groups() {
	ctx := r.t.Context()
	of := wire.GroupOf{Stream: stream, Topic: topic, Group: wire.Named("billing")}
	g, err := r.c.CreateConsumerGroup(ctx, stream, topic, "billing")
	r.note("create group", g, err)
	if !r.http {
		_, err = r.c.SyncConsumerGroup(ctx, of)
		require.ErrorIs(r.t, err, wire.CodeConsumerGroupMemberNotFound)
		require.NoError(r.t, r.c.JoinConsumerGroup(ctx, of))
		mine, err := r.c.SyncConsumerGroup(ctx, of)
		require.NoError(r.t, err)
		require.Len(r.t, mine.Partitions, 4)
		require.NoError(r.t, r.c.LeaveConsumerGroup(ctx, of))
	}
	g, err = r.c.GetConsumerGroup(ctx, of)
	r.note("group", g, err)
	all, err := r.c.GetConsumerGroups(ctx, stream, topic)
	r.note("groups", all, err)
	r.done("delete group", r.c.DeleteConsumerGroup(ctx, of))
	_, err = r.c.GetConsumerGroup(ctx, of)
	require.ErrorIs(r.t, err, wire.CodeConsumerGroupIDNotFound)
}

func TestCallsHaveTheSameRepliesOverEveryTransport(t *testing.T) {
	t.Parallel()
	server := open(t)
	var first []string
	for _, over := range protocols {
		r := &tour{t: t, c: enter(t, server, over, "iggy", "iggy"), http: over == dial.HTTP}
		r.system()
		r.users()
		r.topics()
		require.NotContains(t, fmt.Sprint(r.seen), "first password")
		if first == nil {
			first = r.seen
		}
		require.Equal(t, first, r.seen, over)
	}
}

func TestWhatIsNotThereIsTheSameErrorOverEveryTransport(t *testing.T) {
	t.Parallel()
	server := open(t)
	root := enter(t, server, dial.TCP, "iggy", "iggy")
	_, err := root.CreateStream(t.Context(), "orders", client.StreamOptions{})
	require.NoError(t, err)
	_, err = root.CreateTopic(t.Context(), stream, "new", 1, client.TopicOptions{})
	require.NoError(t, err)
	none := wire.Named("none")
	for _, over := range protocols {
		c := enter(t, server, over, "iggy", "iggy")
		for name, test := range absent(t, c, none) {
			err := test.call()
			require.ErrorIs(t, err, test.code, "%s over %s", name, over)
			require.True(t, client.NotFound(err), name)
			require.False(t, client.Retryable(err), name)
		}
	}
}

// outcome is a call and the code that it has to have.
type outcome struct {
	code wire.Code
	call func() error
}

// second is the error of a call with a reply.
func second[T any](_ T, err error) error { return err }

func absent(t *testing.T, c *client.Client, none wire.Identifier) map[string]outcome {
	ctx := t.Context()
	group := wire.GroupOf{Stream: stream, Topic: topic, Group: none}
	return map[string]outcome{
		"client":      {wire.CodeClientNotFound, func() error { return second(c.GetClient(ctx, 1<<30)) }},
		"user":        {wire.CodeResourceNotFound, func() error { return second(c.GetUser(ctx, none)) }},
		"user number": {wire.CodeResourceNotFound, func() error { return second(c.GetUser(ctx, wire.ID(99))) }},
		"delete user": {wire.CodeResourceNotFound, func() error { return c.DeleteUser(ctx, none) }},
		"update user": {wire.CodeResourceNotFound, func() error {
			return c.UpdateUser(ctx, none, client.UserUpdate{Username: "other"})
		}},
		"permissions":   {wire.CodeResourceNotFound, func() error { return c.UpdatePermissions(ctx, none, nil) }},
		"password":      {wire.CodeResourceNotFound, func() error { return c.ChangePassword(ctx, none, "iggy", "iggy2") }},
		"token":         {wire.CodeResourceNotFound, func() error { return c.DeletePersonalAccessToken(ctx, "none") }},
		"stream":        {wire.CodeStreamIDNotFound, func() error { return second(c.GetStream(ctx, none)) }},
		"stream number": {wire.CodeStreamIDNotFound, func() error { return second(c.GetStream(ctx, wire.ID(99))) }},
		"update stream": {wire.CodeStreamIDNotFound, func() error {
			return c.UpdateStream(ctx, none, client.StreamUpdate{Name: "x"})
		}},
		"delete stream":   {wire.CodeStreamIDNotFound, func() error { return c.DeleteStream(ctx, none) }},
		"topics":          {wire.CodeStreamIDNotFound, func() error { return second(c.GetTopics(ctx, none)) }},
		"create topic":    {wire.CodeStreamIDNotFound, func() error { return second(c.CreateTopic(ctx, none, "t", 1, client.TopicOptions{})) }},
		"topic":           {wire.CodeTopicIDNotFound, func() error { return second(c.GetTopic(ctx, stream, none)) }},
		"topic of none":   {wire.CodeTopicIDNotFound, func() error { return second(c.GetTopic(ctx, none, topic)) }},
		"update topic":    {wire.CodeTopicIDNotFound, func() error { return c.UpdateTopic(ctx, stream, none, client.TopicUpdate{Name: "x"}) }},
		"delete topic":    {wire.CodeTopicIDNotFound, func() error { return c.DeleteTopic(ctx, stream, none) }},
		"partitions":      {wire.CodeTopicIDNotFound, func() error { return c.CreatePartitions(ctx, stream, none, 1) }},
		"less partitions": {wire.CodeTopicIDNotFound, func() error { return c.DeletePartitions(ctx, stream, none, 1) }},
		"segments":        {wire.CodePartitionNotFound, func() error { return c.DeleteSegments(ctx, client.Partition{Stream: stream, Topic: topic, ID: 9}, 1) }},
		"group":           {wire.CodeConsumerGroupIDNotFound, func() error { return second(c.GetConsumerGroup(ctx, group)) }},
		"groups":          {wire.CodeTopicIDNotFound, func() error { return second(c.GetConsumerGroups(ctx, stream, none)) }},
		"create group":    {wire.CodeTopicIDNotFound, func() error { return second(c.CreateConsumerGroup(ctx, stream, none, "g")) }},
		"delete group":    {wire.CodeConsumerGroupIDNotFound, func() error { return c.DeleteConsumerGroup(ctx, group) }},
	}
}

func TestWhoHasNoRightsIsToldSo(t *testing.T) {
	t.Parallel()
	server := open(t)
	root := enter(t, server, dial.TCP, "iggy", "iggy")
	_, err := root.CreateUser(t.Context(), "guest", "guest password", wire.UserActive, nil)
	require.NoError(t, err)
	for _, over := range []dial.Protocol{dial.TCP, dial.HTTP} {
		c := enter(t, server, over, "guest", "guest password")
		calls := absent(t, c, wire.Named("none"))
		delete(calls, "token") // everybody has tokens
		for name, test := range calls {
			require.ErrorIs(t, test.call(), wire.CodeUnauthorized, "%s over %s", name, over)
		}
		ctx := t.Context()
		for name, err := range map[string]error{
			"stats":    second(c.GetStats(ctx)),
			"clients":  second(c.GetClients(ctx)),
			"snapshot": second(c.GetSnapshot(ctx, client.SnapshotStored, client.SnapshotTest)),
			"users":    second(c.GetUsers(ctx)),
			"create":   second(c.CreateUser(ctx, "other", "password", wire.UserActive, nil)),
			"streams":  second(c.GetStreams(ctx)),
			"stream":   second(c.CreateStream(ctx, "other", client.StreamOptions{})),
		} {
			require.ErrorIs(t, err, wire.CodeUnauthorized, "%s over %s", name, over)
			require.NotErrorIs(t, err, client.ErrArgument, name)
		}
		require.NoError(t, second(c.GetUser(ctx, wire.Named("guest"))), "everybody may look at themselves")
	}
}

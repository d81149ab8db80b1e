package rest_test

import (
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// trip is a command with arguments and a payload that have everything in them.
type trip struct {
	command wire.Command
	body    wire.Body
	payload wire.Body
	at      wire.PartitionContext // of a request for a partition
}

var (
	orders = wire.Named("orders / ü%2F..")
	events = wire.Named("..")
	here   = wire.PartitionContext{Incarnation: 11, OwnerGeneration: 0, MetadataOp: 40}
	reader = wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader&=?")}
	group  = wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.ID(4)}
)

func options() wire.Options {
	return wire.Options{
		{Key: wire.OptionCompression, Value: wire.StringValue("gzip")},
		{Key: wire.OptionMaxTopicSize, Value: wire.Uint64Value(wire.Unlimited)},
		{Key: wire.OptionMessageExpiry, Value: wire.Uint64Value(60_000_000)},
		{Key: wire.OptionPreallocate, Value: wire.BoolValue(true)},
		{Key: wire.OptionReplicationFactor, Value: wire.Uint32Value(3)},
	}
}

func derived() wire.Options {
	return wire.Options{{Key: wire.OptionDurability, Value: wire.StringValue("replicated")}}
}

func permissions() *wire.Permissions {
	return &wire.Permissions{
		Global: wire.GlobalPermissions{ManageServers: true, ReadStreams: true, PollMessages: true},
		Streams: []wire.StreamPermissions{
			{StreamID: 1, ManageStream: true, Topics: []wire.TopicPermissions{{TopicID: 2, ReadTopic: true}, {TopicID: 300, SendMessages: true}}},
			{StreamID: 20, SendMessages: true},
		},
	}
}

func aTopic() wire.Topic {
	return wire.Topic{
		ID: 2, CreatedAt: 1_700_000_000_000_001, PartitionsCount: 1, SizeBytes: 2048, MessagesCount: 5, Name: "events",
		Explicit: options(), Derived: derived(),
	}
}

func aStream() wire.Stream {
	return wire.Stream{ID: 1, CreatedAt: 1_700_000_000_000_000, TopicsCount: 1, SizeBytes: 1500, MessagesCount: 10, Name: "orders"}
}

func aUser() wire.User {
	return wire.User{ID: 2, CreatedAt: 5, Status: wire.UserInactive, Username: "bob"}
}

func topicDetails() *wire.TopicDetails {
	return &wire.TopicDetails{Topic: aTopic(), Partitions: []wire.TopicPartition{{
		ID: 0, CreatedAt: 3, SegmentsCount: 1, CurrentOffset: 9, SizeBytes: 1 << 40, MessagesCount: 10, Context: here,
		Members: []uint8{0, 255}, InSync: []uint8{0},
	}}}
}

// everyHeader has a header of each kind.
func everyHeader(t testing.TB) []byte {
	t.Helper()
	wide := wire.Uint128{Hi: math.MaxUint64, Lo: 1}
	var headers []wire.UserHeader
	for i, v := range []wire.Value{
		wire.RawValue([]byte{0, 255}), wire.StringValue("ü"), wire.BoolValue(true), wire.Int8Value(-1), wire.Int16Value(-2),
		wire.Int32Value(-3), wire.Int64Value(-4), wire.Int128Value(wide), wire.Uint8Value(1), wire.Uint16Value(2),
		wire.Uint32Value(3), wire.Uint64Value(math.MaxUint64), wire.Uint128Value(wide), wire.Float32Value(1.5), wire.Float64Value(-0.1),
	} {
		headers = append(headers, wire.UserHeader{Key: wire.Uint8Value(uint8(i)), Value: v})
	}
	block, err := wire.AppendUserHeaders(nil, headers)
	require.NoError(t, err)
	return block
}

// messages have large ids, all kinds of headers, and headers that cannot be read as they are encrypted.
func messages(t testing.TB) []wire.Message {
	t.Helper()
	origin := uint64(start.UnixMicro())
	return []wire.Message{
		{ID: wire.Uint128{Lo: 1}, OriginTimestamp: origin, Payload: []byte("hello")},
		{ID: wire.Uint128{Hi: math.MaxUint64, Lo: math.MaxUint64}, OriginTimestamp: origin, Payload: []byte{0xff, 0}, UserHeaders: everyHeader(t)},
		{ID: wire.Uint128{Hi: 1}, OriginTimestamp: origin, Payload: []byte("{}"), UserHeaders: []byte{0xff, 0xff, 1, 2, 3}},
		{ID: wire.Uint128{Lo: math.MaxUint64}, OriginTimestamp: origin},
	}
}

func batch(t testing.TB, producer *wire.Producer) []byte {
	t.Helper()
	b, err := wire.AppendBatch(nil, producer, messages(t))
	require.NoError(t, err)
	return b
}

// records are two batches, the second with a gap before it.
func records(t testing.TB) []byte {
	t.Helper()
	first := batch(t, nil)
	require.NoError(t, wire.StampBatch(first, 3, 100, 1_700_000_000_000_007))
	second := batch(t, nil)
	require.NoError(t, wire.StampBatch(second, 3, 200, 1_700_000_000_000_007))
	return append(first, second...)
}

func sending(t testing.TB, to wire.Partitioning) *wire.SendMessages {
	return &wire.SendMessages{Stream: orders, Topic: events, Partitioning: to, MessagesCount: 4, Batch: batch(t, nil)}
}

func polling(commits bool, strategy wire.PollingStrategy) *wire.PollMessagesDeferred {
	return &wire.PollMessagesDeferred{
		PollMessages: wire.PollMessages{
			Consumer: reader, Stream: orders, Topic: wire.ID(2), Partition: wire.Partition(3), Strategy: strategy, Count: 100, AutoCommit: commits,
		},
		WaitMicros: 1_000_000, MinCount: 3, MaxBytes: 1 << 20, TimeoutMicros: 11_000_000,
	}
}

func polled(t testing.TB) *wire.PolledMessages {
	return &wire.PolledMessages{Partition: 3, CurrentOffset: math.MaxUint64, Count: 8, Context: wire.PartitionContext{
		Incarnation: 11, OwnerGeneration: 2, MetadataOp: math.MaxUint64,
	}, Records: records(t)}
}

func trips(t testing.TB) map[string]trip {
	sent := &wire.SentMessages{Confirmations: []wire.Confirmation{{StreamID: 1, TopicID: 2, PartitionID: 3, BaseOffset: math.MaxUint64}}}
	topics := wire.GroupOf{Stream: orders, Topic: events, Group: wire.Named("workers")}
	all := map[string]trip{
		"send to a partition": {wire.CmdSendMessages, sending(t, wire.ToPartition(3)), sent, here},
		"send by key": {
			wire.CmdSendMessages, sending(t, wire.Partitioning{Kind: wire.PartitionByKey, Key: []byte{0xff, 'k'}}), sent,
			wire.PartitionContext{},
		},
		"send anywhere":     {wire.CmdSendMessages, sending(t, wire.Partitioning{Kind: wire.PartitionBalanced}), sent, wire.PartitionContext{}},
		"poll":              {wire.CmdPollMessagesDeferred, polling(false, wire.PollingStrategy{Kind: wire.FromOffset, Value: math.MaxUint64}), polled(t), here},
		"poll and commit":   {wire.CmdPollMessagesDeferred, polling(true, wire.PollingStrategy{Kind: wire.FromNext}), polled(t), here},
		"poll from a time":  {wire.CmdPollMessagesDeferred, polling(false, wire.PollingStrategy{Kind: wire.FromTimestamp, Value: 5}), polled(t), here},
		"poll from the end": {wire.CmdPollMessagesDeferred, polling(false, wire.PollingStrategy{Kind: wire.FromLast}), &wire.PolledMessages{}, here},
		"get offset": {
			wire.CmdGetConsumerOffset, &wire.GetConsumerOffset{Consumer: group, Stream: orders, Topic: events, Partition: wire.Partition(0)},
			&wire.ConsumerOffset{Partition: 1, Current: 120, Stored: math.MaxUint64}, wire.PartitionContext{},
		},
		"store offset": {
			wire.CmdStoreConsumerOffset,
			&wire.StoreConsumerOffset{Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(3), Offset: math.MaxUint64, Ack: wire.AckQuorum},
			nil, here,
		},
		"delete offset": {
			wire.CmdDeleteConsumerOffset,
			&wire.DeleteConsumerOffset{Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(3), Ack: wire.AckQuorum}, nil, wire.PartitionContext{},
		},
	}
	maps.Copy(all, map[string]trip{
		"get streams":       {command: wire.CmdGetStreams, payload: &wire.Streams{Streams: []wire.Stream{aStream(), {ID: 5, Name: "x", SizeBytes: 1 << 30}}}},
		"get stream":        {command: wire.CmdGetStream, body: &wire.GetStream{Stream: orders}, payload: &wire.StreamDetails{Stream: aStream(), Topics: []wire.Topic{aTopic()}}},
		"create stream":     {command: wire.CmdCreateStream, body: &wire.CreateStream{Name: "7"}, payload: &wire.StreamDetails{Stream: wire.Stream{Name: "7"}}},
		"delete stream":     {command: wire.CmdDeleteStream, body: &wire.DeleteStream{Stream: wire.ID(math.MaxUint32)}},
		"get topics":        {command: wire.CmdGetTopics, body: &wire.GetTopics{Stream: orders}, payload: &wire.Topics{Topics: []wire.Topic{aTopic()}}},
		"get topic":         {command: wire.CmdGetTopic, body: &wire.GetTopic{Stream: orders, Topic: events}, payload: topicDetails()},
		"create topic":      {command: wire.CmdCreateTopic, body: &wire.CreateTopic{Stream: orders, PartitionsCount: 3, Name: "e", Options: options()}, payload: topicDetails()},
		"delete topic":      {command: wire.CmdDeleteTopic, body: &wire.DeleteTopic{Stream: orders, Topic: events}},
		"create partitions": {command: wire.CmdCreatePartitions, body: &wire.CreatePartitions{Stream: orders, Topic: events, Count: 1000}},
		"delete partitions": {command: wire.CmdDeletePartitions, body: &wire.DeletePartitions{Stream: orders, Topic: events, Count: 2}},
		"delete segments":   {command: wire.CmdDeleteSegments, body: &wire.DeleteSegments{Stream: orders, Topic: events, Partition: 3, Count: 4}},
		"update topic": {command: wire.CmdUpdateResource, body: &wire.UpdateResource{
			Scope: wire.ScopeTopic, Stream: orders, Topic: events, Reset: []string{wire.OptionDurability}, Set: options(),
		}},
		"update stream": {command: wire.CmdUpdateResource, body: &wire.UpdateResource{
			Scope: wire.ScopeStream, Stream: orders, Set: wire.Options{{Key: wire.OptionName, Value: wire.StringValue("n2")}},
		}},
		"update user": {command: wire.CmdUpdateResource, body: &wire.UpdateResource{
			Scope: wire.ScopeUser, User: wire.Named("bob"), Set: wire.Options{{Key: wire.OptionStatus, Value: wire.StringValue("inactive")}},
		}},
		"get groups": {
			command: wire.CmdGetConsumerGroups, body: &wire.GetConsumerGroups{Stream: orders, Topic: events},
			payload: &wire.Groups{Groups: []wire.Group{{ID: 1, PartitionsCount: 3, MembersCount: 2, Name: "workers"}}},
		},
		"get group": {command: wire.CmdGetConsumerGroup, body: &wire.GetConsumerGroup{GroupOf: topics}, payload: &wire.GroupDetails{
			Group: wire.Group{MembersCount: 2, Name: "g"}, Members: []wire.GroupMember{{ID: 7, Partitions: []uint32{0, 2}}, {ID: 8}},
		}},
		"create group": {
			command: wire.CmdCreateConsumerGroup, body: &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "g"},
			payload: &wire.GroupDetails{Group: wire.Group{Name: "g"}},
		},
		"delete group": {command: wire.CmdDeleteConsumerGroup, body: &wire.DeleteConsumerGroup{GroupOf: topics}},
		"get users":    {command: wire.CmdGetUsers, payload: &wire.Users{Users: []wire.User{aUser()}}},
		"get user": {
			command: wire.CmdGetUser, body: &wire.GetUser{User: wire.ID(2)},
			payload: &wire.UserDetails{User: aUser(), Permissions: permissions()},
		},
		"create user": {command: wire.CmdCreateUser, body: &wire.CreateUser{
			Username: "bob", Password: "p\"w", Status: wire.UserActive, Permissions: permissions(),
		}, payload: &wire.UserDetails{User: aUser()}},
		"delete user":        {command: wire.CmdDeleteUser, body: &wire.DeleteUser{User: wire.Named("bob")}},
		"update permissions": {command: wire.CmdUpdatePermissions, body: &wire.UpdatePermissions{User: wire.ID(2), Permissions: permissions()}},
		"take permissions":   {command: wire.CmdUpdatePermissions, body: &wire.UpdatePermissions{User: wire.ID(2)}},
		"change password":    {command: wire.CmdChangePassword, body: &wire.ChangePassword{User: wire.ID(2), Current: "old", New: "new"}},
		"get tokens": {command: wire.CmdGetPersonalAccessTokens, payload: &wire.PersonalAccessTokens{
			Tokens: []wire.PersonalAccessToken{{Name: "a", ExpiryAt: 5}, {Name: "b"}},
		}},
		"create token": {
			command: wire.CmdCreatePersonalAccessToken, body: &wire.CreatePersonalAccessToken{Name: "ci", Expiry: wire.NeverExpires},
			payload: &wire.RawToken{Token: "raw"},
		},
		"delete token": {command: wire.CmdDeletePersonalAccessToken, body: &wire.DeletePersonalAccessToken{Name: "7"}},
		"stats": {command: wire.CmdGetStats, payload: &wire.Stats{
			ProcessID: 1, CPU: 1.5, TotalCPU: 3, Memory: 4096, TotalMemory: 1 << 40, AvailableMemory: 1000, RunTime: 7, StartTime: 8,
			ReadBytes: 9, WrittenBytes: 10, MessagesBytes: 11, Streams: 12, Topics: 13, Partitions: 14, Segments: 15, Messages: 16,
			Clients: 17, Groups: 18, Hostname: "h", OSName: "o", OSVersion: "v", Kernel: "k", ServerVersion: "s", ServerSemver: 19,
			Threads: 20, FreeDisk: 21, TotalDisk: 22, OpenFiles: 23, OpenFilesLimit: math.MaxUint64,
		}},
		"clients": {command: wire.CmdGetClients, payload: &wire.Clients{Clients: []wire.Client{
			{ID: 1, UserID: 2, Transport: wire.TransportWebSocket, Address: "a:1", GroupsCount: 3},
		}}},
		"client": {command: wire.CmdGetClient, body: &wire.GetClient{ClientID: 5}, payload: &wire.ClientDetails{
			Client: wire.Client{ID: 5, Transport: wire.TransportHTTP, Address: "a:1", GroupsCount: 1}, Groups: []wire.ClientGroup{{StreamID: 1, TopicID: 2, GroupID: 3}},
		}},
		"roster": {command: wire.CmdGetClusterMetadata, payload: &wire.ClusterMetadata{Name: "c", Nodes: []wire.ClusterNode{
			{ReplicaID: 1, Name: "n", Host: "::1", TCP: 1, QUIC: 2, HTTP: 3, WebSocket: 65535, Role: wire.NodeFollower, Status: wire.NodeMaintenance},
		}}},
		"options": {command: wire.CmdDescribeOptions, body: &wire.DescribeOptions{Scope: wire.ScopeUser}, payload: &wire.OptionDescriptions{
			Options: []wire.OptionDescription{
				{Key: "k", Kind: wire.KindUint64, Flags: wire.FlagUpdatable | wire.FlagCritical, Default: []byte{255, 0}, Text: "t"},
				{Key: "l", Kind: wire.KindBool},
			},
		}},
	})
	return all
}

// The frame that goes in at the client comes out at the backend, and what the backend says comes back.
func TestEveryCommandGoesOverHTTPUnchanged(t *testing.T) {
	t.Parallel()
	done := map[wire.Command]bool{}
	for name, tt := range trips(t) {
		done[tt.command] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := says(tt.payload)
			conn := serve(t, b)
			body := tt.body
			if body == nil {
				body = &wire.Empty{}
			}
			h := wire.NewRequest(tt.command)
			h.Context = tt.at
			if _, fits := tt.payload.(*wire.ConsumerOffset); fits || tt.command == wire.CmdDeleteConsumerOffset {
				b.answer = routed(t, tt.payload)
				tt.at = here
			}
			code, payload := do(t, conn, h, body)
			require.Zero(t, code)
			var want []byte
			var err error
			if tt.payload != nil {
				want, err = wire.Append(nil, tt.payload)
				require.NoError(t, err)
			}
			require.Equal(t, string(want), string(payload), "the reply")

			seen := b.requests()
			got, gotBody, err := wire.DecodeRequest(seen[len(seen)-1])
			require.NoError(t, err)
			require.Equal(t, tt.command, got.Carries())
			require.Equal(t, tt.at, got.Context)
			wantBody, err := wire.Append(nil, body)
			require.NoError(t, err)
			require.Equal(t, string(wantBody), string(gotBody), "the request")
		})
	}
	for command := range rest.Commands() {
		require.True(t, done[command] || command == wire.CmdPollMessages || command == wire.CmdGetSnapshot, "no test for %s", command)
	}
}

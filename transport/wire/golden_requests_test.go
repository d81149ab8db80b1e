package wire_test

import (
	"bytes"
	"maps"

	"github.com/runnel-go/runnel/transport/wire"
)

// goldenOptions are the options of the vector options/topic.
func goldenOptions() wire.Options {
	return wire.Options{
		{Key: "compression_algorithm", Value: wire.StringValue("gzip")},
		{Key: "max_topic_size", Value: wire.Uint64Value(1_000_000_000)},
		{Key: "message_expiry", Value: wire.Uint64Value(60_000_000)},
	}
}

// globalPermissions and allPermissions are those of the vectors permissions/….
func globalPermissions() *wire.Permissions {
	return &wire.Permissions{Global: wire.GlobalPermissions{
		ReadServers: true, ReadUsers: true, ReadStreams: true, ReadTopics: true, PollMessages: true,
	}}
}

func allPermissions() *wire.Permissions {
	p := globalPermissions()
	p.Streams = []wire.StreamPermissions{
		{
			StreamID: 1, ManageStream: true, ReadStream: true, PollMessages: true, SendMessages: true,
			Topics: []wire.TopicPermissions{
				{TopicID: 1, ManageTopic: true, PollMessages: true},
				{TopicID: 7, ReadTopic: true, SendMessages: true},
			},
		},
		{StreamID: 300, ReadStream: true, ReadTopics: true},
	}
	return p
}

func requestBodies() map[string]body {
	all := map[string]body{}
	for _, part := range []map[string]body{systemRequests(), sessionRequests(), userRequests(), resourceRequests(), dataRequests()} {
		maps.Copy(all, part)
	}
	for name, b := range sendRequests() {
		all["send_messages/"+name] = b
	}
	return all
}

func systemRequests() map[string]body {
	empty := bodyOf(wire.Empty{})
	return map[string]body{
		"ping_unbound":            empty,
		"ping":                    empty,
		"get_stats":               empty,
		"get_cluster_metadata":    empty,
		"get_me":                  empty,
		"get_client":              bodyOf(wire.GetClient{ClientID: 5}),
		"get_clients":             empty,
		"describe_options/topic":  bodyOf(wire.DescribeOptions{Scope: wire.ScopeTopic}),
		"describe_options/stream": bodyOf(wire.DescribeOptions{Scope: wire.ScopeStream}),
		"describe_options/user":   bodyOf(wire.DescribeOptions{Scope: wire.ScopeUser}),
		"get_snapshot":            bodyOf(wire.GetSnapshot{Compression: 1, Types: []uint8{1, 2}}),
		"get_metadata_changes/earliest": bodyOf(wire.GetMetadataChanges{
			Start: wire.ChangesEarliest, Until: 99, HasUntil: true, Limit: 100, Groups: []uint8{1, 2},
		}),
	}
}

func sessionRequests() map[string]body {
	return map[string]body{
		"login_register": bodyOf(wire.LoginRegister{
			Client: goldenInfo, Secret: goldenSecret(), Username: "iggy", Password: "iggy",
		}),
		"login_register/context": bodyOf(wire.LoginRegister{
			Client: goldenInfo, Secret: goldenSecret(), Username: "iggy", Password: "secret", Context: "runnel",
		}),
		"login_register_pat": bodyOf(wire.LoginRegisterWithToken{
			Client: goldenInfo, Secret: goldenSecret(), Token: "pat-token",
		}),
		"login_register_pat/context": bodyOf(wire.LoginRegisterWithToken{
			Client: goldenInfo, Secret: goldenSecret(), Token: "pat-token", Context: "ctx",
		}),
		"logout": bodyOf(wire.Empty{}),
		"bind_session": bodyOf(wire.BindSession{
			Client: goldenInfo, ClientID: goldenClient, Session: 42, MetadataWatermark: 40, Secret: goldenSecret(),
		}),
		"bind_session/resolve": bodyOf(wire.BindSession{
			Client: goldenInfo, ClientID: goldenClient, Secret: goldenSecret(),
		}),
	}
}

func userRequests() map[string]body {
	bob := wire.Named("bob")
	return map[string]body{
		"get_user":  bodyOf(wire.GetUser{User: bob}),
		"get_users": bodyOf(wire.Empty{}),
		"create_user/minimal": bodyOf(wire.CreateUser{
			Username: "bob", Password: "secret", Status: wire.UserActive,
		}),
		"create_user/permissions": bodyOf(wire.CreateUser{
			Username: "bob", Password: "secret", Status: wire.UserInactive, Permissions: allPermissions(),
		}),
		"delete_user":             bodyOf(wire.DeleteUser{User: wire.ID(2)}),
		"update_permissions/none": bodyOf(wire.UpdatePermissions{User: wire.ID(2)}),
		"update_permissions/some": bodyOf(wire.UpdatePermissions{User: bob, Permissions: globalPermissions()}),
		"change_password":         bodyOf(wire.ChangePassword{User: bob, Current: "secret", New: "topsecret"}),
		"get_pats":                bodyOf(wire.Empty{}),
		"create_pat":              bodyOf(wire.CreatePersonalAccessToken{Name: "ci-token", Expiry: 3_600_000_000}),
		"create_pat/never":        bodyOf(wire.CreatePersonalAccessToken{Name: "ci-token", Expiry: wire.NeverExpires}),
		"delete_pat":              bodyOf(wire.DeletePersonalAccessToken{Name: "ci-token"}),
	}
}

func resourceRequests() map[string]body {
	orders, events := wire.Named("orders"), wire.Named("events")
	text := func(key, value string) wire.Option { return wire.Option{Key: key, Value: wire.StringValue(value)} }
	return map[string]body{
		"get_stream/numeric":       bodyOf(wire.GetStream{Stream: wire.ID(1)}),
		"get_stream/named":         bodyOf(wire.GetStream{Stream: orders}),
		"get_streams":              bodyOf(wire.Empty{}),
		"create_stream/no_options": bodyOf(wire.CreateStream{Name: "orders"}),
		"create_stream/key": bodyOf(wire.CreateStream{Name: "orders", Options: wire.Options{
			{Key: "encryption_key", Value: wire.RawValue(bytes.Repeat([]byte{7}, 32))},
		}}),
		"delete_stream": bodyOf(wire.DeleteStream{Stream: orders}),
		"update_resource/topic_set": bodyOf(wire.UpdateResource{
			Scope: wire.ScopeTopic, Stream: orders, Topic: wire.ID(2),
			Set: wire.Options{text("name", "events2"), {Key: "message_expiry", Value: wire.Uint64Value(1000)}},
		}),
		"update_resource/topic_reset": bodyOf(wire.UpdateResource{
			Scope: wire.ScopeTopic, Stream: wire.ID(1), Topic: wire.ID(2), Reset: []string{"message_expiry", "max_topic_size"},
		}),
		"update_resource/stream_name": bodyOf(wire.UpdateResource{
			Scope: wire.ScopeStream, Stream: orders, Set: wire.Options{text("name", "orders2")},
		}),
		"update_resource/user": bodyOf(wire.UpdateResource{
			Scope: wire.ScopeUser, User: wire.Named("bob"),
			Set: wire.Options{text("username", "bobby"), text("status", "inactive")},
		}),
		"create_topic/no_options": bodyOf(wire.CreateTopic{Stream: orders, PartitionsCount: 3, Name: "events"}),
		"create_topic/options": bodyOf(wire.CreateTopic{
			Stream: wire.ID(1), PartitionsCount: 1, Name: "events", Options: goldenOptions(),
		}),
		"get_topic":         bodyOf(wire.GetTopic{Stream: orders, Topic: wire.ID(2)}),
		"get_topics":        bodyOf(wire.GetTopics{Stream: orders}),
		"delete_topic":      bodyOf(wire.DeleteTopic{Stream: orders, Topic: events}),
		"create_partitions": bodyOf(wire.CreatePartitions{Stream: orders, Topic: events, Count: 2}),
		"delete_partitions": bodyOf(wire.DeletePartitions{Stream: wire.ID(1), Topic: wire.ID(2), Count: 1}),
		"delete_segments":   bodyOf(wire.DeleteSegments{Stream: wire.ID(1), Topic: wire.ID(2), Count: 4}),
		"create_consumer_group": bodyOf(wire.CreateConsumerGroup{
			Stream: orders, Topic: events, Name: "workers",
		}),
		"get_consumer_group": bodyOf(wire.GetConsumerGroup{
			GroupOf: wire.GroupOf{Stream: wire.ID(1), Topic: wire.ID(2), Group: wire.Named("workers")},
		}),
		"get_consumer_groups": bodyOf(wire.GetConsumerGroups{Stream: wire.ID(1), Topic: wire.ID(2)}),
		"delete_consumer_group": bodyOf(wire.DeleteConsumerGroup{
			GroupOf: wire.GroupOf{Stream: wire.ID(1), Topic: wire.ID(2), Group: wire.ID(0)},
		}),
		"join_consumer_group":  bodyOf(wire.JoinConsumerGroup{GroupOf: workersOfEvents}),
		"leave_consumer_group": bodyOf(wire.LeaveConsumerGroup{GroupOf: workersOfEvents}),
		"sync_consumer_group":  bodyOf(wire.SyncConsumerGroup{GroupOf: workersOfEvents}),
	}
}

var workersOfEvents = wire.GroupOf{
	Stream: wire.Named("orders"), Topic: wire.Named("events"), Group: wire.Named("workers"),
}

func dataRequests() map[string]body {
	app := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("app")}
	workers := wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("workers")}
	s, topic := wire.ID(1), wire.ID(2)
	orders, events := wire.Named("orders"), wire.Named("events")
	poll := wire.PollMessages{
		Consumer: app, Stream: orders, Topic: events, Partition: wire.Partition(0),
		Strategy: wire.PollingStrategy{Kind: wire.FromOffset, Value: 42}, Count: 10,
	}
	next := poll
	next.Partition, next.Strategy, next.AutoCommit = wire.OptionalPartition{}, wire.PollingStrategy{Kind: wire.FromNext}, true
	deferred := next
	deferred.Partition, deferred.Count = wire.Partition(0), 1000
	grouped := poll
	grouped.Consumer, grouped.Partition, grouped.Strategy.Value = workers, wire.Partition(1), 0
	fetch := wire.FetchMessages{
		Consumer: app, Stream: orders, Topic: events, WaitMicros: 5_000_000, TimeoutMicros: 15_000_000, MinCount: 1, Count: 1000,
		MaxBytes: 1 << 20,
		Targets: []wire.FetchTarget{
			{Strategy: wire.PollingStrategy{Kind: wire.FromNext}, MaxBytes: 1 << 20, Incarnation: 11},
		},
	}
	owned := fetch
	owned.Consumer, owned.AutoCommit = workers, true
	owned.Targets = []wire.FetchTarget{
		{
			Strategy: wire.PollingStrategy{Kind: wire.FromOffset, Value: 40}, MaxBytes: 1 << 20, Incarnation: 11,
			OwnerGeneration: 5,
		},
		{
			Partition: 2, Strategy: wire.PollingStrategy{Kind: wire.FromNext}, MaxBytes: 1 << 20, Incarnation: 11,
			OwnerGeneration: 5,
		},
	}
	return map[string]body{
		"get_consumer_offset": bodyOf(wire.GetConsumerOffset{
			Consumer: app, Stream: s, Topic: topic, Partition: wire.Partition(0),
		}),
		"get_consumer_offset/no_partition": bodyOf(wire.GetConsumerOffset{Consumer: app, Stream: s, Topic: topic}),
		"store_consumer_offset": bodyOf(wire.StoreConsumerOffset{
			Consumer: app, Stream: s, Topic: topic, Partition: wire.Partition(0), Offset: 99, Ack: wire.AckQuorum,
		}),
		"store_consumer_offset/group": bodyOf(wire.StoreConsumerOffset{
			Consumer: workers, Stream: s, Topic: topic, Partition: wire.Partition(1), Offset: 7, Ack: wire.AckNone,
		}),
		"delete_consumer_offset": bodyOf(wire.DeleteConsumerOffset{
			Consumer: app, Stream: s, Topic: topic, Partition: wire.Partition(0), Ack: wire.AckQuorum,
		}),
		"delete_consumer_offset/group": bodyOf(wire.DeleteConsumerOffset{
			Consumer: workers, Stream: s, Topic: topic, Ack: wire.AckQuorum,
		}),
		"get_partition_route":        bodyOf(wire.GetPartitionRoute{Stream: orders, Topic: events, Partition: 1}),
		"poll_messages":              bodyOf(poll),
		"poll_messages/no_partition": bodyOf(next),
		"poll_messages_deferred": bodyOf(wire.PollMessagesDeferred{
			PollMessages: deferred, WaitMicros: 5_000_000, MinCount: 1, MaxBytes: 1 << 20, TimeoutMicros: 15_000_000,
		}),
		"poll_messages_deferred/group_no_wait": bodyOf(wire.PollMessagesDeferred{
			PollMessages: grouped, MinCount: 1, MaxBytes: 1 << 16, TimeoutMicros: 10_000_000,
		}),
		"fetch_messages/one_target":        bodyOf(fetch),
		"fetch_messages/group_two_targets": bodyOf(owned),
	}
}

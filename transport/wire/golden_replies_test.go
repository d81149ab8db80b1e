package wire_test

import (
	"maps"

	"github.com/runnel-go/runnel/transport/wire"
)

func replyBodies() map[string]body {
	all := map[string]body{}
	for _, part := range []map[string]body{userReplies(), resourceReplies(), groupReplies(), dataReplies(), systemReplies()} {
		maps.Copy(all, part)
	}
	return all
}

func userReplies() map[string]body {
	user := func(name string, status wire.UserStatus) wire.User {
		return wire.User{ID: 2, CreatedAt: goldenTime, Status: status, Username: name}
	}
	return map[string]body{
		"login_register":          bodyOf(wire.Registered{Session: 42, Version: wire.Version0122, ServerVersion: "0.10.0"}),
		"get_user/no_permissions": bodyOf(wire.UserDetails{User: user("bob", wire.UserActive)}),
		"get_user/permissions": bodyOf(wire.UserDetails{
			User: user("bob", wire.UserInactive), Permissions: allPermissions(),
		}),
		"get_users/empty": bodyOf(wire.Users{}),
		"get_users/two": bodyOf(wire.Users{Users: []wire.User{
			user("bob", wire.UserActive), user("eve", wire.UserInactive),
		}}),
		"create_pat": bodyOf(wire.RawToken{Token: "raw-token-value"}),
		"get_pats/two": bodyOf(wire.PersonalAccessTokens{Tokens: []wire.PersonalAccessToken{
			{Name: "a-token"}, {Name: "b-token", ExpiryAt: goldenTime},
		}}),
	}
}

func goldenStream(name string) wire.Stream {
	return wire.Stream{ID: 1, CreatedAt: goldenTime, SizeBytes: 4096, MessagesCount: 10, Name: name}
}

func goldenTopic(partitions uint32) wire.Topic {
	return wire.Topic{
		ID: 2, CreatedAt: goldenTime + 1, PartitionsCount: partitions, SizeBytes: 2048, MessagesCount: 5, Name: "events",
		Explicit: goldenOptions(),
		Derived: wire.Options{
			{Key: "durability", Value: wire.StringValue("replicated")},
			{Key: "segment_size", Value: wire.Uint64Value(1 << 30)},
		},
	}
}

func resourceReplies() map[string]body {
	withTopic := goldenStream("orders")
	withTopic.TopicsCount = 1
	partition := wire.TopicPartition{
		CreatedAt: goldenTime + 2, SegmentsCount: 1, CurrentOffset: 9, SizeBytes: 1024, MessagesCount: 10,
		Context: wire.PartitionContext{Incarnation: 11, MetadataOp: 40},
	}
	replicated := partition
	replicated.ID, replicated.Members, replicated.InSync = 1, []uint8{0, 1, 2}, []uint8{0, 2}
	second := withTopic
	second.ID, second.Name = 2, "audit"
	second.Derived = wire.Options{{Key: "encryption_key_source", Value: wire.StringValue("none")}}
	logs := goldenTopic(2)
	logs.ID, logs.Name, logs.Explicit, logs.Derived = 3, "logs", nil, nil
	logs.PartitionsCount = 2
	return map[string]body{
		"get_stream/no_topics":    bodyOf(wire.StreamDetails{Stream: goldenStream("orders")}),
		"get_stream/one_topic":    bodyOf(wire.StreamDetails{Stream: withTopic, Topics: []wire.Topic{goldenTopic(2)}}),
		"get_streams/empty":       bodyOf(wire.Streams{}),
		"get_streams/two":         bodyOf(wire.Streams{Streams: []wire.Stream{withTopic, second}}),
		"get_topic/no_partitions": bodyOf(wire.TopicDetails{Topic: goldenTopic(0)}),
		"get_topic/two_partitions": bodyOf(wire.TopicDetails{
			Topic: goldenTopic(2), Partitions: []wire.TopicPartition{partition, replicated},
		}),
		"get_topics/empty":    bodyOf(wire.Topics{}),
		"get_topics/two":      bodyOf(wire.Topics{Topics: []wire.Topic{goldenTopic(2), logs}}),
		"get_partition_route": bodyOf(wire.PartitionRoute{Incarnation: 11, MetadataOp: 40, PartitionsCount: 3}),
	}
}

func groupReplies() map[string]body {
	workers := wire.Group{PartitionsCount: 3, Name: "workers"}
	withMembers := workers
	withMembers.MembersCount = 2
	audit := wire.Group{ID: 1, PartitionsCount: 3, MembersCount: 2, Name: "audit"}
	return map[string]body{
		"get_consumer_group/no_members": bodyOf(wire.GroupDetails{Group: workers}),
		"get_consumer_group/two_members": bodyOf(wire.GroupDetails{
			Group: withMembers, Members: []wire.GroupMember{{ID: 7, Partitions: []uint32{0, 2}}, {ID: 8, Partitions: []uint32{1}}},
		}),
		"get_consumer_groups/empty": bodyOf(wire.Groups{}),
		"get_consumer_groups/two":   bodyOf(wire.Groups{Groups: []wire.Group{withMembers, audit}}),
		"sync_consumer_group/none":  bodyOf(wire.Assignment{Generation: 5}),
		"sync_consumer_group/two":   bodyOf(wire.Assignment{Generation: 6, Partitions: []uint32{0, 2}}),
		"get_consumer_offset":       bodyOf(wire.ConsumerOffset{Current: 120, Stored: 99}),
	}
}

func dataReplies() map[string]body {
	records := func(messages []wire.Message, producer *wire.Producer, offset, timestamp uint64) []byte {
		batch, err := wire.AppendBatch(nil, producer, messages)
		if err == nil {
			err = wire.StampBatch(batch, 2, offset, timestamp)
		}
		if err != nil {
			panic(err)
		}
		return batch
	}
	three := records([]wire.Message{hello, world, blank}, nil, 40, goldenTime+500000)
	one := records([]wire.Message{hello}, &wire.Producer{ID: 44040193}, 43, goldenTime+600000)
	polled := wire.PolledMessages{
		Partition: 2, CurrentOffset: 43, Context: wire.PartitionContext{Incarnation: 11, MetadataOp: 40},
	}
	both := polled
	both.Count, both.Records = 4, append(append([]byte(nil), three...), one...)
	section := wire.FetchSection{
		CurrentOffset: 43, NextOffset: 44, Context: wire.PartitionContext{Incarnation: 11, OwnerGeneration: 5, MetadataOp: 40},
	}
	read := section
	read.Partition, read.Count, read.NextOffset, read.Records = 2, 3, 43, three
	return map[string]body{
		"send_messages": bodyOf(wire.SentMessages{Confirmations: []wire.Confirmation{
			{StreamID: 1, TopicID: 2, BaseOffset: 41},
		}}),
		"send_messages/empty":         bodyOf(wire.SentMessages{}),
		"poll_messages/empty":         bodyOf(polled),
		"poll_messages/two_batches":   bodyOf(both),
		"fetch_messages/two_sections": bodyOf(wire.FetchedMessages{Sections: []wire.FetchSection{section, read}}),
		"fetch_messages/error_section": bodyOf(wire.FetchedMessages{Sections: []wire.FetchSection{
			{Partition: 1, Status: wire.CodeHistoryUnavailable},
		}}),
	}
}

func systemReplies() map[string]body {
	node := wire.ClusterNode{Name: "node-0", Host: "127.0.0.1", TCP: 8090, QUIC: 8080, HTTP: 3000, WebSocket: 8092}
	follower := node
	follower.ReplicaID, follower.Name, follower.Role = 1, "node-1", wire.NodeFollower
	client := wire.Client{ID: 5, Transport: wire.TransportTCP, Address: "127.0.0.1:50000"}
	member := client
	member.GroupsCount = 1
	other := client
	other.ID, other.Transport, other.GroupsCount = 6, wire.TransportWebSocket, 2
	stats := wire.Stats{
		ProcessID: 1234, CPU: 1.5, TotalCPU: 2.5, Memory: 1000, TotalMemory: 2000, AvailableMemory: 1500, RunTime: 60000000,
		StartTime: goldenTime, ReadBytes: 10, WrittenBytes: 20, MessagesBytes: 30, Streams: 1, Topics: 2, Partitions: 3,
		Segments: 4, Messages: 5, Clients: 6, Groups: 7, Hostname: "host", OSName: "linux", OSVersion: "1", Kernel: "k",
		ServerVersion: "0.10.0", ServerSemver: 10000, Threads: 8, FreeDisk: 9, TotalDisk: 10, OpenFiles: 11, OpenFilesLimit: 12,
	}
	cached := stats
	cached.ServerSemver = 0
	cached.Caches = []wire.CacheStats{{StreamID: 1, TopicID: 2, PartitionID: 3, Hits: 4, Misses: 5, HitRatio: 0.5}}
	return map[string]body{
		"get_cluster_metadata/single": bodyOf(wire.ClusterMetadata{Name: "single", Nodes: []wire.ClusterNode{node}}),
		"get_cluster_metadata/two":    bodyOf(wire.ClusterMetadata{Name: "c", Nodes: []wire.ClusterNode{node, follower}}),
		"get_me/no_groups":            bodyOf(wire.ClientDetails{Client: client}),
		"get_me/one_group": bodyOf(wire.ClientDetails{
			Client: member, Groups: []wire.ClientGroup{{StreamID: 1, TopicID: 2}},
		}),
		"get_clients/two": bodyOf(wire.Clients{Clients: []wire.Client{client, other}}),
		"describe_options": bodyOf(wire.OptionDescriptions{Options: []wire.OptionDescription{
			{
				Key: "message_expiry", Kind: wire.KindUint64, Flags: wire.FlagUpdatable | wire.FlagResettable,
				Default: wire.Uint64Value(1<<64 - 1).Data, Text: "d1",
			},
			{Key: "compression_algorithm", Kind: wire.KindString, Default: []byte("none")},
		}}),
		"get_stats":       bodyOf(stats),
		"get_stats/cache": bodyOf(cached),
	}
}

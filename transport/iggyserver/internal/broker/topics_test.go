package broker_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestStreamsAndTopicsAreThereUntilTheyAreDeleted(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 3)
	c.put(1, "a", "b")
	topic := wiretest.Decode[wire.TopicDetails](t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}))
	require.Equal(t, uint32(3), topic.Topic.PartitionsCount)
	require.Equal(t, uint64(2), topic.Topic.MessagesCount)
	require.Len(t, topic.Partitions, 3)
	seen := map[uint64]bool{}
	for i, p := range topic.Partitions {
		require.Equal(t, uint32(i), p.ID)
		require.NotZero(t, p.Context.Incarnation)
		require.False(t, seen[p.Context.Incarnation], "each life has a name of its own")
		require.Equal(t, []uint8{0}, p.Members)
		require.Equal(t, []uint8{0}, p.InSync)
		seen[p.Context.Incarnation] = true
	}
	require.Equal(t, uint64(1), topic.Partitions[1].CurrentOffset)
	require.Equal(t, topic.Topic.SizeBytes, topic.Partitions[1].SizeBytes)

	stream := wiretest.Decode[wire.StreamDetails](t, c.ok(wire.CmdGetStream, &wire.GetStream{Stream: wire.ID(0)}))
	require.Equal(t, []wire.Topic{topic.Topic}, stream.Topics)
	require.Equal(t, uint64(2), stream.Stream.MessagesCount)
	topics := wiretest.Decode[wire.Topics](t, c.ok(wire.CmdGetTopics, &wire.GetTopics{Stream: orders}))
	require.Equal(t, stream.Topics, topics.Topics)
	streams := wiretest.Decode[wire.Streams](t, c.ok(wire.CmdGetStreams, nil))
	require.Equal(t, []wire.Stream{stream.Stream}, streams.Streams)

	c.ok(wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: orders, Topic: wire.ID(0)})
	require.Empty(t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}))
	c.ok(wire.CmdDeleteStream, &wire.DeleteStream{Stream: orders})
	require.Empty(t, c.ok(wire.CmdGetStream, &wire.GetStream{Stream: orders}))
	require.Empty(t, wiretest.Decode[wire.Streams](t, c.ok(wire.CmdGetStreams, nil)).Streams)
}

func TestMetadataThatCannotBeIsRejected(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2, func(c *brokerConfig) { c.Limits.Streams, c.Limits.Topics, c.Limits.Partitions = 1, 2, 5 })
	nowhere := wire.Named("nowhere")
	tests := map[string]struct {
		command wire.Command
		body    wire.Body
		want    wire.Code
	}{
		"stream name taken":     {wire.CmdCreateStream, &wire.CreateStream{Name: "orders"}, wire.CodeStreamNameAlreadyExists},
		"too many streams":      {wire.CmdCreateStream, &wire.CreateStream{Name: "more"}, 1020},
		"delete of no stream":   {wire.CmdDeleteStream, &wire.DeleteStream{Stream: nowhere}, wire.CodeStreamIDNotFound},
		"topics of no stream":   {wire.CmdGetTopics, &wire.GetTopics{Stream: nowhere}, wire.CodeStreamIDNotFound},
		"topic in no stream":    {wire.CmdCreateTopic, &wire.CreateTopic{Stream: nowhere, Name: "t"}, wire.CodeStreamIDNotFound},
		"topic name taken":      {wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events"}, wire.CodeTopicNameAlreadyExists},
		"delete of no topic":    {wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: orders, Topic: nowhere}, wire.CodeTopicIDNotFound},
		"too many partitions":   {wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: events, Count: 4}, 2022},
		"a topic with too many": {wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "t", PartitionsCount: 4}, 2022},
		"more than one request creates": {
			wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "t", PartitionsCount: 1001}, wire.CodeTooManyPartitions,
		},
		"no partitions":         {wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: events}, wire.CodeInvalidPartitionsCount},
		"partitions of none":    {wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: nowhere, Count: 1}, wire.CodeTopicIDNotFound},
		"more than there are":   {wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 3}, wire.CodeInvalidPartitionsCount},
		"segments of none":      {wire.CmdDeleteSegments, &wire.DeleteSegments{Stream: orders, Topic: events, Partition: 7, Count: 1}, wire.CodePartitionNotFound},
		"route to no partition": {wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events, Partition: 7}, wire.CodePartitionNotFound},
		"route to no topic":     {wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: nowhere}, wire.CodeTopicIDNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { c.refused(tt.want, tt.command, tt.body) })
	}
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "second"})
	c.refused(2021, wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "third"})
}

func TestTheDeletionOfSegmentsIsAnsweredAsTheOperationItBecame(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	frame := c.frame(c.header(wire.CmdDeleteSegments), &wire.DeleteSegments{Stream: orders, Topic: events, Count: 1})
	h, body, err := wire.DecodeReply(c.send(frame))
	require.NoError(t, err)
	require.Equal(t, wire.OpInternalDeleteSegments, h.Operation)
	require.Equal(t, []byte{0, 0, 0, 0}, body)
}

func TestAPartitionThatIsMadeAgainHasANewLife(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2)
	old := c.at(1)
	c.put(1, "a")
	c.ok(wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 1})
	code, _ := c.tryAt(old, wire.CmdSendMessages, sending(1, 1, batch(t, nil, "b")))
	require.Equal(t, wire.CodePartitionNotFound, code)
	c.ok(wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: events, Count: 1})
	require.NotEqual(t, old.Incarnation, c.at(1).Incarnation)
	require.Greater(t, c.at(1).MetadataOp, old.MetadataOp)
	for _, incarnation := range []uint64{old.Incarnation, 0} {
		stale := wire.PartitionContext{Incarnation: incarnation}
		code, _ = c.tryAt(stale, wire.CmdSendMessages, sending(1, 1, batch(t, nil, "b")))
		require.Equal(t, wire.CodeHistoryUnavailable, code)
		code, _ = c.tryAt(stale, wire.CmdPollMessages, polling(reader, 1, wire.PollingStrategy{Kind: wire.FromNext}, 1))
		require.Equal(t, wire.CodeHistoryUnavailable, code)
	}
	require.Zero(t, c.put(1, "b"))
}

func options(key string, value wire.Value) wire.Options {
	return wire.Options{{Key: key, Value: value}}
}

func TestOptionsOfATopicAreReadInTheirKindOrAsText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		key   string
		given wire.Value
		want  wire.Value // no data for a refusal
		code  wire.Code
	}{
		"a number":                {"message_expiry", wire.Uint64Value(5), wire.Uint64Value(5), 0},
		"a number as text":        {"message_expiry", wire.StringValue("18446744073709551615"), wire.Uint64Value(math.MaxUint64), 0},
		"a duration":              {"message_expiry", wire.StringValue("7 days"), wire.Uint64Value(7 * 86400e6), 0},
		"a duration in parts":     {"message_expiry", wire.StringValue("1h 30m"), wire.Uint64Value(5400e6), 0},
		"a size":                  {"segment_size", wire.StringValue("128 MiB"), wire.Uint64Value(128 << 20), 0},
		"a size with a fraction":  {"max_topic_size", wire.StringValue("1.5 GiB"), wire.Uint64Value(3 << 29), 0},
		"no limit":                {"max_topic_size", wire.StringValue("unlimited"), wire.Uint64Value(math.MaxUint64), 0},
		"a choice":                {"compression_algorithm", wire.StringValue("gzip"), wire.StringValue("gzip"), 0},
		"a small number as text":  {"messages_required_to_save", wire.StringValue("32"), wire.Uint32Value(32), 0},
		"true as text":            {"preallocate_segments", wire.StringValue("true"), wire.BoolValue(true), 0},
		"an unknown key":          {"colour", wire.StringValue("red"), wire.Value{}, wire.CodeUnsupportedOptionKey},
		"the name":                {"name", wire.StringValue("red"), wire.Value{}, wire.CodeUnsupportedOptionKey},
		"a derived key":           {"critical_keys", wire.StringValue("x"), wire.Value{}, wire.CodeReadOnlyOption},
		"another choice":          {"durability", wire.StringValue("maybe"), wire.Value{}, wire.CodeInvalidOptionValue},
		"another kind":            {"message_expiry", wire.Uint32Value(5), wire.Value{}, wire.CodeInvalidOptionValue},
		"a number of other width": {"message_expiry", wire.Value{Kind: wire.KindUint64, Data: []byte{1}}, wire.Value{}, wire.CodeInvalidOptionValue},
		"no duration":             {"message_expiry", wire.StringValue("7 parsecs"), wire.Value{}, wire.CodeInvalidOptionValue},
		"no number":               {"message_expiry", wire.StringValue("days"), wire.Value{}, wire.CodeInvalidOptionValue},
		"a unit for a count":      {"messages_required_to_save", wire.StringValue("3 s"), wire.Value{}, wire.CodeInvalidOptionValue},
		"a count that is too big": {"messages_required_to_save", wire.StringValue("4294967297"), wire.Value{}, wire.CodeInvalidOptionValue},
		"a small segment":         {"segment_size", wire.Uint64Value(1000), wire.Value{}, wire.CodeInvalidOptionValue},
		"less than a segment":     {"max_topic_size", wire.StringValue("1 MiB"), wire.Value{}, wire.CodeInvalidOptionValue},
		"more than one replica":   {"replication_factor", wire.Uint32Value(3), wire.Value{}, 2018},
		"neither true nor false":  {"preallocate_segments", wire.StringValue("yes"), wire.Value{}, wire.CodeInvalidOptionValue},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := withTopic(t, 1)
			code, payload := c.try(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "t", Options: options(tt.key, tt.given)})
			require.Equal(t, tt.code, code)
			if code != 0 {
				return
			}
			topic := wiretest.Decode[wire.TopicDetails](t, payload).Topic
			require.Equal(t, options(tt.key, tt.want), topic.Explicit)
			_, derived := topic.Derived.Find(tt.key)
			require.False(t, derived)
			require.NotEmpty(t, topic.Derived)
		})
	}
}

func TestResourcesAreUpdatedOptionByOption(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "other"})
	update := func(set wire.Options, reset ...string) *wire.UpdateResource {
		return &wire.UpdateResource{Scope: wire.ScopeTopic, Stream: orders, Topic: wire.ID(0), Set: set, Reset: reset}
	}
	c.ok(wire.CmdUpdateResource, update(options("message_expiry", wire.Uint64Value(9))))
	c.ok(wire.CmdUpdateResource, update(options("name", wire.StringValue("renamed"))))
	topic := func() wire.Topic {
		return wiretest.Decode[wire.TopicDetails](t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: wire.Named("renamed")})).Topic
	}
	require.Equal(t, options("message_expiry", wire.Uint64Value(9)), topic().Explicit)
	require.Empty(t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}))

	c.refused(wire.CodeTopicNameAlreadyExists, wire.CmdUpdateResource, update(options("name", wire.StringValue("other"))))
	c.refused(wire.CodeOptionNotUpdatable, wire.CmdUpdateResource, update(options("durability", wire.StringValue("persisted"))))
	c.refused(wire.CodeOptionNotResettable, wire.CmdUpdateResource, update(nil, "durability"))
	c.refused(wire.CodeUnsupportedOptionKey, wire.CmdUpdateResource, update(nil, "colour"))
	c.refused(wire.CodeReadOnlyOption, wire.CmdUpdateResource, update(nil, "critical_keys"))
	c.refused(wire.CodeInvalidOptionValue, wire.CmdUpdateResource, update(options("message_expiry", wire.StringValue("x"))))
	require.Equal(t, options("message_expiry", wire.Uint64Value(9)), topic().Explicit, "what is refused changes nothing")
	c.ok(wire.CmdUpdateResource, update(nil, "message_expiry"))
	require.Empty(t, topic().Explicit)

	stream := func(set wire.Options) *wire.UpdateResource {
		return &wire.UpdateResource{Scope: wire.ScopeStream, Stream: wire.ID(0), Set: set}
	}
	c.ok(wire.CmdUpdateResource, stream(options("name", wire.StringValue("sales"))))
	require.NotEmpty(t, c.ok(wire.CmdGetStream, &wire.GetStream{Stream: wire.Named("sales")}))
	require.Empty(t, c.ok(wire.CmdGetStream, &wire.GetStream{Stream: orders}))
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.refused(wire.CodeStreamNameAlreadyExists, wire.CmdUpdateResource, stream(options("name", wire.StringValue("orders"))))
}

func TestStreamsAreNotEncrypted(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	key := options("encryption_key", wire.RawValue(make([]byte, 32)))
	c.refused(wire.CodeStreamEncryptionUnavailable, wire.CmdCreateStream, &wire.CreateStream{Name: "s", Options: key})
}

func TestPartitionsOfAFixedTopicStay(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	fixed := wire.Named("fixed")
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{
		Stream: orders, Name: "fixed", PartitionsCount: 2, Options: options("partition_resize_policy", wire.StringValue("fixed")),
	})
	c.refused(2023, wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: fixed, Count: 1})
	c.refused(2023, wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: fixed, Count: 1})
}

func TestOptionsAreDescribed(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	for _, scope := range []wire.Scope{wire.ScopeTopic, wire.ScopeStream, wire.ScopeUser} {
		d := wiretest.Decode[wire.OptionDescriptions](t, c.ok(wire.CmdDescribeOptions, &wire.DescribeOptions{Scope: scope}))
		require.NotEmpty(t, d.Options)
		require.Equal(t, "critical_keys", d.Options[len(d.Options)-1].Key)
	}
}

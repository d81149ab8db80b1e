package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/tcp"
	"github.com/runnel-go/runnel/transport/wire"
)

// refusedCalls are calls with an argument that is not allowed, by what their errors say.
func refusedCalls(t *testing.T, c *client.Client) map[string]outcome {
	ctx := t.Context()
	long := strings.Repeat("x", 256)
	topicWith := func(o client.TopicOptions) func() error {
		return func() error { return second(c.CreateTopic(ctx, stream, "t", 1, o)) }
	}
	poll := func(who wire.Consumer, from wire.StrategyKind, read client.Read) func() error {
		return func() error {
			return second(c.Poll(ctx, who, part(1), wire.PollingStrategy{Kind: from}, wire.PartitionContext{}, read))
		}
	}
	fetch := func(targets ...client.Target) func() error {
		return func() error { return second(c.Fetch(ctx, single, stream, topic, targets, client.Read{})) }
	}
	value := wire.CodeInvalidOptionValue
	return map[string]outcome{
		"name of the stream has 0 bytes, not 1 to 255":   {wire.CodeInvalidStreamName, func() error { return second(c.CreateStream(ctx, "", client.StreamOptions{})) }},
		"name of the stream has 256 bytes, not 1 to 255": {wire.CodeInvalidStreamName, func() error { return second(c.CreateStream(ctx, long, client.StreamOptions{})) }},
		"name of the stream is not UTF-8":                {wire.CodeInvalidStreamName, func() error { return second(c.CreateStream(ctx, "\xff", client.StreamOptions{})) }},
		"encryption key has 3 bytes, not 32": {value, func() error {
			return second(c.CreateStream(ctx, "s", client.StreamOptions{EncryptionKey: transport.NewSecret("key")}))
		}},
		"value of name has 0 bytes": {value, func() error {
			return second(c.CreateStream(ctx, "s", client.StreamOptions{Others: wire.Options{{Key: "name"}}}))
		}},
		"nothing to set": {wire.CodeInvalidCommand, func() error { return c.UpdateStream(ctx, stream, client.StreamUpdate{}) }},
		"option name is named twice": {wire.CodeInvalidCommand, func() error {
			return c.UpdateStream(ctx, stream, client.StreamUpdate{Name: "a", Reset: []string{"name"}})
		}},
		"256 options to reset":           {wire.CodeInvalidCommand, func() error { return c.UpdateTopic(ctx, stream, topic, client.TopicUpdate{Reset: make([]string, 256)}) }},
		"name of the topic has 0 bytes":  {wire.CodeInvalidTopicName, func() error { return second(c.CreateTopic(ctx, stream, "", 1, client.TopicOptions{})) }},
		"1001 partitions, not 0 to 1000": {wire.CodeTooManyPartitions, func() error { return second(c.CreateTopic(ctx, stream, "t", 1001, client.TopicOptions{})) }},
		"1001 partitions, not 1 to 1000": {wire.CodeTooManyPartitions, func() error { return c.CreatePartitions(ctx, stream, topic, 1001) }},
		"0 partitions, not 1 to 1000":    {wire.CodeInvalidPartitionsCount, func() error { return c.DeletePartitions(ctx, stream, topic, 0) }},
		"0 segments":                     {4030, func() error { return c.DeleteSegments(ctx, part(0), 0) }},
		"SegmentBytes is 1000":           {value, topicWith(client.TopicOptions{SegmentBytes: 1000})},
		"MaxSizeBytes is 104857600, not at least SegmentBytes, 1073741824 if it is not set": {value, topicWith(client.TopicOptions{MaxSizeBytes: 100 << 20})},
		"MaxSizeBytes is 1, not at least":        {value, topicWith(client.TopicOptions{SegmentBytes: 1 << 20, MaxSizeBytes: 1})},
		`Compression is "zip", not none or gzip`: {value, topicWith(client.TopicOptions{Compression: "zip"})},
		`OffsetDurability is "maybe"`:            {value, topicWith(client.TopicOptions{OffsetDurability: "maybe"})},
		": Durability is \"never\"":              {value, topicWith(client.TopicOptions{Durability: "never"})},
		"ResizePolicy is":                        {value, topicWith(client.TopicOptions{ResizePolicy: "odd"})},
		"MessagesToSave is":                      {value, topicWith(client.TopicOptions{MessagesToSave: 1 << 25})},
		"BytesToSave is":                         {value, topicWith(client.TopicOptions{BytesToSave: 1 << 31})},
		"ReplicationFactor is 33, not 1 to 32":   {value, topicWith(client.TopicOptions{ReplicationFactor: 33})},
		"MessageExpiry is -2ns":                  {value, topicWith(client.TopicOptions{MessageExpiry: -2})},
		"name of the topic has 256 bytes":        {wire.CodeInvalidCommand, func() error { return second(c.GetTopic(ctx, stream, wire.Named(long))) }},
		"name of the group has 256 bytes": {wire.CodeInvalidCommand, func() error {
			return c.DeleteConsumerGroup(ctx, wire.GroupOf{Stream: stream, Topic: topic, Group: wire.Named(long)})
		}},
		"name of the group has 0 bytes":               {wire.CodeInvalidConsumerGroupName, func() error { return second(c.CreateConsumerGroup(ctx, stream, topic, "")) }},
		"username has 2 bytes, not 3 to 50":           {wire.CodeInvalidUsername, func() error { return second(c.CreateUser(ctx, "ab", "secret", wire.UserActive, nil)) }},
		"password has 2 bytes, not 3 to 100":          {wire.CodeInvalidPassword, func() error { return second(c.CreateUser(ctx, "abc", "ab", wire.UserActive, nil)) }},
		"status 0, not 1 or 2":                        {wire.CodeInvalidUserStatus, func() error { return second(c.CreateUser(ctx, "abc", "secret", 0, nil)) }},
		"status 9, not 1 or 2":                        {wire.CodeInvalidUserStatus, func() error { return c.UpdateUser(ctx, wire.ID(1), client.UserUpdate{Status: 9}) }},
		"new password has 101 bytes":                  {wire.CodeInvalidPassword, func() error { return c.ChangePassword(ctx, wire.ID(1), "old", long[:101]) }},
		"name of the token has 31 bytes, not 3 to 30": {wire.CodeInvalidPersonalAccessTokenName, func() error { return c.DeletePersonalAccessToken(ctx, long[:31]) }},
		"expiry is 1ns, not Forever":                  {wire.CodeInvalidPersonalAccessTokenExpiry, func() error { return second(c.CreatePersonalAccessToken(ctx, "abc", time.Nanosecond)) }},
		"scope 4, not 1 to 3":                         {wire.CodeInvalidCommand, func() error { return second(c.DescribeOptions(ctx, 4)) }},
		"compression 7, not 1 to 6":                   {wire.CodeInvalidCommand, func() error { return second(c.GetSnapshot(ctx, 7)) }},
		"the stream has neither a name nor a number":  {wire.CodeInvalidCommand, func() error { return c.DeleteStream(ctx, wire.Named("")) }},
		"the topic has neither a name nor a number":   {wire.CodeInvalidCommand, func() error { return c.DeleteTopic(ctx, stream, wire.Identifier{}) }},
		"the user has neither a name nor a number":    {wire.CodeInvalidCommand, func() error { return c.DeleteUser(ctx, wire.Named("")) }},
		"group: neither a name nor a number":          {wire.CodeInvalidCommand, func() error { return c.JoinConsumerGroup(ctx, wire.GroupOf{Stream: stream, Topic: topic}) }},
		"message.send of stream (none), topic (none), partition 0: InvalidCommand (3): argument": {wire.CodeInvalidCommand, func() error { return third(c.Send(ctx, client.Partition{}, nil, texts(0, 1))) }},
		"consumer_offset.store: InvalidCommand (3): argument":                                    {wire.CodeInvalidCommand, func() error { return c.StoreOffset(ctx, single, client.Partition{}, 1, wire.PartitionContext{}) }},
		"consumer_offset.get: InvalidCommand (3): argument":                                      {wire.CodeInvalidCommand, func() error { return third(c.GetOffset(ctx, single, client.Partition{})) }},
		"consumer: neither a name nor a number": {wire.CodeInvalidCommand, func() error {
			return c.StoreOffset(ctx, wire.Consumer{Kind: wire.ConsumerSingle}, part(1), 1, wire.PartitionContext{})
		}},
		"of stream s, topic t, partition 1: InvalidMessagesCount (4009): argument not allowed: no messages": {wire.CodeInvalidMessagesCount, func() error {
			return third(c.Send(ctx, part(1), nil, nil))
		}},
		"message 1 has a payload of 64000001 bytes": {wire.CodeTooBigMessagePayload, func() error {
			return third(c.Send(ctx, part(1), nil, []wire.Message{{}, {Payload: make([]byte, 64_000_001)}}))
		}},
		"batch length: length not allowed": {wire.CodeInvalidCommand, func() error {
			half := wire.Message{Payload: make([]byte, 33_000_000)}
			return third(c.Send(ctx, part(1), nil, []wire.Message{half, half}))
		}},
		"the consumer has no kind":                  {wire.CodeInvalidCommand, poll(wire.Consumer{}, wire.FromFirst, client.Read{})},
		"the strategy has no kind":                  {wire.CodeInvalidCommand, poll(single, 0, client.Read{})},
		"MaxBytes is 10, not at least 344":          {wire.CodeInvalidCommand, poll(single, wire.FromFirst, client.Read{MaxBytes: 10})},
		"MinCount is 10, not 1 to Count, 5":         {wire.CodeInvalidMessagesCount, poll(single, wire.FromFirst, client.Read{Count: 5, MinCount: 10})},
		"Wait is 1h0m0s, not 0 to 10m0s":            {wire.CodeInvalidCommand, poll(single, wire.FromFirst, client.Read{Wait: time.Hour})},
		"no partitions to fetch from":               {wire.CodeInvalidCommand, fetch()},
		"partition 3: a fetch begins FromOffset or": {wire.CodeInvalidCommand, fetch(client.Target{Partition: 3, Strategy: wire.PollingStrategy{Kind: wire.FromLast}})},
		"part 7, not 1 to 6 or 100":                 {wire.CodeInvalidCommand, func() error { return second(c.GetSnapshot(ctx, 1, 7)) }},
	}
}

func TestArgumentsThatAreNotAllowedAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	c, err := client.New(tcp.NewDialer("127.0.0.1:1")) // not connected: what is sent is another error
	require.NoError(t, err)
	for says, test := range refusedCalls(t, c) {
		err := test.call()
		require.ErrorIs(t, err, client.ErrArgument, says)
		require.ErrorIs(t, err, test.code, says)
		require.ErrorContains(t, err, says)
		require.NotContains(t, fmt.Sprintf("%+v", err), "secret", says)
		require.False(t, client.Retryable(err), says)
	}
}

func TestOptionsThatAreNotKnownAreKeptBesideTheOthers(t *testing.T) {
	t.Parallel()
	text := wire.Option{Key: wire.OptionMaxTopicSize, Value: wire.StringValue("1 GiB")}
	unknown := wire.Option{Key: "color", Value: wire.StringValue("blue")}
	got := client.TopicOptionsOf(wire.Topic{
		Explicit: wire.Options{text, unknown, {Key: wire.OptionMessageExpiry, Value: wire.Uint64Value(1 << 62)}},
		Derived: wire.Options{
			{Key: wire.OptionMessageExpiry, Value: wire.Uint64Value(5)},
			{Key: wire.OptionPreallocate, Value: wire.BoolValue(true)},
		},
	})
	require.Equal(t, client.TopicOptions{
		MessageExpiry: 1<<63 - 1, Preallocate: true, Others: wire.Options{text, unknown},
	}, got)
}

// third is the error of a call that returns two values before it.
func third[A, B any](_ A, _ B, err error) error { return err }

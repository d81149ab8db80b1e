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
		"256 options to reset":                        {wire.CodeInvalidCommand, func() error { return c.UpdateTopic(ctx, stream, topic, client.TopicUpdate{Reset: make([]string, 256)}) }},
		"name of the topic has 0 bytes":               {wire.CodeInvalidTopicName, func() error { return second(c.CreateTopic(ctx, stream, "", 1, client.TopicOptions{})) }},
		"1001 partitions, not 0 to 1000":              {wire.CodeTooManyPartitions, func() error { return second(c.CreateTopic(ctx, stream, "t", 1001, client.TopicOptions{})) }},
		"1001 partitions, not 1 to 1000":              {wire.CodeTooManyPartitions, func() error { return c.CreatePartitions(ctx, stream, topic, 1001) }},
		"0 partitions, not 1 to 1000":                 {wire.CodeInvalidPartitionsCount, func() error { return c.DeletePartitions(ctx, stream, topic, 0) }},
		"0 segments":                                  {4030, func() error { return c.DeleteSegments(ctx, part(0), 0) }},
		"SegmentBytes is 1000":                        {value, topicWith(client.TopicOptions{SegmentBytes: 1000})},
		"MaxSizeBytes is 1, not at least":             {value, topicWith(client.TopicOptions{SegmentBytes: 1 << 20, MaxSizeBytes: 1})},
		`Compression is "zip", not none or gzip`:      {value, topicWith(client.TopicOptions{Compression: "zip"})},
		`OffsetDurability is "maybe"`:                 {value, topicWith(client.TopicOptions{OffsetDurability: "maybe"})},
		": Durability is \"never\"":                   {value, topicWith(client.TopicOptions{Durability: "never"})},
		"ResizePolicy is":                             {value, topicWith(client.TopicOptions{ResizePolicy: "odd"})},
		"MessagesToSave is":                           {value, topicWith(client.TopicOptions{MessagesToSave: 1 << 25})},
		"BytesToSave is":                              {value, topicWith(client.TopicOptions{BytesToSave: 1 << 31})},
		"ReplicationFactor is 33, not 1 to 32":        {value, topicWith(client.TopicOptions{ReplicationFactor: 33})},
		"MessageExpiry is -2ns":                       {value, topicWith(client.TopicOptions{MessageExpiry: -2})},
		"name of the topic has 256 bytes":             {wire.CodeInvalidCommand, func() error { return second(c.GetTopic(ctx, stream, wire.Named(long))) }},
		"name of the group has 256 bytes":             {wire.CodeInvalidCommand, func() error { return c.DeleteConsumerGroup(ctx, wire.GroupOf{Group: wire.Named(long)}) }},
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
		"part 7, not 1 to 6 or 100":                   {wire.CodeInvalidCommand, func() error { return second(c.GetSnapshot(ctx, 1, 7)) }},
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

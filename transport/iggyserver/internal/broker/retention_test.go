package broker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

// small makes the topic "events" with segments of 1 MiB, in place of the one that is there.
func (c *client) small(partitions uint32, key string, value wire.Value) {
	c.t.Helper()
	c.ok(wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: orders, Topic: events})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{
		Stream: orders, Name: "events", PartitionsCount: partitions,
		Options: append(options(key, value), wire.Option{Key: wire.OptionSegmentSize, Value: wire.Uint64Value(1 << 20)}),
	})
}

// first returns the offset of the oldest message of a partition.
func (c *client) first(partition uint32) uint64 {
	c.t.Helper()
	r := wire.NewRecords(c.poll(polling(reader, partition, from(wire.FromFirst, 0), 1)).Records)
	require.True(c.t, r.Next())
	return r.Message().Offset
}

func TestSegmentsWhoseMessagesHaveExpiredAreRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		c.running(t)
		c.small(1, wire.OptionMessageExpiry, wire.StringValue("10 s"))
		big := strings.Repeat("x", 600<<10) // one a segment
		for range 3 {
			c.put(0, big)
			time.Sleep(4 * time.Second)
		}
		require.Equal(t, uint64(1), c.first(0), "after 12 s the first is gone")
		time.Sleep(time.Minute)
		require.Equal(t, uint64(2), c.first(0), "the open segment stays")
		require.Equal(t, uint64(3), c.put(0, "next"))
	})
}

func TestATopicThatIsTooLargeLosesItsOldestSegments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		c.running(t)
		c.small(2, wire.OptionMaxTopicSize, wire.StringValue("2 MiB"))
		big := strings.Repeat("x", 600<<10)
		for _, partition := range []uint32{1, 0, 0, 1} {
			c.put(partition, big)
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, uint64(0), c.first(0))
		require.Equal(t, uint64(1), c.first(1), "this was the oldest")
		topic := wiretest.Decode[wire.TopicDetails](t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events})).Topic
		require.Less(t, topic.SizeBytes, uint64(2<<20))
		require.Equal(t, uint64(3), topic.MessagesCount)
	})
}

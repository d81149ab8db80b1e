package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func offsetOf(who wire.Consumer, partition uint32) *wire.GetConsumerOffset {
	return &wire.GetConsumerOffset{Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(partition)}
}

func storing(who wire.Consumer, partition uint32, offset uint64) *wire.StoreConsumerOffset {
	return &wire.StoreConsumerOffset{
		Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(partition), Offset: offset, Ack: wire.AckQuorum,
	}
}

func deleting(who wire.Consumer, partition uint32) *wire.DeleteConsumerOffset {
	return &wire.DeleteConsumerOffset{
		Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(partition), Ack: wire.AckQuorum,
	}
}

// storedOffset returns the offset of a consumer, which has to be there.
func (c *client) storedOffset(who wire.Consumer, partition uint32) uint64 {
	c.t.Helper()
	code, payload := c.tryAt(c.at(partition), wire.CmdGetConsumerOffset, offsetOf(who, partition))
	require.Zero(c.t, code)
	return wiretest.Decode[wire.ConsumerOffset](c.t, payload).Stored
}

func TestAnOffsetIsThereFromItsStoreToItsDeletion(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a", "b", "c")
	at := c.at(0)
	code, payload := c.tryAt(at, wire.CmdGetConsumerOffset, offsetOf(reader, 0))
	require.Zero(t, code)
	require.Empty(t, payload)
	code, _ = c.tryAt(at, wire.CmdStoreConsumerOffset, storing(reader, 0, 1))
	require.Zero(t, code)
	_, payload = c.tryAt(at, wire.CmdGetConsumerOffset, offsetOf(reader, 0))
	require.Equal(t, wire.ConsumerOffset{Current: 2, Stored: 1}, wiretest.Decode[wire.ConsumerOffset](t, payload))
	require.Equal(t, []string{"c"}, payloads(t, c.poll(polling(reader, 0, from(wire.FromNext, 0), 9)).Records))
	code, _ = c.tryAt(at, wire.CmdDeleteConsumerOffset, deleting(reader, 0))
	require.Zero(t, code)
	_, payload = c.tryAt(at, wire.CmdGetConsumerOffset, offsetOf(reader, 0))
	require.Empty(t, payload)
	code, _ = c.tryAt(at, wire.CmdDeleteConsumerOffset, deleting(reader, 0))
	require.Equal(t, wire.CodeConsumerOffsetNotFound, code)
}

func TestOffsetsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2, func(c *brokerConfig) { c.Limits.Offsets = 1 })
	c.put(0, "a", "b")
	at, stale, owned := c.at(0), c.at(0), c.at(0)
	stale.Incarnation--
	owned.OwnerGeneration = 5
	code, _ := c.tryAt(at, wire.CmdStoreConsumerOffset, storing(reader, 0, 1))
	require.Zero(t, code)
	nowhere := storing(reader, 0, 0)
	nowhere.Partition = wire.OptionalPartition{}
	group := wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("none")}
	tests := map[string]struct {
		at   wire.PartitionContext
		body *wire.StoreConsumerOffset
		want wire.Code
	}{
		"above the newest":             {at, storing(reader, 0, 2), wire.CodeInvalidOffset},
		"of an empty partition":        {c.at(1), storing(reader, 1, 0), wire.CodeInvalidOffset},
		"another life":                 {stale, storing(reader, 0, 0), wire.CodeHistoryUnavailable},
		"no life":                      {wire.PartitionContext{}, storing(reader, 0, 0), wire.CodeHistoryUnavailable},
		"an ownership without a group": {owned, storing(reader, 0, 0), wire.CodeConsumerGroupPartitionNotOwned},
		"no partition":                 {at, storing(reader, 9, 0), wire.CodePartitionNotFound},
		"no partition named":           {at, nowhere, wire.CodeInvalidCommand},
		"no group":                     {at, storing(group, 0, 0), wire.CodeConsumerGroupIDNotFound},
		"one too many":                 {at, storing(wire.Consumer{Kind: wire.ConsumerExternal, ID: wire.Named("reader")}, 0, 0), wire.CodeTooManyConsumerOffsets},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := c.header(wire.CmdStoreConsumerOffset)
			h.Context = tt.at
			got, code, _ := wiretest.Open(t, c.send(c.frame(h, tt.body)))
			require.Equal(t, tt.want, code)
			require.Equal(t, tt.want, got.Status, "nothing is committed")
		})
	}
	require.Equal(t, uint64(1), c.storedOffset(reader, 0))
}

func TestConsumersOfOtherKindsHaveOffsetsOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a", "b", "c")
	external := wire.Consumer{Kind: wire.ConsumerExternal, ID: reader.ID}
	numbered := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(0)}
	for i, who := range []wire.Consumer{reader, external, numbered} {
		code, _ := c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, storing(who, 0, uint64(i)))
		require.Zero(t, code)
	}
	for i, who := range []wire.Consumer{reader, external, numbered} {
		require.Equal(t, uint64(i), c.storedOffset(who, 0))
	}
}

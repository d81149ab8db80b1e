package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// The messages of the vectors.
var (
	hello = wire.Message{ID: wire.Uint128{Lo: 1}, OriginTimestamp: goldenTime, Payload: []byte("hello")}
	world = wire.Message{
		ID: wire.Uint128{Hi: 0x0123456789abcdef, Lo: 0x0011223344556677}, OriginTimestamp: goldenTime + 250,
		Payload: []byte("world!"), UserHeaders: mustHex("02010000006b020100000076"),
	}
	blank = wire.Message{
		ID: wire.Uint128{Hi: 1<<64 - 1, Lo: 1<<64 - 1}, OriginTimestamp: goldenTime + 100, Payload: []byte{},
	}
)

func mustHex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// goldenBatch is a batch of the vectors.
type goldenBatch struct {
	messages     []wire.Message
	producer     *wire.Producer
	stream       wire.Identifier
	topic        wire.Identifier
	partitioning wire.Partitioning
}

func goldenBatches() map[string]goldenBatch {
	orders, events := wire.Named("orders"), wire.Named("events")
	s, topic := wire.ID(1), wire.ID(2)
	one, two := []wire.Message{hello}, []wire.Message{hello, world}
	return map[string]goldenBatch{
		"one_message":    {one, nil, orders, events, wire.ToPartition(0)},
		"three_messages": {[]wire.Message{hello, world, blank}, nil, s, topic, wire.ToPartition(2)},
		"balanced":       {[]wire.Message{world}, nil, s, topic, wire.Partitioning{Kind: wire.PartitionBalanced}},
		"key": {one, nil, s, topic, wire.Partitioning{
			Kind: wire.PartitionByKey, Key: []byte("user-42"),
		}},
		"producer": {
			two, &wire.Producer{ID: 44040193, Epoch: 3, BaseSequence: 7}, orders, events, wire.ToPartition(0),
		},
		"producer_max": {
			one, &wire.Producer{ID: 1<<63 - 1, Epoch: 1<<15 - 1, BaseSequence: 1<<31 - 1}, orders, events, wire.ToPartition(0),
		},
	}
}

func sendRequests() map[string]body {
	bodies := map[string]body{}
	for name, b := range goldenBatches() {
		batch, err := wire.AppendBatch(nil, b.producer, b.messages)
		if err != nil {
			panic(err)
		}
		bodies[name] = bodyOf(wire.SendMessages{
			Stream: b.stream, Topic: b.topic, Partitioning: b.partitioning, MessagesCount: uint32(len(b.messages)), Batch: batch,
		})
	}
	return bodies
}

func batchChecks() map[string]check {
	checks := map[string]check{
		"batch/zero_messages":   zeroMessages,
		"batch/stored_three":    storedBatch([]wire.Message{hello, world, blank}, nil, 40, goldenTime+500000),
		"batch/stored_producer": storedBatch([]wire.Message{hello}, &wire.Producer{ID: 44040193}, 43, goldenTime+600000),
	}
	for name, b := range goldenBatches() {
		checks["batch/"+name] = func(t *testing.T, v vector) {
			encoded, err := wire.AppendBatch([]byte("before"), b.producer, b.messages)
			require.NoError(t, err)
			require.Equal(t, "before"+string(v.bytes), string(encoded))
			h, err := wire.VerifyBatch(v.bytes)
			require.NoError(t, err)
			require.EqualValues(t, v.number(t, "batch_length"), h.Length)
			require.EqualValues(t, v.number(t, "message_count"), h.Count)
			require.EqualValues(t, v.number(t, "origin_timestamp"), h.OriginTimestamp)
			require.Equal(t, wide(t, "0x0000000000000000"+v.Fields["batch_checksum"].(string)[2:]).Lo, h.Checksum)
			sameMessages(t, v, b.messages, 0, 0)
		}
	}
	return checks
}

// sameMessages wants that the bytes of the vector are read as the messages, which are made into the same batch again.
func sameMessages(t *testing.T, v vector, want []wire.Message, offset, timestamp uint64) {
	t.Helper()
	var got []wire.Message
	r := wire.NewRecords(v.bytes)
	for r.Next() {
		require.NoError(t, r.Verify())
		got = append(got, r.Message())
	}
	require.NoError(t, r.Err())
	require.Len(t, got, len(want))
	sums, _ := v.Fields["frame_checksums"].([]any)
	for i := range got {
		if sums != nil {
			require.Equal(t, wide(t, "0x0000000000000000"+sums[i].(string)[2:]).Lo, got[i].Checksum)
		}
		m := want[i]
		m.Offset, m.Timestamp, m.Checksum = offset+uint64(i), timestamp, got[i].Checksum
		require.Equal(t, m, got[i])
	}
}

// storedBatch wants that a server makes of what a client sent the bytes of the vector.
func storedBatch(messages []wire.Message, producer *wire.Producer, offset, timestamp uint64) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		batch, err := wire.AppendBatch(nil, producer, messages)
		require.NoError(t, err)
		require.NoError(t, wire.StampBatch(batch, 2, offset, timestamp))
		require.Equal(t, v.bytes, batch)
		h, err := wire.VerifyBatch(v.bytes)
		require.NoError(t, err)
		require.EqualValues(t, 2, h.PartitionID)
		sameMessages(t, v, messages, offset, timestamp)
	}
}

// zeroMessages is the header of a batch without messages, which can be written but not sent.
func zeroMessages(t *testing.T, v vector) {
	h, err := wire.DecodeBatchHeader(v.bytes)
	require.NoError(t, err)
	require.Zero(t, h.Count)
	require.EqualValues(t, wire.BatchHeaderSize, h.Length)
	require.Equal(t, v.bytes, wire.AppendBatchHeader(nil, h))
	sum, err := wire.BatchChecksum(h, nil)
	require.NoError(t, err)
	require.Equal(t, h.Checksum, sum)
	require.Equal(t, wide(t, "0x0000000000000000"+v.Fields["batch_checksum"].(string)[2:]).Lo, sum)
	_, err = wire.VerifyBatch(v.bytes)
	require.ErrorIs(t, err, wire.ErrLength)
	_, err = wire.AppendBatch(nil, nil, nil)
	require.ErrorIs(t, err, wire.ErrLength)
}

package broker_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestMessagesGetTheNextOffsets(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2)
	require.Equal(t, uint64(0), c.put(0, "a", "b"))
	require.Equal(t, uint64(2), c.put(0, "c"))
	require.Equal(t, uint64(0), c.put(1, "d"))
	got := c.poll(polling(reader, 0, wire.PollingStrategy{Kind: wire.FromFirst}, 10))
	require.Equal(t, []string{"a", "b", "c"}, payloads(t, got.Records))
	first, err := wire.DecodeBatchHeader(got.Records)
	require.NoError(t, err)
	stored := got.Records[:first.Length]
	_, err = wire.VerifyBatch(stored)
	require.NoError(t, err, "the checksum is that of the stored batch")
	second, err := wire.DecodeBatchHeader(got.Records[first.Length:])
	require.NoError(t, err)
	require.Equal(t, uint64(2), second.BaseOffset)
	require.NotZero(t, second.BaseTimestamp)
	require.GreaterOrEqual(t, second.BaseTimestamp, first.BaseTimestamp)
	require.Equal(t, uint64(1000), second.OriginTimestamp)
}

// steppingClock tells times that a test sets.
type steppingClock struct{ now time.Time }

func (c *steppingClock) Now() time.Time { return c.now }

func (c *steppingClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func TestTheTimesOfMessagesDoNotGoBackWithTheClock(t *testing.T) {
	t.Parallel()
	clock := &steppingClock{now: time.UnixMicro(5_000_000)}
	c := withTopic(t, 1, func(c *brokerConfig) { c.Clock = clock })
	c.put(0, "a")
	clock.now = time.UnixMicro(4_000_000)
	c.put(0, "b")
	require.Equal(t, uint32(2), c.poll(polling(reader, 0, from(wire.FromTimestamp, 5_000_000), 9)).Count)
}

func TestTheSendersFrameIsNotKept(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	h := c.header(wire.CmdSendMessages)
	h.Context = c.at(0)
	frame := c.frame(h, sending(0, 1, batch(t, nil, "a")))
	sent := append([]byte(nil), frame...)
	c.send(frame)
	require.Equal(t, sent, frame, "nor changed")
	clear(frame)
	require.Equal(t, []string{"a"}, payloads(t, c.poll(polling(reader, 0, from(wire.FromFirst, 0), 1)).Records))
}

// damaged is a batch of two messages, changed behind its checksums.
func damaged(t *testing.T, change func(b []byte)) []byte {
	b := batch(t, nil, "a", "b")
	change(b)
	return b
}

func TestABatchThatIsNotRightIsRefused(t *testing.T) {
	t.Parallel()
	const frames = wire.BatchHeaderSize
	tests := map[string]struct {
		batch []byte
		count uint32
		want  wire.Code
	}{
		"nothing":       {nil, 0, wire.CodeInvalidMessagePayloadLength},
		"another count": {batch(t, nil, "a", "b"), 3, wire.CodeInvalidMessagesCount},
		"no messages": {
			wire.AppendBatchHeader(nil, wire.BatchHeader{Length: frames}), 0, wire.CodeInvalidMessagesCount,
		},
		"bytes left over":       {append(batch(t, nil, "a"), 0), 1, wire.CodeInvalidMessagePayloadLength},
		"reserved bytes":        {damaged(t, func(b []byte) { b[100] = 1 }), 2, wire.CodeInvalidReservedField},
		"reserved of a message": {damaged(t, func(b []byte) { b[frames+40] = 1 }), 2, wire.CodeInvalidReservedField},
		"payload":               {damaged(t, func(b []byte) { b[frames+48] = 'x' }), 2, wire.CodeInvalidMessageChecksum},
		"order":                 {damaged(t, func(b []byte) { b[frames+24] = 5 }), 2, wire.CodeInvalidCommand},
		"payload length":        {damaged(t, func(b []byte) { b[frames+36] = 255 }), 2, wire.CodeInvalidMessagePayloadLength},
		"checksum of the batch": {
			damaged(t, func(b []byte) { binary.LittleEndian.PutUint64(b[40:], 1) }), 2, wire.CodeInvalidBatchChecksum,
		},
		"an offset already": {
			damaged(t, func(b []byte) { require.NoError(t, wire.StampBatch(b, 0, 7, 0)) }), 2, 4031,
		},
		"a time already": {
			damaged(t, func(b []byte) { require.NoError(t, wire.StampBatch(b, 0, 0, 7)) }), 2, 4032,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := withTopic(t, 1)
			code, _ := c.tryAt(c.at(0), wire.CmdSendMessages, sending(0, tt.count, tt.batch))
			require.Equal(t, tt.want, code)
			require.Zero(t, c.put(0, "next"), "nothing was stored")
		})
	}
}

func TestASendWithoutAPartitionGoesWhereTheServerChooses(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 3)
	to := func(p wire.Partitioning) uint32 {
		s := sending(0, 1, batch(t, nil, "a"))
		s.Partitioning = p
		sent := wiretest.Decode[wire.SentMessages](t, c.ok(wire.CmdSendMessages, s))
		return sent.Confirmations[0].PartitionID
	}
	for i := range uint32(4) {
		require.Equal(t, i%3, to(wire.Partitioning{Kind: wire.PartitionBalanced}))
	}
	key := []byte("user-42")
	require.Equal(t, wire.PartitionOfKey(key, 3), to(wire.Partitioning{Kind: wire.PartitionByKey, Key: key}))

	s := sending(0, 1, batch(t, &wire.Producer{ID: 1}, "a"))
	s.Partitioning = wire.Partitioning{Kind: wire.PartitionBalanced}
	c.refused(wire.CodeProducerPartitionRequired, wire.CmdSendMessages, s)
	c.ok(wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 3})
	s.Batch = batch(t, nil, "a")
	c.refused(wire.CodePartitionNotFound, wire.CmdSendMessages, s)
}

func TestMessagesBeyondTheMemoryOfTheBrokerAreRefused(t *testing.T) {
	t.Parallel()
	size := int64(len(batch(t, nil, "a")))
	c := withTopic(t, 1, func(c *brokerConfig) { c.Limits.LogBytes = 2 * size })
	c.put(0, "a")
	c.put(0, "b")
	code, _ := c.tryAt(c.at(0), wire.CmdSendMessages, sending(0, 1, batch(t, nil, "c")))
	require.Equal(t, wire.CodeTopicFull, code)
	c.ok(wire.CmdDeleteSegments, &wire.DeleteSegments{Stream: orders, Topic: events, Count: 1})
	require.Equal(t, uint64(2), c.put(0, "c"), "what was deleted makes room")
	c.ok(wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: orders, Topic: events})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 1})
	c.put(0, "a")
	c.put(0, "b")
}

func TestAnIdempotentProducerStoresEachBatchOnce(t *testing.T) {
	t.Parallel()
	const last = 1<<31 - 1
	type step struct {
		id       uint64
		epoch    uint16
		sequence uint32
		count    int
		code     wire.Code
		offset   uint64
	}
	tests := map[string][]step{
		"in order":                      {{1, 0, 0, 2, 0, 0}, {1, 0, 2, 1, 0, 2}},
		"a repeat":                      {{1, 0, 0, 2, 0, 0}, {1, 0, 2, 1, 0, 2}, {1, 0, 0, 2, 0, 0}, {1, 0, 2, 1, 0, 2}, {1, 0, 3, 1, 0, 3}},
		"a gap":                         {{1, 0, 0, 1, 0, 0}, {1, 0, 2, 1, wire.CodeProducerSequenceOutOfOrder, 0}, {1, 0, 1, 1, 0, 1}},
		"unknown":                       {{1, 0, 5, 1, wire.CodeProducerUnknown, 0}},
		"unknown, in a later epoch":     {{1, 3, 0, 1, 0, 0}, {1, 3, 1, 1, 0, 1}},
		"an older epoch":                {{1, 1, 0, 1, 0, 0}, {1, 0, 0, 1, wire.CodeProducerEpochFenced, 0}},
		"a newer epoch":                 {{1, 0, 0, 1, 0, 0}, {1, 1, 0, 1, 0, 1}, {1, 1, 1, 1, 0, 2}},
		"a newer epoch in the middle":   {{1, 0, 0, 1, 0, 0}, {1, 1, 1, 1, wire.CodeProducerSequenceOutOfOrder, 0}},
		"two producers":                 {{1, 0, 0, 1, 0, 0}, {2, 0, 0, 1, 0, 1}, {1, 0, 1, 1, 0, 2}},
		"the same messages cut anew":    {{1, 0, 0, 2, 0, 0}, {1, 0, 0, 1, wire.CodeRequestAlreadyApplied, 0}},
		"the one that is forgotten":     {{1, 0, 0, 1, 0, 0}, {2, 0, 0, 1, 0, 1}, {3, 0, 0, 1, 0, 2}, {1, 0, 1, 1, wire.CodeProducerUnknown, 0}, {2, 0, 1, 1, 0, 3}},
		"sequences do not begin at end": {{1, 0, last, 1, wire.CodeProducerUnknown, 0}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := withTopic(t, 1, func(c *brokerConfig) { c.Limits.Producers = 2 })
			for i, s := range steps {
				producer := &wire.Producer{ID: s.id, Epoch: s.epoch, BaseSequence: s.sequence}
				b := batch(t, producer, make([]string, s.count)...)
				code, payload := c.tryAt(c.at(0), wire.CmdSendMessages, sending(0, uint32(s.count), b))
				require.Equal(t, s.code, code, "step %d", i)
				if code == 0 {
					require.Equal(t, s.offset, wiretest.Decode[wire.SentMessages](t, payload).Confirmations[0].BaseOffset, "step %d", i)
				}
			}
		})
	}
}

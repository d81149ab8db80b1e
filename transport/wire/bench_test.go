package wire_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

const (
	benchMessages = 1000
	benchPayload  = 100 // bytes
)

// manyMessages are messages as the benchmarks encode them.
func manyMessages(n int) []wire.Message {
	messages := make([]wire.Message, n)
	for i := range messages {
		messages[i] = wire.Message{
			ID: wire.Uint128{Hi: 1, Lo: uint64(i)}, OriginTimestamp: goldenTime + uint64(i),
			Payload: bytes.Repeat([]byte{byte(i)}, benchPayload),
		}
	}
	return messages
}

func encodedBatch(t testing.TB, n int) []byte {
	t.Helper()
	batch, err := wire.AppendBatch(nil, nil, manyMessages(n))
	require.NoError(t, err)
	return batch
}

// readAll returns the bytes of all payloads.
func readAll(b []byte) (total int, err error) {
	r := wire.NewRecords(b)
	for r.Next() {
		m := r.Message()
		total += len(m.Payload)
	}
	return total, r.Err()
}

// The two below say the same about ten messages as about a thousand: nothing is allocated for a batch, and so nothing for
// a message.

func TestEncodingABatchAllocatesNothing(t *testing.T) {
	for _, n := range []int{10, benchMessages} {
		messages, room := manyMessages(n), make([]byte, 0, 1<<20)
		producer := &wire.Producer{ID: 1}
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if _, err := wire.AppendBatch(room, producer, messages); err != nil {
				panic(err)
			}
		}))
	}
}

func TestDecodingABatchAllocatesNothing(t *testing.T) {
	for _, n := range []int{10, benchMessages} {
		batch := encodedBatch(t, n)
		twice := append(bytes.Clone(batch), batch...)
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if total, err := readAll(twice); err != nil || total != 2*n*benchPayload {
				panic("wrong messages")
			}
		}))
		room := make([]byte, 0, len(batch))
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if _, err := wire.VerifyBatch(batch); err != nil {
				panic(err)
			}
			if err := wire.StampBatch(batch, 1, 2, 3); err != nil {
				panic(err)
			}
			if _, _, err := wire.AppendSlice(room, batch, 5, 100); err != nil {
				panic(err)
			}
		}))
	}
}

func TestDecodingUserHeadersAllocatesNothing(t *testing.T) {
	block, err := wire.AppendUserHeaders(nil, []wire.UserHeader{
		{Key: wire.StringValue("a"), Value: wire.StringValue("b")}, {Key: wire.StringValue("c"), Value: wire.Int64Value(-1)},
	})
	require.NoError(t, err)
	room := make([]wire.UserHeader, 0, 2)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if headers, err := wire.DecodeUserHeaders(room, block); err != nil || len(headers) != 2 {
			panic("wrong headers")
		}
	}))
}

func BenchmarkAppendBatch(b *testing.B) {
	messages, room := manyMessages(benchMessages), make([]byte, 0, 1<<20)
	b.SetBytes(benchMessages * benchPayload)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.AppendBatch(room, nil, messages); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadBatch(b *testing.B) {
	batch := encodedBatch(b, benchMessages)
	b.SetBytes(benchMessages * benchPayload)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readAll(batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStoreBatch is what a server does with a batch before it keeps it.
func BenchmarkStoreBatch(b *testing.B) {
	batch := encodedBatch(b, benchMessages)
	b.SetBytes(benchMessages * benchPayload)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.VerifyBatch(batch); err != nil {
			b.Fatal(err)
		}
		if err := wire.StampBatch(batch, 1, 2, 3); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPollRequest(b *testing.B) {
	poll := wire.PollMessagesDeferred{
		PollMessages: wire.PollMessages{
			Consumer: wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("workers")}, Stream: wire.ID(1), Topic: wire.ID(2),
			Partition: wire.Partition(3), Strategy: wire.PollingStrategy{Kind: wire.FromNext}, Count: 1000,
		},
		MinCount: 1, MaxBytes: 1 << 20, TimeoutMicros: 1,
	}
	h, room := wire.NewRequest(wire.CmdPollMessagesDeferred), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.AppendRequest(room, h, &poll); err != nil {
			b.Fatal(err)
		}
	}
}

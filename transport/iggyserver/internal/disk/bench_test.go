package disk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// thousand is a batch of 1000 messages of 100 bytes.
func thousand(b *testing.B) []byte {
	b.Helper()
	messages := make([]wire.Message, 1000)
	for i := range messages {
		messages[i] = wire.Message{ID: wire.Uint128{Lo: 1}, Payload: []byte(strings.Repeat("x", 100))}
	}
	batch, err := wire.AppendBatch(nil, nil, messages)
	require.NoError(b, err)
	return batch
}

// BenchmarkAppend stores batches as the broker does; memory is the log without a store.
func BenchmarkAppend(b *testing.B) {
	for name, l := range logsToCompare(b) {
		b.Run(name, func(b *testing.B) {
			batch := thousand(b)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			for b.Loop() {
				span := l.Span()
				if span.Bytes > 256<<20 {
					require.NoError(b, l.DropSegments(1))
				}
				stored := append([]byte(nil), batch...)
				if wire.StampBatch(stored, 0, span.Next, 1) != nil || l.Append(stored) != nil {
					b.Fatal("append")
				}
			}
		})
	}
}

// BenchmarkRead reads ten batches at a time.
func BenchmarkRead(b *testing.B) {
	for name, l := range logsToCompare(b) {
		batch := thousand(b)
		for range 100 {
			stored := append([]byte(nil), batch...)
			require.NoError(b, wire.StampBatch(stored, 0, l.Span().Next, 1))
			require.NoError(b, l.Append(stored))
		}
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 10*len(batch))
			b.SetBytes(int64(cap(dst)))
			b.ReportAllocs()
			from := uint64(0)
			for b.Loop() {
				_, n, err := l.Read(dst, from, broker.ReadLimit{Count: 10_000, Bytes: cap(dst)})
				if err != nil || n != 10_000 {
					b.Fatal(n, err)
				}
				from = (from + 10_000) % 100_000
			}
		})
	}
}

// logsToCompare are an empty log on disk and one in memory.
func logsToCompare(b *testing.B) map[string]broker.Log {
	b.Helper()
	w := start(b, b.TempDir(), 64<<20, quiet())
	b.Cleanup(func() { w.stop(b) })
	return map[string]broker.Log{"disk": w.log, "memory": broker.NewMemoryLog(64 << 20)}
}

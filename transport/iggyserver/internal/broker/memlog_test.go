package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

// logOf makes a log with batches of so many messages, one at each second.
func logOf(t testing.TB, segmentBytes uint64, counts ...int) *memLog {
	t.Helper()
	l := newMemLog(segmentBytes)
	for i, n := range counts {
		require.NoError(t, l.Append(wiretest.Stored(t, l.next, uint64(i+1)*1e6, n)))
	}
	return l
}

// offsets reads the offsets of messages, whose payloads have to say the same.
func offsets(t testing.TB, l Log, from uint64, limit ReadLimit) []uint64 {
	t.Helper()
	records, count, err := l.Read(nil, from, limit)
	require.NoError(t, err)
	var got []uint64
	r := wire.NewRecords(records)
	for r.Next() {
		require.Equal(t, fmt.Sprintf("%010d", r.Message().Offset), string(r.Message().Payload))
		got = append(got, r.Message().Offset)
	}
	require.NoError(t, r.Err())
	require.Len(t, got, int(count))
	return got
}

func since(t testing.TB, l Log, micros uint64) uint64 {
	t.Helper()
	offset, err := l.Since(micros)
	require.NoError(t, err)
	return offset
}

var everything = ReadLimit{Count: 1 << 30, Bytes: 1 << 30}

func TestALogReadsWhatWasAppended(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	l := logOf(t, 1000)
	for range 100 {
		require.NoError(t, l.Append(wiretest.Stored(t, l.next, 1, 1+random.IntN(9))))
	}
	for range 300 {
		from, count := uint64(random.IntN(int(l.next)+3)), 1+random.IntN(40)
		var want []uint64
		for o := from; o < l.next && len(want) < count; o++ {
			want = append(want, o)
		}
		require.Equal(t, want, offsets(t, l, from, ReadLimit{Count: uint32(count), Bytes: 1 << 30}))
		records, _, err := l.Read(nil, from, ReadLimit{Count: 1 << 30, Bytes: 900})
		require.NoError(t, err)
		require.LessOrEqual(t, len(records), 900)
	}
	before := []byte("before")
	records, count, err := l.Read(before, l.next-1, everything)
	require.NoError(t, err)
	require.Equal(t, uint32(1), count)
	require.Equal(t, before, records[:6])
}

func TestALogIsCutIntoSegments(t *testing.T) {
	t.Parallel()
	one := uint64(len(wiretest.Stored(t, 0, 0, 1)))
	l := logOf(t, 2*one, 1, 1, 1, 1, 1)
	require.Equal(t, Span{First: 0, Next: 5, Bytes: 5 * one, Segments: 3, OldestUntil: 2e6, Latest: 5e6}, l.Span())
	require.Equal(t, 3*one, l.After(2))
	require.Zero(t, l.After(5))

	require.NoError(t, l.DropSegments(1))
	require.Equal(t, Span{First: 2, Next: 5, Bytes: 3 * one, Segments: 2, OldestUntil: 4e6, Latest: 5e6}, l.Span())
	require.Equal(t, []uint64{2, 3, 4}, offsets(t, l, 0, everything))
	require.NoError(t, l.DropSegments(9))
	require.Equal(t, Span{First: 5, Next: 5, Segments: 1}, l.Span())
	require.Empty(t, offsets(t, l, 0, everything))
	require.NoError(t, l.Append(wiretest.Stored(t, 5, 0, 1)))
	require.Equal(t, []uint64{5}, offsets(t, l, 0, everything))
}

func TestALogFindsTheFirstMessageSinceATime(t *testing.T) {
	t.Parallel()
	l := logOf(t, 1<<20, 2, 3, 1)
	for at, want := range map[uint64]uint64{0: 0, 1e6: 0, 1e6 + 1: 2, 2e6: 2, 3e6: 5, 3e6 + 1: 6} {
		require.Equal(t, want, since(t, l, at), at)
	}
}

func TestALogThatIsTruncatedGoesOnFromThere(t *testing.T) {
	t.Parallel()
	for next := range uint64(9) {
		l := logOf(t, 600, 2, 3, 1)
		reading := l.from(0)
		require.NoError(t, l.Truncate(next))
		var want []uint64
		for o := range min(next, 6) {
			want = append(want, o)
		}
		require.Equal(t, want, offsets(t, l, 0, everything), next)
		span := l.Span()
		require.Equal(t, min(next, 6), span.Next)
		require.Equal(t, l.After(0), span.Bytes)
		require.NoError(t, l.Append(wiretest.Stored(t, span.Next, 9e6, 1)))
		require.Equal(t, span.Next, since(t, l, 9e6))
		require.Equal(t, uint64(5), reading[2].base, "a read goes on with what it has")
	}
}

func TestALogRefusesABatchThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	l := logOf(t, 1000, 2)
	require.ErrorContains(t, l.Append(wiretest.Stored(t, 3, 0, 1)), "begins at offset 3, the log goes on at 2")
	require.ErrorContains(t, l.Append(nil), "append: batch header")
	require.NoError(t, l.Close())
	require.Empty(t, offsets(t, l, 0, everything))
	require.Equal(t, Span{First: 2, Next: 2, Segments: 1}, l.Span())
}

func BenchmarkRead(b *testing.B) {
	l := logOf(b, 1<<20, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
	dst := make([]byte, 0, l.Span().Bytes)
	b.SetBytes(int64(cap(dst)))
	b.ReportAllocs()
	for b.Loop() {
		if _, count, err := l.Read(dst, 0, everything); err != nil || count != 1000 {
			b.Fatal(count, err)
		}
	}
}

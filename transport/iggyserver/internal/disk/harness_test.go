package disk

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// quiet are options that log nothing.
func quiet() Options { return Options{Logger: slog.New(slog.DiscardHandler)} }

// world is a store with one log.
type world struct {
	*Store
	log broker.Log
}

// spec is the partition of the log.
func spec(segmentBytes uint64) broker.LogSpec {
	return broker.LogSpec{Stream: 1, Topic: 2, Incarnation: 77, SegmentBytes: segmentBytes}
}

func start(t testing.TB, dir string, segmentBytes uint64, options Options) *world {
	t.Helper()
	w, err := tryStart(dir, segmentBytes, options)
	require.NoError(t, err)
	return w
}

func tryStart(dir string, segmentBytes uint64, options Options) (*world, error) {
	s, err := Open(dir, options)
	if err != nil {
		return nil, err
	}
	l, err := s.OpenLog(spec(segmentBytes))
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &world{s, l}, nil
}

func (w *world) stop(t testing.TB) {
	t.Helper()
	require.NoError(t, w.log.Close())
	require.NoError(t, w.Close())
}

// put appends a batch of so many messages.
func (w *world) put(t testing.TB, time uint64, count int) {
	t.Helper()
	require.NoError(t, w.log.Append(wiretest.Stored(t, w.log.Span().Next, time, count)))
}

var everything = broker.ReadLimit{Count: 1 << 30, Bytes: 1 << 30}

// offsets reads the offsets of messages, whose payloads have to say the same.
func (w *world) offsets(t testing.TB, from uint64, limit broker.ReadLimit) []uint64 {
	t.Helper()
	records, count, err := w.log.Read(nil, from, limit)
	require.NoError(t, err)
	var got []uint64
	r := wire.NewRecords(records)
	for r.Next() {
		require.NoError(t, r.Verify())
		require.Equal(t, fmt.Sprintf("%010d", r.Message().Offset), string(r.Message().Payload))
		got = append(got, r.Message().Offset)
	}
	require.NoError(t, r.Err())
	require.Len(t, got, int(count))
	return got
}

// count are the numbers from one to before another.
func count(from, to uint64) (all []uint64) {
	for ; from < to; from++ {
		all = append(all, from)
	}
	return all
}

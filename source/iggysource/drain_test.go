package iggysource

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/transport/wire"
)

// piped runs a test with a fake and a reader of it as a pipeline has one, in a bubble where time is the test's.
func piped(t *testing.T, partitions []uint32, opts []Option, test func(t *testing.T, f *fake, r runnel.Reader[string])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(partitions...)
		c := newConsumer(f, "reader", stream, topic, opts)
		r, err := Decode(c, payloadOf).Open(t.Context(), runnel.SourceEnv{Name: "in"}, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close(context.Background())) }()
		test(t, f, r)
	})
}

// fetchOf returns the next fetch.
func fetchOf(t *testing.T, r runnel.Reader[string]) runnel.Fetch[string] {
	t.Helper()
	fetch, err := r.Read(t.Context())
	require.NoError(t, err)
	return fetch
}

func TestAPartitionThatIsTakenAwayIsDrained(t *testing.T) {
	t.Parallel()
	piped(t, []uint32{0, 1}, []Option{Group(), Count(5)}, func(t *testing.T, f *fake, r runnel.Reader[string]) {
		f.add(0, 0, 10)
		first := fetchOf(t, r)
		require.Equal(t, texts(0, 0, 5), first.Values())
		synctest.Wait() // the next ones are read ahead
		f.set(func() { f.assigned = []uint32{1} })
		time.Sleep(syncInterval + time.Millisecond)
		f.add(0, 10, 12)

		second := fetchOf(t, r)
		require.Equal(t, texts(0, 5, 10), second.Values(), "what was read before is handed on")
		drain := fetchOf(t, r)
		require.Zero(t, drain.Len())
		require.Empty(t, drain.Position)
		require.NotNil(t, drain.Drain)
		require.NoError(t, r.Commit(t.Context(), second.Position), "it is the reader's until then")
		require.Equal(t, 9, f.storedAt(0))
		drain.Drain(nil)
		gone := fetchOf(t, r)
		require.Equal(t, checkpoint.Position{"0": nil}, gone.Position)
		require.ErrorIs(t, r.Commit(t.Context(), first.Position), runnel.ErrNotOwned)

		f.add(1, 0, 1)
		require.Equal(t, texts(1, 0, 1), fetchOf(t, r).Values(), "nothing more comes of it")
		f.set(func() { f.assigned = []uint32{0, 1} })
		back := fetchOf(t, r)
		require.Equal(t, texts(0, 10, 12), back.Values(), "it goes on behind the stored offset")
	})
}

func TestADrainThatTakesTooLongIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	opts := []Option{Group(), Count(5), RebalanceTimeout(10 * time.Second)}
	piped(t, []uint32{0}, opts, func(t *testing.T, f *fake, r runnel.Reader[string]) {
		f.add(0, 0, 5)
		first := fetchOf(t, r)
		f.set(func() { f.assigned = nil })
		time.Sleep(syncInterval + time.Millisecond)
		drain := fetchOf(t, r)
		require.NotNil(t, drain.Drain)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Equal(t, checkpoint.Position{"0": nil}, fetchOf(t, r).Position)
		require.ErrorIs(t, r.Commit(t.Context(), first.Position), runnel.ErrNotOwned)
		drain.Drain(errors.New("too late")) // changes nothing
		require.Equal(t, -1, f.storedAt(0))
	})
}

func TestAMemberThatWasThrownOutDropsWhatItHasRead(t *testing.T) {
	t.Parallel()
	piped(t, []uint32{0}, []Option{Group(), Count(5)}, func(t *testing.T, f *fake, r runnel.Reader[string]) {
		f.add(0, 0, 10)
		first := fetchOf(t, r)
		synctest.Wait()
		out := true
		f.set(func() {
			f.owner++
			f.onSync = func() error {
				defer func() { out = false }()
				if out {
					return coded(wire.CodeConsumerGroupMemberNotFound)
				}
				return nil
			}
		})
		time.Sleep(syncInterval + time.Millisecond)
		synctest.Wait()
		require.Equal(t, checkpoint.Position{"0": nil}, fetchOf(t, r).Position)
		require.ErrorIs(t, r.Commit(t.Context(), first.Position), runnel.ErrNotOwned)
		require.Equal(t, texts(0, 0, 5), fetchOf(t, r).Values(), "it is read again under the new ownership")
	})
}

func TestAMessageThatCannotBeReadIsAFailedRecordAndReadingGoesOnBehindIt(t *testing.T) {
	t.Parallel()
	piped(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, f *fake, r runnel.Reader[string]) {
		f.records = func(_ uint32, records []byte) []byte {
			walk := wire.NewRecords(records)
			for at := wire.BatchHeaderSize; walk.Next(); at += wire.MessageHeaderSize + len(walk.Message().Payload) {
				if walk.Message().Offset == 2 {
					spoilt := slices.Clone(records)
					spoilt[at+39] = 0xff // length of the payload
					return spoilt
				}
			}
			return records
		}
		f.add(0, 0, 6)
		first := fetchOf(t, r)
		require.Equal(t, texts(0, 0, 2), first.Values())
		require.Len(t, first.Failed, 1)
		require.ErrorIs(t, first.Failed[0].Err, ErrUndecodable)
		require.EqualValues(t, 2, first.Failed[0].Origin.Offset)
		next, _, err := decodeToken(first.Position["0"])
		require.NoError(t, err)
		require.EqualValues(t, 3, next)
		require.Equal(t, texts(0, 3, 6), fetchOf(t, r).Values())
	})
}

func TestReadsAreGroupedByThePrimaryOfTheirPartitions(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0, 1, 2, 3, 4), Start(FromFirst())}
	alone(t, []uint32{0, 1, 2, 3, 4}, opts, func(t *testing.T, f *fake, c *Consumer) {
		require.NoError(t, c.Shutdown(t.Context()))
		f.set(func() { f.primary, f.reads = map[uint32]uint8{1: 7, 3: 7}, [][]uint32{} })
		require.NoError(t, c.Init(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		f.set(func() {
			slices.SortFunc(f.reads, slices.Compare)
			require.Equal(t, [][]uint32{{0, 2, 4}, {1, 3}}, f.reads, "both wait at the same time")
		})
	})
}

func TestAReadThatStoresOffsetsIsMadeOnlyWhileSomebodyAsks(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0), CommitOnRead(), Count(5)}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 5)
		take(t, c, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute) // the read under way ends
		f.add(0, 5, 20)
		synctest.Wait()
		require.Equal(t, 4, f.storedAt(0))
		require.Equal(t, texts(0, 5, 6), take(t, c, 1))
		require.Equal(t, 9, f.storedAt(0))
	})
}

func TestAnOffsetThatAReadHasStoredGoesBackWhenThePartitionIsTakenAway(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group(), CommitOnRead(), Count(5)}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 20)
		take(t, c, 2)
		require.Equal(t, 4, f.storedAt(0))
		f.set(func() { f.assigned = nil })
		time.Sleep(syncInterval + time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1, f.storedAt(0))
	})
}

func FuzzTokens(f *testing.F) {
	f.Add(encodeToken(5, wire.PartitionContext{Incarnation: 1, OwnerGeneration: 300}))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, token []byte) {
		next, under, err := decodeToken(token)
		if err != nil {
			return
		}
		again, same, err := decodeToken(encodeToken(next, under))
		require.NoError(t, err)
		require.Equal(t, next, again)
		require.Equal(t, under, same)
	})
}

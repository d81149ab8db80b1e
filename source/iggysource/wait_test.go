package iggysource

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestAMessageComesAtOnceWhicheverPartitionItIsIn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		messages int
		primary  map[uint32]uint8
		most     time.Duration
	}{
		"one read at a time": {10, nil, 0}, "two": {20, nil, 0}, "four": {40, nil, 0}, "sixteen": {160, nil, 0},
		"two, of two primaries":                {20, map[uint32]uint8{3: 1, 4: 1, 9: 1}, longestPause},
		"sixteen, of three primaries":          {160, map[uint32]uint8{3: 1, 4: 1, 9: 2}, 0},
		"one read at a time, of two primaries": {10, map[uint32]uint8{3: 1, 4: 1, 9: 1}, 10 * longestPause}, // a turn for each partition
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			opts := []Option{Partitions(all...), Count(10), PrefetchMessages(tt.messages), Start(FromFirst())}
			alone(t, all, opts, func(t *testing.T, f *fake, c *Consumer) {
				require.NoError(t, c.Shutdown(t.Context()))
				f.set(func() { f.primary = tt.primary })
				require.NoError(t, c.Init(t.Context()))
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				random := rand.New(rand.NewPCG(seed, 0))
				next := map[uint32]int{}
				for range 200 {
					got := make(chan Message)
					go func() {
						m, err := c.Next(t.Context())
						assert.NoError(t, err)
						got <- m
					}()
					synctest.Wait()
					time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
					p, begin := uint32(random.IntN(len(all))), time.Now()
					f.add(p, next[p], next[p]+1)
					m := <-got
					require.Equal(t, string(text(p, next[p])), string(m.Payload))
					require.LessOrEqual(t, time.Since(begin), tt.most, "partition %d", p)
					next[p]++
				}
			})
		})
	}
}

func TestOverHTTPEachPartitionIsLookedAtWithinTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		f := newFake(all...)
		f.sessionless = true
		c := newConsumer(f, "reader", stream, topic, []Option{Partitions(all...), Count(10), PrefetchMessages(30)})
		require.NoError(t, c.Init(t.Context()))
		defer func() { _ = c.Shutdown(context.Background()) }()
		for p := range uint32(10) {
			begin := time.Now()
			f.add(p, 0, 1)
			require.Equal(t, texts(p, 0, 1), take(t, c, 1))
			require.LessOrEqual(t, time.Since(begin), DefaultWait)
		}
	})
}

func TestAMemberThatIsRefusedAPartitionItHasStopsItInTheEnd(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group()}, func(t *testing.T, f *fake, c *Consumer) {
		refused := true
		f.set(func() {
			f.onRead = func(uint32) error {
				if refused {
					return coded(wire.CodeConsumerGroupPartitionNotOwned)
				}
				return nil
			}
		})
		begin := time.Now()
		_, err := c.Next(t.Context())
		require.ErrorIs(t, readError(t, err), wire.CodeConsumerGroupPartitionNotOwned)
		require.Greater(t, time.Since(begin), 30*time.Second)
		f.set(func() { refused = false })
		f.add(0, 0, 2)
		require.NoError(t, c.Seek(t.Context(), 0, FromNext()))
		require.Equal(t, texts(0, 0, 2), take(t, c, 2))
	})
}

func TestShutdownWaitsForTheLastOffsetsOnlySoLong(t *testing.T) {
	t.Parallel()
	opts := []Option{Group(), CommitAutomatically(DefaultAutoCommit()), OffsetDrainTimeout(3 * time.Second)}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 5)
		take(t, c, 5)
		f.set(func() { f.stuck = true })
		begin := time.Now()
		require.Error(t, c.Shutdown(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(begin))
		require.Equal(t, 1, f.count("leave"))
		require.NoError(t, c.Shutdown(t.Context()), "it is over")
	})
}

func TestStatsTellWhatThereIsToDo(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0, 1}, []Option{Group(), Count(10), Start(FromFirst())}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 30)
		take(t, c, 5)
		synctest.Wait()
		s := c.Stats()
		require.EqualValues(t, 30, s.Read)
		require.EqualValues(t, 25, s.Lag)
		require.Equal(t, 20, s.Buffered)
		require.Equal(t, 2, s.Partitions)
		require.EqualValues(t, 2, s.Rebalanced)
		f.set(func() { f.assigned = []uint32{0} })
		time.Sleep(syncInterval + time.Millisecond)
		s = c.Stats()
		require.Equal(t, 1, s.Partitions)
		require.EqualValues(t, 3, s.Rebalanced)
		require.NoError(t, c.Shutdown(t.Context()))
		require.Zero(t, c.Stats())
	})
}

func TestAnEmptyPartitionIsWaitedForWhereverReadingBegins(t *testing.T) {
	t.Parallel()
	soon := FromTime(time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC)) // the time of the bubble begins then
	for name, start := range map[string]wire.PollingStrategy{
		"next": FromNext(), "first": FromFirst(), "last": FromLast(), "offset": FromOffset(0), "time": soon,
	} {
		for slots, messages := range map[string]int{"one": 10, "two": 20, "sixteen": 160} {
			t.Run(name+" with slots: "+slots, func(t *testing.T) {
				t.Parallel()
				opts := []Option{Partitions(0, 1, 2), Start(start), Count(10), PrefetchMessages(messages)}
				alone(t, []uint32{0, 1, 2}, opts, func(t *testing.T, f *fake, c *Consumer) {
					f.set(func() { f.reads = [][]uint32{} })
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					_, err := c.Next(ctx)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					f.set(func() { require.Less(t, len(f.reads), 200) })
					for p := range uint32(3) {
						begin := time.Now()
						f.add(p, 0, 1)
						require.Equal(t, texts(p, 0, 1), take(t, c, 1))
						require.LessOrEqual(t, time.Since(begin), 2*longestPause)
					}
				})
			})
		}
	}
}

package iggysource

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestWhatAReadUnderWayBringsOfAPartitionThatIsTakenAwayIsHandedOut(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group(), Count(5)}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 5)
		take(t, c, 4)
		synctest.Wait() // the next read waits
		release := make(chan struct{})
		f.set(func() {
			f.onRead = func(uint32) error { <-release; return nil }
		})
		f.add(0, 5, 10)
		f.set(func() { f.assigned = nil })
		time.Sleep(syncInterval + time.Millisecond)
		require.Empty(t, c.Partitions())
		close(release)
		require.Equal(t, texts(0, 4, 10), take(t, c, 6), "the server counts it as read, and waits for its offset")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, c.Stats().Partitions)
	})
}

func TestAPartitionThatIsNotHandledInTimeIsGivenBackAndMayComeAgain(t *testing.T) {
	t.Parallel()
	opts := []Option{Group(), Count(5), RebalanceTimeout(10 * time.Second), AllowReplay()}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 20)
		at := nextOf(t, c).Checkpoint()
		synctest.Wait() // the rest is read ahead
		f.set(func() { f.assigned = nil })
		time.Sleep(9*time.Second + syncInterval)
		synctest.Wait()
		require.Zero(t, c.Stats().Partitions)
		f.set(func() { f.assigned, f.owner = []uint32{0}, 2 })
		time.Sleep(syncInterval)
		require.Equal(t, texts(0, 0, 20), take(t, c, 20), "nobody has committed")
		require.EqualValues(t, 19, c.Stats().Dropped)
		require.ErrorIs(t, c.Commit(t.Context(), at), wire.CodeConsumerGroupPartitionNotOwned)
		require.NoError(t, c.Seek(t.Context(), 0, FromOffset(10)), "it is read as any other")
		require.Equal(t, texts(0, 10, 12), take(t, c, 2))
	})
}

func TestAConsumerWhoseInitFailedHasLeftTheGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(0)
		f.onSync = func() error { return coded(wire.CodeUnauthorized) }
		c := newConsumer(f, "reader", stream, topic, []Option{Group()})
		require.ErrorIs(t, c.Init(t.Context()), wire.CodeUnauthorized)
		require.Equal(t, 1, f.count("leave"))
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, ErrNotReady)
		f.onJoin = func() error { return coded(wire.CodeUnauthorized) }
		require.ErrorIs(t, c.Init(t.Context()), wire.CodeUnauthorized)
		require.Equal(t, 1, f.count("leave"), "what was not joined is not left")
	})
}

package iggysource

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// nextOf returns the next message.
func nextOf(t testing.TB, c *Consumer) Message {
	t.Helper()
	m, err := c.Next(t.Context())
	require.NoError(t, err)
	return m
}

func TestACommitCoversWhatIsBeforeItOverEveryTransport(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol) {
		w := serve(t, 1)
		w.send(0, 0, 10)
		c := w.consumer(protocol, Partitions(0))
		take(t, c, 3)
		at := nextOf(t, c).Checkpoint()
		take(t, c, 2)
		require.Equal(t, -1, w.stored(wire.ConsumerSingle, 0))
		require.NoError(t, c.Commit(t.Context(), at))
		require.Equal(t, 3, w.stored(wire.ConsumerSingle, 0))
		last, found := c.LastStored(0)
		require.True(t, found)
		require.EqualValues(t, 3, last)
		last, found = c.LastConsumed(0)
		require.True(t, found)
		require.EqualValues(t, 5, last)
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, 3, w.stored(wire.ConsumerSingle, 0), "shutdown stores nothing by itself")

		again := w.consumer(protocol, Partitions(0))
		require.Equal(t, texts(0, 4, 10), take(t, again, 6))
	})
}

func TestCommitsAndMarksRunBesideReading(t *testing.T) {
	t.Parallel()
	w := serve(t, 2)
	w.send(0, 0, 1000)
	w.send(1, 0, 1000)
	c := w.consumer(dial.TCP, Partitions(0, 1), Count(50), Start(FromFirst()))
	done := make(chan Checkpoint, 2000)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for at := range done {
				if at.Offset()%97 == 0 || at.Offset() == 999 {
					assert.NoError(t, c.Commit(t.Context(), at))
				}
				_, _, err := c.GetOffset(t.Context(), at.Partition())
				assert.NoError(t, err)
			}
		})
	}
	for i := range 2000 {
		m := nextOf(t, c)
		if i%10 == 0 || m.Offset == 999 {
			done <- m.Checkpoint()
		}
	}
	close(done)
	workers.Wait()
	require.Equal(t, 999, w.stored(wire.ConsumerSingle, 0))
	require.Equal(t, 999, w.stored(wire.ConsumerSingle, 1), "an older checkpoint does not go back")
}

func TestACheckpointThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 2)
	one, other := w.consumer(dial.TCP, Partitions(0)), w.consumer(dial.TCP, Partitions(0))
	at := nextOf(t, one).Checkpoint()
	require.ErrorIs(t, other.Commit(t.Context(), at), wire.CodeInvalidCommand, "of another consumer")
	require.ErrorIs(t, one.Commit(t.Context(), Checkpoint{}), wire.CodeInvalidCommand, "of none")
	require.ErrorIs(t, one.Mark(at), wire.CodeInvalidCommand, "it does not commit by marks")
	onRead := w.consumer(dial.TCP, Partitions(0), CommitOnRead())
	require.ErrorIs(t, onRead.Commit(t.Context(), nextOf(t, onRead).Checkpoint()), wire.CodeInvalidCommand)
}

func TestRawOffsetsAreStoredAsTheyAre(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol) {
		w := serve(t, 1)
		w.send(0, 0, 10)
		c := w.consumer(protocol, Partitions(0))
		_, found, err := c.GetOffset(t.Context(), 0)
		require.NoError(t, err)
		require.False(t, found)
		take(t, c, 4)
		require.NoError(t, c.StoreOffset(t.Context(), 0, 8))
		require.NoError(t, c.StoreOffset(t.Context(), 0, 2), "also backwards")
		got, found, err := c.GetOffset(t.Context(), 0)
		require.NoError(t, err)
		require.True(t, found)
		require.EqualValues(t, 2, got.Stored)
		require.EqualValues(t, 9, got.Current)
		require.Equal(t, texts(0, 4, 6), take(t, c, 2), "reading goes on where it was")
		require.NoError(t, c.DeleteOffset(t.Context(), 0))
		require.Equal(t, -1, w.stored(wire.ConsumerSingle, 0))
		require.ErrorIs(t, c.DeleteOffset(t.Context(), 0), wire.CodeConsumerOffsetNotFound)
	})
}

func TestAStaleCheckpointIsRefusedByHistoryAndByOwnership(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 10)
	alone := w.consumer(dial.TCP, Partitions(0))
	at := nextOf(t, alone).Checkpoint()
	require.NoError(t, w.server.Faults().Renew(stream, topic, 0))
	require.ErrorIs(t, alone.Commit(t.Context(), at), wire.CodeHistoryUnavailable)
	require.Equal(t, -1, w.stored(wire.ConsumerSingle, 0))
	require.NoError(t, alone.Shutdown(t.Context()))

	member := w.consumer(dial.TCP, Group())
	at = nextOf(t, member).Checkpoint()
	require.NotZero(t, at.Context().OwnerGeneration)
	require.NoError(t, member.Commit(t.Context(), at))
	at = nextOf(t, member).Checkpoint()
	require.NoError(t, w.server.Faults().Regenerate(stream, topic, wire.Named("reader")))
	require.ErrorIs(t, member.Commit(t.Context(), at), wire.CodeConsumerGroupPartitionNotOwned)
	require.Equal(t, 0, w.stored(wire.ConsumerGroup, 0))
	require.EqualValues(t, 1, member.Stats().Refused)
}

func TestCommitOnReadStoresWithEachReadAndShutdownGoesBackToWhatWasHandedOut(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol) {
		w := serve(t, 2)
		w.send(0, 0, 100)
		c := w.consumer(protocol, Partitions(0), CommitOnRead(), Count(20))
		require.Equal(t, texts(0, 0, 5), take(t, c, 5))
		require.Equal(t, 19, w.stored(wire.ConsumerSingle, 0), "the whole read")
		require.EqualValues(t, 20, c.Stats().Read, "nothing is read ahead")
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, 4, w.stored(wire.ConsumerSingle, 0))

		again := w.consumer(protocol, Partitions(0), CommitOnRead(), Count(20))
		require.Equal(t, texts(0, 5, 10), take(t, again, 5))
		require.NoError(t, again.Seek(t.Context(), 0, FromOffset(50)))
		require.Equal(t, 49, w.stored(wire.ConsumerSingle, 0))
		require.Equal(t, texts(0, 50, 52), take(t, again, 2))
		require.NoError(t, again.StoreOffset(t.Context(), 0, 79))
		require.Equal(t, texts(0, 80, 81), take(t, again, 1), "reading goes on behind it")
		require.NoError(t, again.Shutdown(t.Context()))
	})
}

func TestCommitOnReadAndEncryptionDoNotGoTogether(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	sealed := w.client(dial.TCP, client.Encrypt(make([]byte, wire.KeySize)))
	c := NewConsumer(sealed, "reader", stream, topic, Partitions(0), CommitOnRead())
	require.ErrorIs(t, c.Init(t.Context()), wire.CodeInvalidConfiguration)
}

func TestAReadThatStoresAndHasNoReplyIsGivenUpAndDoneAgain(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 40)
	c := w.consumer(dial.TCP, Partitions(0), CommitOnRead(), Count(20), Start(FromFirst()))
	require.Equal(t, texts(0, 0, 20), take(t, c, 20))
	dropped := w.server.Faults().CloseAfter(wire.CmdFetchMessages, 1)
	require.Equal(t, texts(0, 20, 40), take(t, c, 20), "the reader knows how to go on")
	<-dropped
}

func TestAnUncertainOperationOfOthersStopsAPartitionUntilItIsAbandoned(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 5)
	shared := w.client(dial.TCP)
	dropped := w.server.Faults().CloseAfter(wire.CmdPollMessagesDeferred, 1)
	_, err := shared.Poll(t.Context(), wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("other")}, part(0), FromFirst(),
		wire.PartitionContext{}, client.Read{AutoCommit: true})
	<-dropped
	require.ErrorIs(t, err, wire.CodeFetchProgressUncertain)
	operation := errorOf(t, err).Operation

	c := NewConsumer(shared, "reader", stream, topic, Partitions(0))
	require.NoError(t, c.Init(t.Context()))
	defer func() { require.NoError(t, c.Shutdown(context.Background())) }()
	_, err = c.Next(t.Context())
	e := readError(t, err)
	require.Equal(t, wire.Partition(0), e.Partition)
	require.ErrorIs(t, e, wire.CodePartitionLaneBlocked)
	require.Equal(t, operation, errorOf(t, e).Operation)
	require.NoError(t, c.AbandonOperation(operation))
	require.NoError(t, c.Seek(t.Context(), 0, FromNext()))
	require.Equal(t, texts(0, 0, 5), take(t, c, 5))
}

func TestSeekGoesAnywhere(t *testing.T) {
	t.Parallel()
	clock := newTickingClock()
	w := serve(t, 2, iggyserver.WithClock(clock))
	w.send(0, 0, 50)
	late := clock.advance()
	w.send(0, 50, 60)
	c := w.consumer(dial.TCP, Partitions(0), Count(7))
	require.Equal(t, texts(0, 0, 10), take(t, c, 10))
	require.NoError(t, c.StoreOffset(t.Context(), 0, 29))
	for name, tt := range map[string]struct {
		to   wire.PollingStrategy
		want int
	}{
		"to an offset":              {FromOffset(40), 40},
		"to the first message":      {FromFirst(), 0},
		"to the last ones":          {FromLast(), 53},
		"behind the stored offset":  {FromNext(), 30},
		"to a time":                 {FromTime(late), 50},
		"to an offset, once more":   {FromOffset(0), 0},
		"to where it would have be": {FromOffset(10), 10},
	} {
		require.NoError(t, c.Seek(t.Context(), 0, tt.to), name)
		require.Equal(t, texts(0, tt.want, tt.want+3), take(t, c, 3), name)
	}
	require.NotZero(t, c.Stats().Dropped)
	require.ErrorIs(t, c.Seek(t.Context(), 1, FromFirst()), wire.CodeInvalidCommand, "it is not read")
	require.ErrorIs(t, c.Seek(t.Context(), 0, wire.PollingStrategy{Kind: 9}), wire.CodeInvalidCommand)
}

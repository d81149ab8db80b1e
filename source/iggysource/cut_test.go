package iggysource

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestAPartitionThatHasLostMessagesStopsUntilASeek(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{"group": {Group()}, "listed": {Partitions(0)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 1)
			w.send(0, 0, 10)
			c := w.consumer(dial.TCP, append(opts, Wait(20*time.Millisecond))...)
			for range 9 {
				take(t, c, 1)
			}
			require.NoError(t, c.Commit(t.Context(), nextOf(t, c).Checkpoint()))
			require.NoError(t, w.server.Faults().Truncate(stream, topic, 0, 5))
			w.send(0, 50, 52) // they get the offsets 5 and 6
			_, err := c.Next(t.Context())
			e := readError(t, err)
			require.ErrorIs(t, e, ErrTruncated)
			require.ErrorIs(t, e, wire.CodeHistoryUnavailable)
			require.NoError(t, c.Shutdown(t.Context()))

			again := w.consumer(dial.TCP, append(opts, Wait(20*time.Millisecond))...)
			_, err = again.Next(t.Context())
			require.ErrorIs(t, err, ErrTruncated, "the stored offset lies behind the end, too")
			require.NoError(t, again.Seek(t.Context(), 0, FromOffset(5)))
			require.Equal(t, texts(0, 50, 52), take(t, again, 2))
		})
	}
}

func TestAPlaceBehindTheEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 5)
	c := w.consumer(dial.TCP, Partitions(0), Wait(10*time.Millisecond))
	take(t, c, 5)
	require.NoError(t, c.Seek(t.Context(), 0, FromOffset(8)))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	w.send(0, 5, 10)
	require.Equal(t, texts(0, 8, 10), take(t, c, 2))
}

func TestAPositionBehindTheEndIsNotReadOn(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 10)
	src, _ := w.source(Partitions(0), Wait(10*time.Millisecond), UntilNow())
	_, end, _ := readAll(t, src, nil)
	require.NoError(t, w.server.Faults().Truncate(stream, topic, 0, 5))
	endless, _ := w.source(Partitions(0), Wait(10*time.Millisecond))
	r, err := endless.Open(t.Context(), runnel.SourceEnv{}, checkpoint.Position{"0": end["0"]})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	_, err = r.Read(t.Context())
	require.ErrorIs(t, err, ErrTruncated)
}

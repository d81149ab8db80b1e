package iggysource

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestAConsumerReadsItsPartitionsInOrderOverEveryTransport(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol) {
		w := serve(t, 3)
		for p := range uint32(3) {
			w.send(p, 0, 700)
		}
		c := w.consumer(protocol, Partitions(0, 2), Count(100), Start(FromFirst()))
		got := map[uint32][]string{}
		for range 1400 {
			m, err := c.Next(t.Context())
			require.NoError(t, err)
			got[m.Partition] = append(got[m.Partition], string(m.Payload))
		}
		require.Equal(t, map[uint32][]string{0: texts(0, 0, 700), 2: texts(2, 0, 700)}, got)
		w.send(2, 700, 701) // while it waits
		require.Equal(t, texts(2, 700, 701), take(t, c, 1))
		require.NoError(t, c.Shutdown(t.Context()))
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestAMessageHasWhatItsSenderGaveIt(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	sent, err := client.NewMessage([]byte("one"), client.Header("k", wire.Uint64Value(7)))
	require.NoError(t, err)
	sent.ID, sent.OriginTimestamp = wire.Uint128{Lo: 5}, 1_700_000_000_000_000
	_, _, err = w.sender.Send(t.Context(), part(0), nil, []wire.Message{sent, {Payload: []byte("two"), OriginTimestamp: sent.OriginTimestamp}})
	require.NoError(t, err)
	c := w.consumer(dial.TCP, Partitions(0))
	m, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one", string(m.Payload))
	require.Equal(t, wire.Uint128{Lo: 5}, m.ID)
	require.True(t, m.OriginTime().Equal(time.UnixMicro(1_700_000_000_000_000)))
	require.False(t, m.Time().IsZero())
	headers, err := m.Headers()
	require.NoError(t, err)
	require.Equal(t, []wire.UserHeader{client.Header("k", wire.Uint64Value(7))}, headers)
	require.Zero(t, m.Checkpoint().Partition())
	require.NotZero(t, m.Checkpoint().Context().Incarnation)

	second, err := c.Next(t.Context())
	require.NoError(t, err)
	none, err := second.Headers()
	require.NoError(t, err)
	require.Empty(t, none)
	require.EqualValues(t, 1, second.Checkpoint().Offset())
	require.Equal(t, "one", string(m.Payload), "a message stays valid")
}

func TestTheEndOfAContextEndsAWaitAndReadingCanGoOn(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	c := w.consumer(dial.TCP, Partitions(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	w.send(0, 0, 3)
	require.Equal(t, texts(0, 0, 3), take(t, c, 3))
}

func TestMessagesEndsWithItsContextAndWithTheConsumer(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 5)
	c := w.consumer(dial.TCP, Partitions(0))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	var last error
	for m, err := range c.Messages(ctx) {
		if last = err; err == nil {
			got = append(got, string(m.Payload))
		}
		if len(got) == 5 {
			cancel()
		}
	}
	require.Equal(t, texts(0, 0, 5), got)
	require.ErrorIs(t, last, context.Canceled)
	require.NoError(t, c.Shutdown(t.Context()))
	for m, err := range c.Messages(t.Context()) {
		t.Fatal("a consumer that is shut down yields nothing", m, err)
	}
}

func TestACallIsRefusedBeforeInitAndInitMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	c := NewConsumer(w.client(dial.TCP), "reader", stream, topic, Partitions(0))
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, ErrNotReady)
	require.ErrorIs(t, c.Seek(t.Context(), 0, FromFirst()), ErrNotReady)
	require.NoError(t, c.Shutdown(t.Context()), "there is nothing to shut down")
	require.NoError(t, c.Init(t.Context()))
	require.NoError(t, c.Init(t.Context()))
	require.NoError(t, c.Shutdown(t.Context()))
	require.NoError(t, c.Shutdown(t.Context()))
	require.ErrorIs(t, c.Mark(Checkpoint{}), ErrClosed)
	require.NoError(t, c.Init(t.Context()), "it can be used again")
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestInitSaysWhatIsNotThere(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol) {
		w := serve(t, 1)
		one := w.client(protocol)
		for name, c := range map[string]*Consumer{
			"stream":    NewConsumer(one, "reader", wire.Named("none"), topic, Partitions(0)),
			"topic":     NewConsumer(one, "reader", stream, wire.Named("none"), Partitions(0)),
			"partition": NewConsumer(one, "reader", stream, topic, Partitions(7)),
		} {
			err := c.Init(t.Context())
			require.True(t, client.NotFound(errorOf(t, err)), "%s: %v", name, err)
		}
	})
}

// errorOf returns the error of the client that err wraps.
func errorOf(t *testing.T, err error) *client.Error {
	t.Helper()
	var e *client.Error
	require.ErrorAs(t, err, &e)
	return e
}

package iggysink_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// overAll runs a test over each protocol, with a client that is not connected.
func overAll(t *testing.T, test func(t *testing.T, protocol dial.Protocol, c *client.Client), options ...client.Option) {
	t.Helper()
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, protocol, clientOf(t, start(t), protocol, options...))
		})
	}
}

func numbered(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all
}

func TestSendsAreStoredOverEveryTransport(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol, c *client.Client) {
		p := producerOf(t, c, iggysink.Partitions(2), iggysink.Direct(iggysink.BatchLength(100)))
		at, err := p.SendWithPartitioning(t.Context(), messages(numbered(0, 250)...), iggysink.ToPartition(1))
		require.NoError(t, err)
		for i, c := range at {
			require.EqualValues(t, 1, c.PartitionID)
			require.EqualValues(t, 100*i, c.BaseOffset)
		}
		require.Equal(t, numbered(0, 250), texts(t, c, 1))
		key := []byte("a key")
		_, err = p.SendWithPartitioning(t.Context(), messages("keyed"), iggysink.ByKey(key))
		require.NoError(t, err)
		require.Contains(t, texts(t, c, wire.PartitionOfKey(key, 2)), "keyed")
		before := len(texts(t, c, 0)) + len(texts(t, c, 1))
		for _, text := range numbered(0, 6) {
			_, err = p.SendOne(t.Context(), messages(text)[0])
			require.NoError(t, err)
		}
		require.Len(t, append(texts(t, c, 0), texts(t, c, 1)...), before+6)
		require.EqualValues(t, 257, p.Stats().Confirmed)
	})
}

func TestTheBackgroundStoresEverythingInOrderOverEveryTransport(t *testing.T) {
	overAll(t, func(t *testing.T, _ dial.Protocol, c *client.Client) {
		p := producerOf(t, c, iggysink.PartitionBy(iggysink.ToPartition(0)), iggysink.Background(iggysink.BatchLength(300)))
		want := numbered(0, 5000)
		for _, text := range want {
			_, err := p.SendOne(t.Context(), messages(text)[0])
			require.NoError(t, err)
		}
		require.NoError(t, p.Shutdown(t.Context()))
		require.Equal(t, want, texts(t, c, 0))
	})
}

func TestManyGoroutinesMaySendInTheBackground(t *testing.T) {
	t.Parallel()
	c := clientOf(t, start(t), dial.TCP)
	p := producerOf(t, c, iggysink.Idempotent(), iggysink.Background(
		iggysink.Shards(3), iggysink.BalancedShards(), iggysink.MaxInFlight(3), iggysink.BatchLength(7), iggysink.MaxBufferBytes(5000)))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				_, err := p.Send(context.Background(), messages(numbered(1000*g+2*i, 1000*g+2*i+2)...))
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.NoError(t, p.Shutdown(t.Context()))
	seen := map[string]bool{}
	for _, text := range texts(t, c, 0) {
		require.False(t, seen[text], text)
		seen[text] = true
	}
	require.Len(t, seen, 3200)
	require.Zero(t, p.Stats().BufferedBytes)
}

func TestMessagesAreEncryptedByTheClient(t *testing.T) {
	overAll(t, func(t *testing.T, protocol dial.Protocol, c *client.Client) {
		p := producerOf(t, c, iggysink.Background())
		m, err := client.NewMessage([]byte("secret"), client.Header("n", wire.Uint64Value(7)))
		require.NoError(t, err)
		_, err = p.SendOne(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, p.Shutdown(t.Context()))
		got := read(t, c, wire.Named("s"), 0)
		require.Len(t, got, 1)
		require.Equal(t, "secret", string(got[0].Payload))
		headers, err := client.Headers(got[0])
		require.NoError(t, err)
		require.Len(t, headers, 1)
	}, client.Encrypt(make([]byte, 32)))
}

func TestStreamAndTopicAreMadeByWhoComesFirst(t *testing.T) {
	overAll(t, func(t *testing.T, _ dial.Protocol, c *client.Client) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"), iggysink.Partitions(3),
					iggysink.TopicDurability(client.Persisted))
				require.NoError(t, p.Init(t.Context()))
				require.NoError(t, p.Init(t.Context()))
			})
		}
		all.Wait()
		topic, err := c.GetTopic(t.Context(), wire.Named("s"), wire.Named("t"))
		require.NoError(t, err)
		require.EqualValues(t, 3, topic.Topic.PartitionsCount)
		require.Equal(t, client.Persisted, client.TopicOptionsOf(topic.Topic).Durability)
		numbered := iggysink.NewProducer(c, wire.ID(77), wire.Named("t"))
		require.True(t, client.NotFound(numbered.Init(t.Context())))
		kept := iggysink.NewProducer(c, wire.Named("s"), wire.Named("u"), iggysink.KeepTopic())
		require.True(t, client.NotFound(kept.Init(t.Context())))
	})
}

func TestAnIdempotentProducerOverHTTPIsRefused(t *testing.T) {
	t.Parallel()
	c := clientOf(t, start(t), dial.HTTP)
	p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"), iggysink.Idempotent())
	require.ErrorIs(t, p.Init(t.Context()), wire.CodeFeatureUnavailable)
	require.Equal(t, client.Disconnected, c.State())
}

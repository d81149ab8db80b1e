package broker_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestReadsWaitForRoomUntilRepliesAreSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1, func(c *broker.Config) { c.Limits.UnsentBytes = 100 }) // less than a batch: one reply
		c.put(0, "a")
		at := c.at(0)
		read := func(ctx context.Context) ([]byte, func()) {
			h := c.header(wire.CmdPollMessages)
			h.Context = at
			reply, closing, sent := c.link.HandleUnsent(ctx, c.frame(h, polling(reader, 0, wire.PollingStrategy{Kind: wire.FromOffset}, 1)))
			require.Equal(t, reply == nil, closing)
			return reply, sent
		}
		reply, sent := read(t.Context())
		require.NotNil(t, reply)

		gone, cancel := context.WithCancel(t.Context())
		done := make(chan []byte, 1)
		go func() { reply, sent := read(gone); sent(); done <- reply }()
		synctest.Wait()
		c.put(0, "b")
		require.Empty(t, done)
		cancel()
		require.Nil(t, <-done, "nobody waits for it")

		go func() { reply, sent := read(t.Context()); sent(); done <- reply }()
		synctest.Wait()
		require.Empty(t, done)
		sent()
		require.NotNil(t, <-done)
		reply, sent = read(t.Context())
		sent()
		require.NotNil(t, reply)
	})
}

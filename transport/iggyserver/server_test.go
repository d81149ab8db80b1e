package iggyserver_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestClientLogsInCreatesSendsAndPolls(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c := login(t, start(t), protocol)
		c.createTopic()
		c.put("a", "b")
		require.Equal(t, []string{"a", "b"}, c.all())
		waiting := c.begin(c.waitFrame(2))
		c.put("c")
		r := <-waiting
		require.NoError(t, r.err)
		_, _, payload := wiretest.Open(t, r.reply)
		require.Equal(t, []string{"c"}, payloads(t, wiretest.Decode[wire.PolledMessages](t, payload).Records))
	})
}

func TestRequestThatIsRepeatedOverANewConnectionIsNotDoneTwice(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c := login(t, start(t), protocol)
		c.createTopic()
		send := c.sendFrame("once")
		first, err := c.do(send)
		require.NoError(t, err)
		require.NoError(t, c.conn.Close())
		c.dial()
		reply, err := c.do(c.bindFrame())
		require.NoError(t, err)
		c.enter(reply)
		again, err := c.do(send)
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Equal(t, []string{"once"}, c.all())
	})
}

func TestWaitIsCancelledByTheClient(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c := login(t, start(t), protocol)
		c.createTopic()
		wait := c.waitFrame(0)
		waiting := c.begin(wait)
		h, _, err := wire.DecodeRequest(wait)
		require.NoError(t, err)
		require.NoError(t, c.conn.Post(t.Context(), c.frame(wire.NewCancel(&h), nil)))
		r := <-waiting
		require.NoError(t, r.err)
		_, code, _ := wiretest.Open(t, r.reply)
		require.Zero(t, code)
	})
}

func TestRequestGivenUpLeavesTheOthers(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c := login(t, start(t), protocol)
		c.createTopic()
		ctx, cancel := context.WithCancel(t.Context())
		wait := c.waitFrame(0)
		done := make(chan error, 1)
		go func() {
			_, err := c.conn.Do(ctx, wait)
			done <- err
		}()
		c.all()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		c.put("a")
		require.Equal(t, []string{"a"}, c.all())
		require.NoError(t, c.conn.Err())
	})
}

func TestWrongPasswordIsAnEviction(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		c := connect(t, start(t), protocol)
		_, err := c.do(c.loginFrame("wrong"))
		require.Error(t, err)
		require.Equal(t, wire.EvictInvalidCredentials, c.evicted())
	})
}

func TestCloseEndsRequestsThatWait(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		server := start(t)
		c := login(t, server, protocol)
		c.createTopic()
		waiting := c.begin(c.waitFrame(0))
		c.all()
		require.NoError(t, server.Close())
		require.ErrorIs(t, (<-waiting).err, transport.ErrLost)
	})
}

func TestCloseEndsClientsThatAreBusy(t *testing.T) {
	t.Parallel()
	server := start(t)
	login(t, server, dial.TCP).createTopic()
	var clients sync.WaitGroup
	busy := make(chan struct{}, 30)
	for i := range cap(busy) {
		c := login(t, server, protocols[i%len(protocols)])
		send, wait := c.sendFrame("a"), c.waitFrame(1<<40)
		waiting := c.begin(wait)
		clients.Go(func() {
			_, err := c.do(send)
			busy <- struct{}{}
			for err == nil {
				_, err = c.do(send) // the same one: it is answered all the same
			}
			<-waiting
		})
	}
	for range cap(busy) {
		<-busy
	}
	require.NoError(t, server.Close())
	clients.Wait()
}

func TestServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := iggyserver.Start(ctx, iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	c := login(t, server, dial.TCP)
	cancel()
	require.NoError(t, server.Wait())
	<-c.conn.Done()
}

func TestServerIsClosedTwiceAndAtOnce(t *testing.T) {
	t.Parallel()
	for range 3 {
		server := start(t)
		for _, p := range protocols {
			login(t, server, p)
		}
		var closing sync.WaitGroup
		for range 4 {
			closing.Go(func() { _ = server.Close() })
		}
		closing.Wait()
		require.NoError(t, server.Close())
	}
}

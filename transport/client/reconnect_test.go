package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestPausesBeforeAttemptsDouble(t *testing.T) {
	var mu sync.Mutex
	var limits []time.Duration
	jitter := client.Jitter(func(limit time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		limits = append(limits, limit)
		return limit
	})
	connected(t, func(t *testing.T, f *fake, _ *client.Client) {
		f.set(func() { f.down = true })
		f.cut()
		time.Sleep(time.Minute)
		f.set(func() { f.down = false })
		time.Sleep(20 * time.Second)
		mu.Lock()
		require.Equal(t, []time.Duration{
			time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second,
		}, limits[:6])
		limits = nil
		mu.Unlock()
		f.cut()
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []time.Duration{time.Second}, limits, "the link lived long enough")
	}, jitter)
}

func TestLinksThatDieAtOnceAreDialledEverLater(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, _ *client.Client) {
		for range 20 {
			f.next(wire.CmdBindSession, func(c *fakeConn, r *asked) (transport.Frame, error) {
				defer c.end(transport.ErrLost)
				return usual(c, r)
			})
		}
		f.cut()
		time.Sleep(time.Minute)
		require.Less(t, len(f.of(wire.CmdBindSession)), 12)
	}, client.Jitter(func(limit time.Duration) time.Duration { return limit }))
}

func TestAttemptsAreCounted(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.set(func() { f.down, f.dials = true, 0 })
		f.cut()
		time.Sleep(time.Hour)
		f.set(func() { require.Equal(t, 3, f.dials) })
		require.Equal(t, client.Disconnected, c.State())
		start := time.Now()
		err := c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeNotConnected)
		require.ErrorIs(t, err, wire.CodeCannotEstablishConnection, "the cause")
		require.Zero(t, time.Since(start))
		f.set(func() { f.down = false })
		require.NoError(t, c.Connect(t.Context()))
		require.Len(t, f.of(wire.CmdBindSession), 1, "the session goes on")
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	}, client.Reconnect(3, time.Second, time.Second))
}

func TestWithoutReconnectingALostLinkStaysDown(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.cut()
		time.Sleep(time.Hour)
		require.Equal(t, client.Disconnected, c.State())
		f.set(func() { f.down, f.dials = true, 0 })
		require.ErrorIs(t, c.Connect(t.Context()), wire.CodeCannotEstablishConnection)
		f.set(func() { require.Equal(t, 1, f.dials, "one pass"); f.down = false })
	}, client.Reconnect(0, time.Second, time.Second))
}

func TestCallWaitsForTheLinkInItsOwnTime(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.set(func() { f.down = true })
		f.cut()
		start := time.Now()
		err := c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeNotConnected)
		require.True(t, client.Retryable(err))
		require.Equal(t, 30*time.Second, time.Since(start))
		err = c.MakeStream(within(t, time.Second), "s")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errDown, "why there is no link")
		f.set(func() { f.down = false })
	})
}

func TestHalfOpenLinkIsFoundByTheHeartbeat(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdPing, deaf)
		f.next(wire.CmdCreateStream, silent)
		start := time.Now()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.InDelta(t, 10*time.Second, time.Since(start), float64(2*time.Second))
		require.Equal(t, 1, f.happened())
		require.Len(t, f.of(wire.CmdBindSession), 1)
	})
}

func TestHeartbeatsComeEveryFiveSeconds(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, _ *client.Client) {
		time.Sleep(time.Minute + time.Second)
		require.Len(t, f.of(wire.CmdPing), 12)
	})
}

func TestConnectWaitsForTheServerAsLongAsItMay(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.set(func() { f.down = true })
		err := c.Connect(within(t, time.Minute))
		require.ErrorIs(t, err, wire.CodeCannotEstablishConnection)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errDown)
		require.Equal(t, client.Disconnected, c.State())
		require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeNotConnected)
		done := async(func() error { return c.Connect(t.Context()) })
		time.Sleep(time.Hour)
		f.set(func() { f.down = false })
		require.NoError(t, <-done)
	})
}

func TestDisconnectForgetsALoginAndKeepsTheClient(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.Login(t.Context(), "other", "pass"))
		require.NoError(t, c.Disconnect(t.Context()))
		require.Equal(t, client.Disconnected, c.State())
		require.Len(t, f.of(wire.CmdLogout), 2)
		require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeNotConnected)
		require.NoError(t, c.Disconnect(t.Context()))
		require.NoError(t, c.Connect(t.Context()))
		logins := f.of(wire.CmdLoginRegister)
		require.Equal(t, "iggy", body[wire.LoginRegister](t, logins[2]).Username)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestShutdownIsForEver(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdPollMessagesDeferred, deaf)
		f.next(wire.CmdCreateStream, silent)
		waiting := async(func() error {
			return poll(t.Context(), c, client.Read{Wait: time.Minute}, wire.PartitionContext{})
		})
		writing := async(func() error { return c.MakeStream(t.Context(), "s") })
		synctest.Wait()
		require.NoError(t, c.Shutdown(t.Context()))
		require.ErrorIs(t, <-waiting, wire.CodeClientShutdown)
		uncertain(t, <-writing)
		for _, err := range []error{
			c.Connect(t.Context()), c.Login(t.Context(), "a", "b"), c.Logout(t.Context()), c.Disconnect(t.Context()),
			c.Ping(t.Context()), c.MakeStream(t.Context(), "s"), send(t.Context(), c, 0),
		} {
			require.ErrorIs(t, err, wire.CodeClientShutdown)
		}
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

func TestShutdownEndsWhateverGoesOn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(f *fake){
		"dialling": func(f *fake) { f.down = true },
		"login":    func(f *fake) { f.script[wire.CmdLoginRegister] = []answer{deaf} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, c *client.Client) {
				f.set(func() { prepare(f) })
				connecting := async(func() error { return c.Connect(t.Context()) })
				synctest.Wait()
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { require.NoError(t, c.Shutdown(t.Context())) })
				}
				all.Wait()
				require.Error(t, <-connecting)
				require.Equal(t, client.ShutDown, c.State())
			})
		})
	}
}

func TestEventsTellWhatChanges(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		s := c.Subscribe()
		require.NoError(t, c.Connect(t.Context()))
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.NoError(t, c.Login(t.Context(), "other", "pass"))
		require.NoError(t, c.Logout(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()))
		var all []client.Event
		for e := range s.Events() {
			all = append(all, e)
		}
		require.Equal(t, []client.Event{
			client.EventConnected, client.EventSignedIn, client.EventDisconnected,
			client.EventConnected, client.EventSignedIn, client.EventSignedOut, client.EventSignedIn, client.EventSignedOut,
			client.EventDisconnected, client.EventShutdown,
		}, all)
		s.Close()
		_, open := <-c.Subscribe().Events()
		require.False(t, open)
	})
}

func TestSlowSubscriberLosesTheOldestEvents(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		s, closed := c.Subscribe(), c.Subscribe()
		closed.Close()
		closed.Close()
		for range 20 {
			f.cut()
			time.Sleep(10 * time.Second)
		}
		require.NoError(t, c.Shutdown(t.Context()))
		var last client.Event
		n := 0
		for e := range s.Events() {
			last = e
			n++
		}
		require.Equal(t, client.EventShutdown, last)
		require.Equal(t, 16, n)
	})
}

func TestOptionsThatAreWrongAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := client.New(nil, client.Version(wire.MakeVersion(0, 11, 0)), client.Heartbeat(0), client.Timeout(-1),
		client.Reconnect(-2, 0, -1), client.Pending(0, 0), client.Logger(nil))
	require.ErrorIs(t, err, wire.CodeInvalidConfiguration)
	for _, part := range []string{
		"dialer", "Version", "Heartbeat", "Timeout", "retries", "interval", "operations", "bytes", "Logger",
	} {
		require.ErrorContains(t, err, part)
	}
}

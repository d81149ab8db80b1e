package broker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

// waiting is a request that was not answered yet.
type waiting struct {
	header wire.RequestHeader
	reply  chan []byte // closed without a reply if there is none
	giveUp context.CancelFunc
}

// start sends a request and waits until it waits.
func (c *client) start(at wire.PartitionContext, command wire.Command, body wire.Body) waiting {
	ctx, cancel := context.WithCancel(context.Background())
	h := c.header(command)
	h.Context = at
	w := waiting{header: h, reply: make(chan []byte, 1), giveUp: cancel}
	frame := c.frame(h, body)
	go func() {
		defer cancel()
		defer close(w.reply)
		if reply, _ := c.link.Handle(ctx, frame); reply != nil {
			w.reply <- reply
		}
	}()
	synctest.Wait()
	return w
}

// polled waits for the reply of a poll.
func (w waiting) polled(t *testing.T) wire.PolledMessages {
	t.Helper()
	_, code, payload := wiretest.Open(t, <-w.reply)
	require.Zero(t, code)
	return wiretest.Decode[wire.PolledMessages](t, payload)
}

// waits says that there is no reply yet.
func (w waiting) waits(t *testing.T) {
	t.Helper()
	synctest.Wait()
	require.Empty(t, w.reply)
}

func next(wait time.Duration, least uint32) *wire.PollMessagesDeferred {
	return deferred(polling(reader, 0, from(wire.FromNext, 0), 10), uint64(wait.Microseconds()), least)
}

func TestAPollIsAnsweredWhenThereAreEnoughMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		begun := time.Now()
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 3))
		c.put(0, "a", "b")
		w.waits(t)
		time.Sleep(time.Second)
		c.put(0, "c", "d")
		require.Equal(t, []string{"a", "b", "c", "d"}, payloads(t, w.polled(t).Records))
		require.Equal(t, time.Second, time.Since(begun))
	})
}

func TestAPollIsAnsweredWithWhatIsThereWhenItsWaitIsOver(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait, timeout, want time.Duration
	}{
		"none":                       {0, time.Second, 0},
		"as long as it asks for":     {5 * time.Second, 15 * time.Second, 5 * time.Second},
		"as long as the server does": {100 * time.Second, 110 * time.Second, 30 * time.Second},
		"none with a short time-out": {0, 100 * time.Millisecond, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := withTopic(t, 1)
				c.put(0, "a")
				begun := time.Now()
				p := next(tt.wait, 2)
				p.TimeoutMicros = uint64(tt.timeout.Microseconds())
				w := c.start(c.at(0), wire.CmdPollMessagesDeferred, p)
				require.Equal(t, []string{"a"}, payloads(t, w.polled(t).Records))
				require.Equal(t, tt.want, time.Since(begun))
			})
		})
	}
}

func TestAPollIsAnsweredWhenTheReplyIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		p := next(20*time.Second, 10)
		p.MaxBytes = 2000
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, p)
		c.put(0, string(make([]byte, 1000)))
		w.waits(t)
		c.put(0, string(make([]byte, 1000)))
		require.Equal(t, uint32(1), w.polled(t).Count)
	})
}

func TestWaitsDoNotKeepOtherRequestsFromTheirReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		c.ok(wire.CmdGetMe, nil)
		w.waits(t)
		w.giveUp()
		reply, ok := <-w.reply
		require.False(t, ok, "nobody is there to be answered: %v", reply)
	})
}

func TestACancelEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		c.put(0, "a")
		p := next(20*time.Second, 5)
		p.AutoCommit = true
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, p)
		w.waits(t)
		begun := time.Now()
		cancel := w.header
		cancel.Command, cancel.Context = wire.CmdCancelDeferred, wire.PartitionContext{}
		require.Empty(t, c.send(c.frame(cancel, nil)), "it is not answered itself")
		require.Equal(t, []string{"a"}, payloads(t, w.polled(t).Records))
		require.Zero(t, time.Since(begun))
		require.Zero(t, c.storedOffset(reader, 0), "and commits what it served")
	})
}

func TestACancelMayComeBeforeWhatItCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		at, h := c.at(0), c.header(wire.CmdPollMessagesDeferred)
		h.Context = at
		cancel := h
		cancel.Command = wire.CmdCancelDeferred
		c.send(c.frame(cancel, nil))
		begun := time.Now()
		_, code, _ := wiretest.Open(t, c.send(c.frame(h, next(20*time.Second, 1))))
		require.Zero(t, code)
		require.Zero(t, time.Since(begun))
	})
}

func TestAnotherSessionCancelsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		other := root(t, c.broker)
		cancel := w.header
		cancel.Command = wire.CmdCancelDeferred
		other.send(other.frame(cancel, nil))
		cancel.Client, cancel.Session = other.id, other.session
		other.send(other.frame(cancel, nil))
		w.waits(t)
		w.giveUp()
	})
}

func TestTooManyWaitsOfASessionAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1, func(c *brokerConfig) { c.Limits.Waits = 2 })
		one := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		two := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		require.Equal(t, 2, c.broker.Waiters())
		code, _ := c.tryAt(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		require.Equal(t, wire.CodeDeferredPollCapacityExceeded, code)
		one.giveUp()
		synctest.Wait()
		three := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		c.put(0, "a")
		require.Equal(t, uint32(1), two.polled(t).Count)
		require.Equal(t, uint32(1), three.polled(t).Count)
		require.Zero(t, c.broker.Waiters())
	})
}

func TestAFetchWaitsForAllItsPartitionsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 3)
		f := c.fetching(10, 0, 1, 2)
		f.WaitMicros, f.MinCount = 20_000_000, 2
		begun := time.Now()
		w := c.start(wire.PartitionContext{}, wire.CmdFetchMessages, f)
		c.put(2, "a")
		w.waits(t)
		c.put(0, "b")
		_, code, payload := wiretest.Open(t, <-w.reply)
		require.Zero(t, time.Since(begun), "as many as asked for are enough")
		require.Zero(t, code)
		sections := wiretest.Decode[wire.FetchedMessages](t, payload).Sections
		require.Equal(t, []string{"b"}, payloads(t, sections[0].Records))
		require.Equal(t, []string{"a"}, payloads(t, sections[2].Records))
	})
}

func TestAWaitEndsWithThePartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		c.ok(wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: orders, Topic: events})
		_, code, _ := wiretest.Open(t, <-w.reply)
		require.Equal(t, wire.CodeTopicIDNotFound, code)
	})
}

func TestAWaitEndsWithTheSessionAndWithTheBroker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		c.ok(wire.CmdLogout, nil)
		_, code, _ := wiretest.Open(t, <-w.reply)
		require.Equal(t, wire.CodeUnauthenticated, code)

		c.enter(c.send(c.loginFrame("iggy", "iggy")))
		w = c.start(c.at(0), wire.CmdPollMessagesDeferred, next(20*time.Second, 1))
		require.NoError(t, c.broker.Close())
		require.NotEmpty(t, <-w.reply)
		<-c.link.Done()
		_, closing := c.link.Handle(t.Context(), c.frame(c.header(wire.CmdPing), nil))
		require.True(t, closing)
		late := connect(t, c.broker)
		<-late.link.Done()
	})
}

func TestARequestThatIsAtWorkChangesNothingOfAClosedBroker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := root(t, newBroker(t))
		release := c.broker.HoldHashing()
		create := c.start(wire.PartitionContext{}, wire.CmdCreateUser, &wire.CreateUser{Username: "ada", Password: "secret", Status: 1})
		create.waits(t)
		require.NoError(t, c.broker.Close())
		release()
		_, code, _ := wiretest.Open(t, <-create.reply)
		require.Equal(t, wire.CodeTransientNotAccepted, code)
	})
}

func TestALoginWhoseConnectionIsGoneIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t))
		release := c.broker.HoldHashing()
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() {
			reply, closing := c.link.Handle(ctx, c.loginFrame("iggy", "iggy"))
			done <- closing && reply == nil
		}()
		synctest.Wait()
		cancel()
		require.True(t, <-done)
	})
}

func TestRequestsBeyondTheLimitOfAConnectionWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1, func(c *brokerConfig) { c.Limits.InFlight = 1 })
		w := c.start(c.at(0), wire.CmdPollMessagesDeferred, next(5*time.Second, 1))
		begun := time.Now()
		c.ok(wire.CmdGetMe, nil)
		require.Equal(t, 5*time.Second, time.Since(begun))
		w.polled(t)
	})
}

package mux

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client and the other end of its link, which takes a byte only when it is read.
func client(t *testing.T, limits transport.Limits) (*Client, net.Conn) {
	t.Helper()
	limits, err := limits.WithDefaults()
	require.NoError(t, err)
	near, far := net.Pipe()
	t.Cleanup(func() { far.Close() })
	c := Start(near, "pipe", limits)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, far
}

// read reads a frame at the far end.
func read(t *testing.T, far net.Conn) transport.Frame {
	t.Helper()
	f, err := transport.ReadFrame(far, 1<<20, nil)
	require.NoError(t, err)
	return f
}

func write(t *testing.T, far net.Conn, f transport.Frame) {
	t.Helper()
	_, err := far.Write(f)
	require.NoError(t, err)
}

type result struct {
	reply transport.Frame
	err   error
}

func do(ctx context.Context, c *Client, id uint64) <-chan result {
	done := make(chan result, 1)
	go func() {
		reply, err := c.Do(ctx, transporttest.Request(id, ""))
		done <- result{reply, err}
	}()
	return done
}

func TestOnlyARequestOfWhichNoByteWasWrittenIsUnsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		written := do(ctx, c, 1)
		_, err := io.ReadFull(far, make([]byte, 1))
		require.NoError(t, err)
		queued := do(ctx, c, 2)
		synctest.Wait() // the first is half written, the second waits behind it
		cancel()
		r := <-written
		require.ErrorIs(t, r.err, context.Canceled)
		require.False(t, transport.Unsent(r.err), "a byte of it was written")
		r = <-queued
		require.ErrorIs(t, r.err, context.Canceled)
		require.True(t, transport.Unsent(r.err))

		third := do(t.Context(), c, 3)
		_, err = io.ReadFull(far, make([]byte, transport.HeaderBytes-1))
		require.NoError(t, err)
		require.EqualValues(t, 3, read(t, far).RequestID(), "a request that was withdrawn is not written")
		write(t, far, transporttest.Reply(3, ""))
		require.NoError(t, (<-third).err)
	})
}

func TestEndOfTheLinkTellsWrittenAndQueuedRequestsApart(t *testing.T) {
	t.Parallel()
	for range 10 { // a writer that chooses at random is found out
		synctest.Test(t, endWithQueue)
	}
}

func endWithQueue(t *testing.T) {
	c, far := client(t, transport.Limits{MaxInFlight: writeQueue + 3})
	var done []<-chan result
	for id := range uint64(writeQueue + 5) {
		done = append(done, do(t.Context(), c, id+1))
		synctest.Wait() // one is written, the queue is full, one waits for it, and two for a place
	}
	posted := make(chan error, 1)
	go func() { posted <- c.Post(t.Context(), transporttest.Request(1, "")) }()
	synctest.Wait()
	far.Close()
	for i, d := range done {
		r := <-d
		require.ErrorIs(t, r.err, transport.ErrLost)
		require.Equal(t, i > 0, transport.Unsent(r.err), "request %d", i+1)
	}
	require.True(t, transport.Unsent(<-posted))
}

func TestRequestsBeyondTheLimitWaitForAPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{MaxInFlight: 1})
		first := do(t.Context(), c, 1)
		read(t, far)
		ctx, cancel := context.WithCancel(t.Context())
		second, third := do(ctx, c, 2), do(t.Context(), c, 3)
		synctest.Wait()
		cancel()
		r := <-second
		require.ErrorIs(t, r.err, context.Canceled)
		require.True(t, transport.Unsent(r.err))
		write(t, far, transporttest.Reply(1, ""))
		require.NoError(t, (<-first).err)
		require.EqualValues(t, 3, read(t, far).RequestID())
		fourth := do(t.Context(), c, 4)
		synctest.Wait()
		require.NoError(t, c.Close())
		require.False(t, transport.Unsent((<-third).err))
		r = <-fourth
		require.ErrorIs(t, r.err, transport.ErrClosed)
		require.True(t, transport.Unsent(r.err))
	})
}

func TestPostWaitsForTheWriterAsLongAsItsContextDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		posted := make(chan error, writeQueue+2)
		for range writeQueue + 2 { // one is written, the queue is full, one waits for it
			go func() { posted <- c.Post(ctx, transporttest.Request(1, "")) }()
		}
		_, err := io.ReadFull(far, make([]byte, 1))
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		sent := 0
		for range writeQueue + 2 {
			err := <-posted
			require.ErrorIs(t, err, context.Canceled)
			if !transport.Unsent(err) {
				sent++
			}
		}
		require.Equal(t, 1, sent)
		require.NoError(t, c.Err(), "the frame that was begun is not cut")
	})
}

func TestLateReplyIsNotTakenForThatOfAnotherRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		first := do(ctx, c, 0)
		read(t, far)
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		second := do(t.Context(), c, 0)
		synctest.Wait() // it may not go yet: the reply to the first looks like its own
		write(t, far, transporttest.Reply(0, "late"))
		read(t, far)
		write(t, far, transporttest.Reply(0, "own"))
		r := <-second
		require.NoError(t, r.err)
		require.Equal(t, "own", string(r.reply.Body()))
	})
}

func TestRequestThatIsMadeAgainGetsTheReplyToItsNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{})
		ctx, cancel := context.WithCancel(t.Context())
		first := do(ctx, c, 7)
		read(t, far)
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		again := do(t.Context(), c, 7)
		read(t, far)
		_, err := c.Do(t.Context(), transporttest.Request(7, ""))
		require.ErrorIs(t, err, transport.ErrInFlight)
		require.True(t, transport.Unsent(err))
		write(t, far, transporttest.Reply(7, "once"))
		write(t, far, transporttest.Reply(7, "twice"))
		write(t, far, transporttest.Reply(99, "to nobody"))
		r := <-again
		require.NoError(t, r.err)
		require.Equal(t, "once", string(r.reply.Body()))
		require.NoError(t, c.Err())
	})
}

func TestClientWaitsForAFirstByteButNotForALastOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, far := client(t, transport.Limits{FrameTimeout: time.Second})
		done := do(t.Context(), c, 1)
		read(t, far)
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		write(t, far, transporttest.Reply(1, "body")[:257])
		before := time.Now()
		r := <-done
		require.ErrorIs(t, r.err, os.ErrDeadlineExceeded)
		require.ErrorContains(t, r.err, "FrameTimeout")
		require.Equal(t, time.Second, time.Since(before))
	})
}

func TestServerThatDoesNotReadEndsTheLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, transport.Limits{FrameTimeout: time.Second})
		r := <-do(t.Context(), c, 1)
		require.ErrorIs(t, r.err, os.ErrDeadlineExceeded)
		require.False(t, transport.Unsent(r.err))
	})
}

// peer returns a peer and the client's end of its link.
func peer(t *testing.T, limits transport.Limits) (*Peer, net.Conn) {
	t.Helper()
	limits, err := limits.WithDefaults()
	require.NoError(t, err)
	near, far := net.Pipe()
	p := Serve(near, "pipe", limits)
	t.Cleanup(func() { far.Close(); require.NoError(t, p.Close()) })
	return p, far
}

// NET-02: the limit runs from the start, and nothing of a silent peer is left after it, though nobody closes it.
func TestNET02SilentPeersLeaveNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const peers = 1000
		var all []*Peer
		for range peers {
			p, _ := peer(t, transport.Limits{IdleTimeout: time.Minute})
			all = append(all, p)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		for _, p := range all {
			require.False(t, ended(p), "before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		for _, p := range all {
			require.True(t, ended(p))
			p.tasks.Wait() // would wait for ever in the bubble, and be reported
			_, err := p.Next(t.Context())
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		}
	})
}

func ended(p *Peer) bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// told is a link that says when it is closed.
type told struct {
	net.Conn
	closing func()
}

func (l *told) Close() error {
	l.closing()
	return l.Conn.Close()
}

func TestWhoSeesTheLinkCloseFindsTheReason(t *testing.T) {
	t.Parallel()
	limits, err := transport.Limits{}.WithDefaults()
	require.NoError(t, err)
	near, far := net.Pipe()
	t.Cleanup(func() { far.Close() })
	closing, proceed := make(chan struct{}), make(chan struct{})
	p := Serve(&told{near, func() { close(closing); <-proceed }}, "pipe", limits)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	write(t, far, make(transport.Frame, transport.HeaderBytes)) // its length is 0
	<-closing
	for range 50 { // a Next that chooses at random is found out
		_, err = p.Next(ctx)
		require.ErrorIs(t, err, transport.ErrProtocol)
	}
	close(proceed)
	require.NoError(t, p.Close())
}

func TestPeerThatKeepsAskingIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, far := peer(t, transport.Limits{IdleTimeout: time.Minute})
		for id := range uint64(10) {
			time.Sleep(time.Minute - time.Nanosecond)
			write(t, far, transporttest.Request(id, ""))
			x, err := p.Next(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, id, x.Request().RequestID())
		}
		_, err := p.Next(t.Context())
		require.ErrorContains(t, err, "IdleTimeout")
	})
}

func TestAnswerWaitsForItsTurnAsLongAsItsContextDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, far := peer(t, transport.Limits{})
		var exchanges []transport.Exchange
		for id := range uint64(3) {
			write(t, far, transporttest.Request(id, ""))
			x, err := p.Next(t.Context())
			require.NoError(t, err)
			exchanges = append(exchanges, x)
		}
		errs := make(chan error, 3)
		reply := func(ctx context.Context, id int) {
			errs <- exchanges[id].Reply(ctx, transporttest.Reply(uint64(id), ""))
		}
		go reply(t.Context(), 0)
		synctest.Wait() // it is being written
		gone, cancel := context.WithCancel(t.Context())
		go reply(gone, 1)
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-errs, context.Canceled)
		require.EqualValues(t, 0, read(t, far).RequestID())
		require.NoError(t, <-errs)

		ctx, stop := context.WithCancel(t.Context())
		go reply(ctx, 2)
		_, err := io.ReadFull(far, make([]byte, 1))
		require.NoError(t, err)
		stop() // half of a frame is out: the link is of no use
		require.Error(t, <-errs)
		<-exchanges[2].Done()
		_, err = io.ReadAll(far)
		require.NoError(t, err)
	})
}

// A round trip over a pipe: what the demultiplexer itself costs.
func BenchmarkRoundTrip(b *testing.B) {
	limits, err := transport.Limits{}.WithDefaults()
	require.NoError(b, err)
	near, far := net.Pipe()
	c, p := Start(near, "pipe", limits), Serve(far, "pipe", limits)
	defer func() { _, _ = c.Close(), p.Close() }()
	go func() {
		reply := transporttest.Reply(1, "")
		for {
			x, err := p.Next(context.Background())
			if err != nil || x.Reply(context.Background(), reply) != nil {
				return
			}
		}
	}()
	request := transporttest.Request(1, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Do(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}

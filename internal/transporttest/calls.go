package transporttest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
)

func replies(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.server.Next(ended)
	require.ErrorIs(t, err, context.Canceled)
	done := p.do(t.Context(), 7, "question")
	x := p.next()
	require.Equal(t, Request(7, "question"), x.Request())
	p.answer(x, "answer")
	r := <-done
	require.NoError(t, r.err)
	require.Equal(t, Reply(7, "answer"), r.reply)
}

func anyOrder(t *testing.T, tr Transport) {
	const requests = 200
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	var done []<-chan result
	for id := range uint64(requests) {
		done = append(done, p.do(t.Context(), id+1, strconv.Itoa(int(id))))
	}
	var exchanges []transport.Exchange
	for range requests {
		exchanges = append(exchanges, p.next())
	}
	for _, x := range slices.Backward(exchanges) {
		p.answer(x, "to "+string(x.Request().Body()))
	}
	for id, d := range done {
		r := <-d
		require.NoError(t, r.err)
		require.Equal(t, Reply(uint64(id)+1, "to "+strconv.Itoa(id)), r.reply)
	}
}

func longReplies(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	for i, length := range []int{0, 100 << 10, 10 << 20} {
		done := p.do(t.Context(), uint64(i)+1, "")
		body := strings.Repeat("iggy", length/4)
		p.answer(p.next(), body)
		r := <-done
		require.NoError(t, r.err)
		require.True(t, string(r.reply.Body()) == body, "a reply of %d bytes came as another one", length)
	}
}

func posts(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	waiting := p.do(t.Context(), 1, "wait")
	poll := p.next()
	require.NoError(t, p.client.Post(t.Context(), Request(1, "cancel")))
	x := p.next()
	require.Equal(t, "cancel", string(x.Request().Body()))
	x.Drop()
	p.answer(poll, "nothing")
	require.NoError(t, (<-waiting).err)
	p.works(2)
}

func oneUnbound(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	first := p.do(t.Context(), 0, "first")
	x := p.next()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	second := <-p.do(gone, 0, "second")
	require.ErrorIs(t, second.err, context.Canceled)
	require.True(t, transport.Unsent(second.err))
	third := p.do(t.Context(), 0, "third")
	p.works(1) // numbers that do not clash pass by
	p.answer(x, "to the first")
	x = p.next()
	require.Equal(t, "third", string(x.Request().Body()))
	p.answer(x, "to the third")
	require.Equal(t, Reply(0, "to the first"), (<-first).reply)
	require.Equal(t, Reply(0, "to the third"), (<-third).reply)
}

func contextEnds(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{MaxInFlight: 1}, transport.Limits{})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := p.do(ctx, 1, "")
	x := p.next()
	cancel(cause)
	r := <-done
	require.ErrorIs(t, r.err, cause)
	require.False(t, transport.Unsent(r.err), "the server has the request")
	_ = x.Reply(t.Context(), Reply(1, "too late")) // a stream that was reset refuses it
	p.works(2)
	r = <-p.do(ctx, 3, "")
	require.ErrorIs(t, r.err, cause)
}

// begin sends requests and returns when the server has all of them.
func (p *pair) begin(requests int) []<-chan result {
	p.t.Helper()
	var done []<-chan result
	for id := range requests {
		done = append(done, p.do(p.t.Context(), uint64(id)+1, ""))
	}
	for range requests {
		p.next()
	}
	return done
}

// allEnd holds that requests end with an error of a link that has ended, as further ones do.
func (p *pair) allEnd(done []<-chan result, with error) {
	p.t.Helper()
	for _, d := range done {
		r := <-d
		require.ErrorIs(p.t, r.err, with)
		require.False(p.t, transport.Unsent(r.err), "the server has the request")
	}
	<-p.client.Done()
	require.ErrorIs(p.t, p.client.Err(), with)
	_, err := p.client.Do(p.t.Context(), Request(1000, ""))
	require.ErrorIs(p.t, err, with)
	require.True(p.t, transport.Unsent(err))
	err = p.client.Post(p.t.Context(), Request(1000, ""))
	require.ErrorIs(p.t, err, with)
	require.True(p.t, transport.Unsent(err))
}

func closeEndsAll(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	done := p.begin(20)
	require.NoError(t, p.client.Close())
	p.allEnd(done, transport.ErrClosed)
	_, err := p.server.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrLost)
}

func serverGoes(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	done := p.begin(20)
	require.NoError(t, p.server.Close())
	p.allEnd(done, transport.ErrLost)
	_, err := p.server.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrClosed)
}

func closeTwice(t *testing.T, tr Transport) {
	for range 5 {
		p := connect(t, tr, transport.Limits{}, transport.Limits{})
		done := p.begin(3)
		var closing sync.WaitGroup
		for range 4 {
			closing.Go(func() { _ = p.client.Close() })
			closing.Go(func() { _ = p.server.Close() })
		}
		closing.Wait()
		for _, d := range done {
			require.Error(t, (<-d).err)
		}
		require.Error(t, p.client.Err())
	}
}

// The server has read one of many requests when it evicts and closes at once: every one of them ends with the reason.
func eviction(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	var done []<-chan result
	for id := range uint64(20) {
		done = append(done, p.do(t.Context(), id+1, ""))
	}
	require.NoError(t, p.next().Reply(t.Context(), Eviction(13)))
	require.NoError(t, p.server.Close())
	for _, d := range done {
		var evicted *transport.EvictedError
		require.ErrorAs(t, (<-d).err, &evicted)
		require.EqualValues(t, 13, evicted.Frame.Reason())
	}
	<-p.client.Done()
	require.EqualError(t, p.client.Err(), "evicted by the server, reason 13")
}

func evictedIdle(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	require.NoError(t, p.server.Evict(t.Context(), Eviction(13)))
	<-p.client.Done()
	if tr.NoPush {
		require.ErrorIs(t, p.client.Err(), transport.ErrLost)
	} else {
		require.EqualError(t, p.client.Err(), "evicted by the server, reason 13")
	}
	_, err := p.server.Next(t.Context())
	require.Error(t, err)
	require.Error(t, p.server.Evict(t.Context(), Reply(1, "")))
}

func evictedDeaf(t *testing.T, tr Transport) {
	listener := listen(t, tr, transport.Limits{})
	raw := tr.RawClient(t, listener.Addr())
	p := &pair{t: t, server: accept(t, listener)}
	_, err := raw.Write(Request(1, ""))
	require.NoError(t, err)
	if !tr.NoHalfClose {
		require.NoError(t, raw.CloseWrite())
	}
	require.NoError(t, p.next().Reply(t.Context(), Eviction(1)))
	require.NoError(t, p.server.Close())
	_, err = p.server.Next(t.Context())
	require.Error(t, err)
}

func answeredTwice(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	done := p.do(t.Context(), 1, "")
	x := p.next()
	require.ErrorIs(t, x.Reply(t.Context(), Request(1, "")), transport.ErrProtocol)
	p.answer(x, "")
	require.ErrorIs(t, x.Reply(t.Context(), Reply(1, "")), transport.ErrAnswered)
	x.Drop()
	require.NoError(t, (<-done).err)
}

func dropped(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{}, transport.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	done := p.do(ctx, 1, "")
	x := p.next()
	x.Drop()
	require.ErrorIs(t, x.Reply(t.Context(), Reply(1, "")), transport.ErrAnswered)
	cancel()
	require.Error(t, (<-done).err)
	p.works(2)
}

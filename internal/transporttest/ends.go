package transporttest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
)

// short is a time limit that a test waits for.
const short = 50 * time.Millisecond

func acceptEnds(t *testing.T, tr Transport) {
	listener := listen(t, tr, transport.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	wait := func(ctx context.Context) {
		_, err := listener.Accept(ctx)
		ended <- err
	}
	go wait(ctx)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	go wait(t.Context())
	go wait(t.Context())
	require.NoError(t, listener.Close())
	require.ErrorIs(t, <-ended, transport.ErrClosed)
	require.ErrorIs(t, <-ended, transport.ErrClosed)
	require.NoError(t, listener.Close())
}

func dialsNobody(t *testing.T, tr Transport) {
	listener := listen(t, tr, transport.Limits{})
	addr := listener.Addr()
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithTimeout(t.Context(), short) // over UDP nobody says that there is nobody
	defer cancel()
	_, err := tr.Dialer(addr, transport.Limits{}).Dial(ctx)
	var e *transport.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "dial", e.Op)
	require.Contains(t, e.Addr, addr)
	_, err = tr.Dialer("::1", transport.Limits{}).Dial(ctx)
	require.ErrorAs(t, err, &e)
}

func badLimits(t *testing.T, tr Transport) {
	_, err := tr.Dialer("127.0.0.1:1", transport.Limits{MaxReplyBytes: 255, MaxInFlight: -1}).Dial(t.Context())
	require.ErrorContains(t, err, "MaxReplyBytes is 255")
	require.ErrorContains(t, err, "MaxInFlight is -1")
	_, err = tr.ListenAt(t, "127.0.0.1:0", transport.Limits{IdleTimeout: -1})
	require.ErrorContains(t, err, "IdleTimeout is -1ns")
}

func addrInUse(t *testing.T, tr Transport) {
	addr := listen(t, tr, transport.Limits{}).Addr()
	_, err := tr.ListenAt(t, addr, transport.Limits{})
	var e *transport.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "listen", e.Op)
	require.Equal(t, addr, e.Addr)
}

func longRequest(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{MaxRequestBytes: 300}, transport.Limits{MaxRequestBytes: 300})
	for _, send := range []func(transport.Frame) error{
		func(f transport.Frame) error { _, err := p.client.Do(t.Context(), f); return err },
		func(f transport.Frame) error { return p.client.Post(t.Context(), f) },
	} {
		var size *transport.SizeError
		err := send(frame(transport.CommandRequest, string(make([]byte, 45))))
		require.ErrorAs(t, err, &size)
		require.Equal(t, transport.SizeError{Size: 301, Limit: 300, Option: "MaxRequestBytes"}, *size)
		require.True(t, transport.Unsent(err))
		for _, bad := range []transport.Frame{nil, Reply(1, ""), Request(1, "body")[:258], make(transport.Frame, 300)} {
			err = send(bad)
			require.ErrorIs(t, err, transport.ErrProtocol)
			require.True(t, transport.Unsent(err))
		}
	}
	p.works(1)
}

func longReply(t *testing.T, tr Transport) {
	p := connect(t, tr, transport.Limits{MaxReplyBytes: 100 << 10}, transport.Limits{})
	done := p.do(t.Context(), 1, "")
	p.answer(p.next(), string(make([]byte, 100<<10-transport.HeaderBytes)))
	require.NoError(t, (<-done).err)
	done = p.do(t.Context(), 2, "")
	x := p.next()
	_ = x.Reply(t.Context(), Reply(2, string(make([]byte, 100<<10)))) // the client closes the link under it
	r := <-done
	var size *transport.SizeError
	require.ErrorAs(t, r.err, &size)
	require.Equal(t, transport.SizeError{Size: 100<<10 + 256, Limit: 100 << 10, Option: "MaxReplyBytes"}, *size)
	require.ErrorContains(t, r.err, "MaxReplyBytes")
	require.ErrorAs(t, p.client.Err(), &size)
}

func badReplies(t *testing.T, tr Transport) {
	tests := map[string]transport.Frame{
		"size below a header": Sized(transport.CommandReply, 255),
		"size 0":              Sized(transport.CommandReply, 0),
		"a request":           Request(1, ""),
		"garbage":             garbage(),
	}
	for name, bytes := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, accept := tr.RawServer(t)
			conn, err := tr.Dialer(addr, transport.Limits{}).Dial(t.Context())
			require.NoError(t, err)
			defer conn.Close()
			done := (&pair{t: t, client: conn}).do(t.Context(), 1, "")
			raw := accept()
			_, err = io.ReadFull(raw, make([]byte, transport.HeaderBytes))
			require.NoError(t, err)
			_, _ = raw.Write(bytes)
			_ = raw.CloseWrite()
			r := <-done
			require.Error(t, r.err)
			require.False(t, transport.Unsent(r.err))
			<-conn.Done()
			require.True(t, refused(conn.Err()), "%v", conn.Err())
		})
	}
}

// garbage is no frame, by its length.
func garbage() transport.Frame {
	f := make(transport.Frame, 1000)
	for i := range f {
		f[i] = byte(i * 7)
	}
	return f
}

// refused says whether a link ended because of what came over it.
func refused(err error) bool {
	var size *transport.SizeError
	return errors.Is(err, transport.ErrProtocol) || errors.As(err, &size)
}

func badRequests(t *testing.T, tr Transport) {
	tests := map[string]transport.Frame{
		"size below a header": Sized(transport.CommandRequest, 255),
		"size above limit":    Sized(transport.CommandRequest, 1<<20+1),
		"size above any":      Sized(transport.CommandRequest, 1<<32-1),
		"a reply":             Reply(1, ""),
		"an eviction":         Eviction(1),
		"garbage":             garbage(),
	}
	for name, bytes := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := listen(t, tr, transport.Limits{MaxRequestBytes: 1 << 20})
			raw := tr.RawClient(t, listener.Addr())
			peer := accept(t, listener) // whose handshake the first write may wait for
			_, _ = raw.Write(bytes)
			_ = raw.CloseWrite()
			_, err := peer.Next(t.Context())
			require.True(t, refused(err), "%v", err)
			_, err = io.ReadAll(raw)
			t.Log(err) // the link has ended, one way or other
		})
	}
}

// NET-02: the time limit is set before the first byte. That nothing of a peer is left is what TestMain looks at.
func silentClients(t *testing.T, tr Transport) {
	const clients = 200
	listener := listen(t, tr, transport.Limits{IdleTimeout: short})
	var peers []transport.Peer
	for range clients {
		tr.RawClient(t, listener.Addr())
		peers = append(peers, accept(t, listener))
	}
	for _, peer := range peers {
		_, err := peer.Next(t.Context())
		require.ErrorIs(t, err, transport.ErrLost)
		require.ErrorContains(t, err, "IdleTimeout")
	}
}

func slowClient(t *testing.T, tr Transport) {
	listener := listen(t, tr, transport.Limits{FrameTimeout: short})
	raw := tr.RawClient(t, listener.Addr())
	accept(t, listener)
	_, err := raw.Write(Request(1, "")[:100])
	require.NoError(t, err)
	_, err = raw.Read(make([]byte, 1))
	require.Error(t, err)
}

func halfClosedServer(t *testing.T, tr Transport) {
	addr, accept := tr.RawServer(t)
	conn, err := tr.Dialer(addr, transport.Limits{}).Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	done := (&pair{t: t, client: conn}).do(t.Context(), 1, "")
	raw := accept()
	_, err = io.ReadFull(raw, make([]byte, transport.HeaderBytes))
	require.NoError(t, err)
	require.NoError(t, raw.CloseWrite())
	r := <-done
	require.ErrorIs(t, r.err, io.EOF)
	require.False(t, transport.Unsent(r.err))
}

func halfClosedClient(t *testing.T, tr Transport) {
	if tr.NoHalfClose {
		t.Skip("closing one direction closes both")
	}
	listener := listen(t, tr, transport.Limits{})
	raw := tr.RawClient(t, listener.Addr())
	p := &pair{t: t, server: accept(t, listener)}
	_, err := raw.Write(Request(1, ""))
	require.NoError(t, err)
	require.NoError(t, raw.CloseWrite())
	p.answer(p.next(), "still there")
	reply := make(transport.Frame, transport.HeaderBytes+len("still there"))
	_, err = io.ReadFull(raw, reply)
	require.NoError(t, err)
	require.Equal(t, Reply(1, "still there"), reply)
}

// Package transporttest is the suite that every transport for Iggy runs: what a dialer and a listener promise each
// other, and what each does when the other side does not keep to the protocol.
package transporttest

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
)

// Transport is what is tested.
type Transport struct {
	// ListenAt takes clients at an address.
	ListenAt func(t *testing.T, addr string, limits transport.Limits) (transport.Listener, error)
	// Dialer dials a listener.
	Dialer func(addr string, limits transport.Limits) transport.Dialer
	// RawClient connects to a listener without a word of Iggy. It is closed when the test ends.
	RawClient func(t *testing.T, addr string) Raw
	// RawServer listens, for a dialer. accept returns the stream of the first request, byte for byte; all is closed
	// when the test ends.
	RawServer func(t *testing.T) (addr string, accept func() Raw)
	// NoPush says that a server can only answer: an eviction without a request does not come.
	NoPush bool
	// NoHalfClose says that one side cannot close its direction alone.
	NoHalfClose bool
}

// Raw is a stream of bytes to the other side.
type Raw interface {
	io.ReadWriteCloser
	// CloseWrite ends the direction to the other side.
	CloseWrite() error
}

// Run runs the suite.
func Run(t *testing.T, tr Transport) {
	t.Helper()
	cases := []struct {
		name string
		run  func(*testing.T, Transport)
	}{
		{"a request gets its reply", replies},
		{"replies come in any order", anyOrder},
		{"replies of any length come whole", longReplies},
		{"a posted frame is read and gets no answer", posts},
		{"the number 0 goes one at a time", oneUnbound},
		{"a request whose context ends leaves the link as it was", contextEnds},
		{"closing the link ends every request", closeEndsAll},
		{"a server that goes ends every request", serverGoes},
		{"closing may be repeated, and at the same time", closeTwice},
		{"an eviction ends the link and is kept", eviction},
		{"an eviction without a request ends the link", evictedIdle},
		{"a client that does not follow an eviction is closed", evictedDeaf},
		{"a second answer is refused", answeredTwice},
		{"a dropped request can be given up", dropped},
		{"accept ends with its context and with the listener", acceptEnds},
		{"a dial that reaches nobody names the address", dialsNobody},
		{"limits out of their bounds are refused", badLimits},
		{"an address in use is refused", addrInUse},
		{"a request that is too long is not sent", longRequest},
		{"a reply that is too long ends the link", longReply},
		{"a server that sends what is no reply ends the link", badReplies},
		{"a client that sends what is no request is refused", badRequests},
		{"silent clients are closed", silentClients},
		{"a client that stops in a frame is closed", slowClient},
		{"a server that closes its side ends the link", halfClosedServer},
		{"a client that has closed its side gets its reply", halfClosedClient},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, tr)
		})
	}
}

// pair is both ends of a link.
type pair struct {
	t      *testing.T
	client transport.Conn
	server transport.Peer
}

// connect returns both ends of a link.
func connect(t *testing.T, tr Transport, client, server transport.Limits) *pair {
	t.Helper()
	listener := listen(t, tr, server)
	p := &pair{t: t}
	dialed := make(chan error, 1)
	go func() { // a handshake may wait for Accept
		var err error
		p.client, err = tr.Dialer(listener.Addr(), client).Dial(t.Context())
		dialed <- err
	}()
	p.server = accept(t, listener)
	require.NoError(t, <-dialed)
	t.Cleanup(func() { require.NoError(t, p.client.Close()) })
	return p
}

func listen(t *testing.T, tr Transport, limits transport.Limits) transport.Listener {
	t.Helper()
	listener, err := tr.ListenAt(t, "127.0.0.1:0", limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener
}

func accept(t *testing.T, listener transport.Listener) transport.Peer {
	t.Helper()
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, peer.RemoteAddr())
	t.Cleanup(func() { require.NoError(t, peer.Close()) })
	return peer
}

// next returns the next request of the client.
func (p *pair) next() transport.Exchange {
	p.t.Helper()
	x, err := p.server.Next(p.t.Context())
	require.NoError(p.t, err)
	return x
}

// answer replies to a request.
func (p *pair) answer(x transport.Exchange, body string) {
	p.t.Helper()
	require.NoError(p.t, x.Reply(p.t.Context(), Reply(x.Request().RequestID(), body)))
}

// result is what Do returned.
type result struct {
	reply transport.Frame
	err   error
}

// do sends a request in the background.
func (p *pair) do(ctx context.Context, id uint64, body string) <-chan result {
	done := make(chan result, 1)
	go func() {
		reply, err := p.client.Do(ctx, Request(id, body))
		done <- result{reply, err}
	}()
	return done
}

// works holds that the link does what it is for.
func (p *pair) works(id uint64) {
	p.t.Helper()
	done := p.do(p.t.Context(), id, "ping")
	p.answer(p.next(), "pong")
	r := <-done
	require.NoError(p.t, r.err)
	require.Equal(p.t, "pong", string(r.reply.Body()))
	require.NoError(p.t, p.client.Err())
}

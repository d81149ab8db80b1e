package quic_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/quic"
)

// link returns both ends of a link.
func link(t *testing.T, limits transport.Limits, options ...quic.ListenOption) (transport.Conn, transport.Peer) {
	t.Helper()
	listener := listen(t, append(options, quic.Limits(limits))...)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	conn, err := quic.NewDialer(listener.Addr()).Dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, peer.Close()) })
	return conn, peer
}

// NET-01. The server allows ten streams at once: one that was given up and still counts would be missed long before the
// thousandth request, and ten at once at the end show that none counts.
func TestNET01RequestsThatTimeOutGiveTheirStreamsBack(t *testing.T) {
	t.Parallel()
	const streams = 10
	conn, peer := link(t, transport.Limits{MaxInFlight: streams})
	timedOut := errors.New("timed out by its caller")
	for id := range uint64(1000) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := conn.Do(ctx, transporttest.Request(id+1, ""))
			done <- err
		}()
		x, err := peer.Next(t.Context())
		require.NoError(t, err)
		if id%2 == 1 {
			cancel(timedOut)
			require.ErrorIs(t, <-done, timedOut)
			<-x.Done()
			if id%4 == 1 { // others are forgotten by the server
				require.ErrorIs(t, x.Reply(t.Context(), transporttest.Reply(id+1, "")), transport.ErrLost)
			}
		} else {
			require.NoError(t, x.Reply(t.Context(), transporttest.Reply(id+1, "")))
			require.NoError(t, <-done)
		}
		cancel(nil)
	}
	done := make(chan error, streams)
	for id := range uint64(streams) {
		go func() {
			_, err := conn.Do(t.Context(), transporttest.Request(1001+id, ""))
			done <- err
		}()
	}
	var open []transport.Exchange
	for range streams {
		x, err := peer.Next(t.Context())
		require.NoError(t, err)
		open = append(open, x)
	}
	for _, x := range open {
		require.NoError(t, x.Reply(t.Context(), transporttest.Reply(x.Request().RequestID(), "")))
	}
	for range streams {
		require.NoError(t, <-done)
	}
}

// NET-02 for streams: those that say nothing are reset, each by its own limit, and the link goes on.
func TestNET02SilentStreamsAreReset(t *testing.T) {
	t.Parallel()
	const streams = 100
	listener := listen(t, quic.Limits(transport.Limits{IdleTimeout: 50 * time.Millisecond, MaxInFlight: streams + 1}))
	defer listener.Close()
	conn := rawClient(t, listener.Addr())
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	var silent []raw
	for range streams {
		stream, err := conn.OpenStream()
		require.NoError(t, err)
		silent = append(silent, raw{stream})
	}
	// What opens a stream opens those before it.
	last, err := conn.OpenStream()
	require.NoError(t, err)
	_, err = last.Write(transporttest.Request(1, ""))
	require.NoError(t, err)
	require.NoError(t, last.Close())
	x, err := peer.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, x.Reply(t.Context(), transporttest.Reply(1, "")))
	for _, s := range silent {
		_, err := s.Read(make([]byte, 1))
		require.Error(t, err)
	}
}

func TestServerThatEndsAStreamWithoutAReplyLeavesTheLink(t *testing.T) {
	t.Parallel()
	conn, peer := link(t, transport.Limits{})
	for id := range uint64(3) {
		done := make(chan error, 1)
		go func() {
			_, err := conn.Do(t.Context(), transporttest.Request(id, ""))
			done <- err
		}()
		x, err := peer.Next(t.Context())
		require.NoError(t, err)
		x.Drop()
		err = <-done
		require.ErrorIs(t, err, transport.ErrNoReply)
		require.False(t, transport.Unsent(err))
		require.NoError(t, conn.Err())
	}
}

// The server neither answers nor drops what was posted, and has room for four streams.
func TestPostedFrameHoldsNoStream(t *testing.T) {
	t.Parallel()
	conn, peer := link(t, transport.Limits{MaxInFlight: 4})
	for range 50 {
		require.NoError(t, conn.Post(t.Context(), transporttest.Request(1, "")))
		x, err := peer.Next(t.Context())
		require.NoError(t, err)
		<-x.Done()
	}
}

func TestRequestThatIsNotTakenInTimeIsReset(t *testing.T) {
	t.Parallel()
	addr, accept := rawServer(t)
	limits := transport.Limits{FrameTimeout: 50 * time.Millisecond}
	conn, err := quic.NewDialer(addr, quic.Limits(limits)).Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Do(t.Context(), transporttest.Request(1, string(make([]byte, 4<<20)))) // more than goes unread
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.ErrorContains(t, err, "FrameTimeout")
	require.False(t, transport.Unsent(err))
	_, err = io.Copy(io.Discard, accept())
	var reset *quicgo.StreamError
	require.ErrorAs(t, err, &reset)
	require.NoError(t, conn.Err())
}

func TestReplyOnTheStreamOfAnotherRequestEndsTheLink(t *testing.T) {
	t.Parallel()
	conn, peer := link(t, transport.Limits{})
	done := make(chan error, 1)
	go func() {
		_, err := conn.Do(t.Context(), transporttest.Request(1, ""))
		done <- err
	}()
	x, err := peer.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, x.Reply(t.Context(), transporttest.Reply(2, "")))
	require.ErrorIs(t, <-done, transport.ErrProtocol)
	<-conn.Done()
	_, err = peer.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrLost)
}

func TestSecondFrameOnAStreamIsRefused(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	defer listener.Close()
	stream, err := rawClient(t, listener.Addr()).OpenStream()
	require.NoError(t, err)
	_, err = stream.Write(append(transporttest.Request(1, ""), transporttest.Request(2, "")...))
	require.NoError(t, err)
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	defer peer.Close()
	_, err = peer.Next(t.Context())
	require.ErrorIs(t, err, transport.ErrProtocol)
}

func TestWhoSeesTheLinkCloseFindsTheReason(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	defer listener.Close()
	conn := rawClient(t, listener.Addr())
	stream, err := conn.OpenStream()
	require.NoError(t, err)
	_, err = stream.Write(make([]byte, transport.HeaderBytes)) // its length is 0
	require.NoError(t, err)
	peer, err := listener.Accept(t.Context())
	require.NoError(t, err)
	<-conn.Context().Done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // a Next that chooses at random is found out
		_, err = peer.Next(ctx)
		require.ErrorIs(t, err, transport.ErrProtocol)
	}
	require.NoError(t, peer.Close())
}

func TestLinkEndsWhenTheServerIsSilent(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	server := socket(t)
	listener, err := server.Listen(&tls.Config{Certificates: []tls.Certificate{certificate}}, nil)
	require.NoError(t, err)
	conn, err := quic.NewDialer(listener.Addr().String(), quic.MaxSilence(50*time.Millisecond), quic.KeepAlive(0),
		quic.InitialMTU(1300), quic.ReceiveWindowBytes(1000)).Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	server.Conn.Close() // without a word
	_, err = conn.Do(t.Context(), transporttest.Request(1, ""))
	require.ErrorIs(t, err, transport.ErrLost)
	var silence *quicgo.IdleTimeoutError
	require.ErrorAs(t, conn.Err(), &silence)
}

func TestDialTimeoutBoundsTheHandshake(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer silent.Close()
	_, err = quic.NewDialer(silent.LocalAddr().String(), quic.DialTimeout(20*time.Millisecond)).Dial(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestListenerClosesClientsThatWereNotAccepted(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	conn, err := quic.NewDialer(listener.Addr()).Dial(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	// The handshake is done for the client a little before it is done for the server: a request waits for that.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := conn.Do(ctx, transporttest.Request(1, ""))
		done <- err
	}()
	require.NoError(t, listener.Close())
	err = <-done
	require.ErrorIs(t, err, transport.ErrLost)
}

package transporttest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
)

// RoundTrips measures requests over one link whose server answers at once: one after the other, and many at a time.
func RoundTrips(b *testing.B, listener transport.Listener, dialer transport.Dialer) {
	b.Helper()
	conn, err := dialer.Dial(b.Context())
	require.NoError(b, err)
	peer, err := listener.Accept(b.Context())
	require.NoError(b, err)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answerAll(peer)
	}()
	defer func() {
		require.NoError(b, conn.Close())
		require.NoError(b, peer.Close())
		require.NoError(b, listener.Close())
		<-answered
	}()
	b.Run("one after the other", func(b *testing.B) { trips(b, conn, 1) })
	b.Run("64 at a time", func(b *testing.B) { trips(b, conn, 64) })
}

func answerAll(peer transport.Peer) {
	for {
		x, err := peer.Next(context.Background())
		if err != nil {
			return
		}
		_ = x.Reply(context.Background(), Reply(x.Request().RequestID(), ""))
	}
}

// trips sends requests of so many callers.
func trips(b *testing.B, conn transport.Conn, callers int) {
	b.ReportAllocs()
	ids := make(chan uint64, callers)
	ended := make(chan error, callers)
	for range callers {
		go func() {
			var err error
			for id := range ids {
				if err == nil {
					_, err = conn.Do(context.Background(), Request(id, ""))
				}
			}
			ended <- err
		}()
	}
	for id := uint64(1); b.Loop(); id++ {
		ids <- id
	}
	close(ids)
	for range callers {
		require.NoError(b, <-ended)
	}
}

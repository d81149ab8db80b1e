package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestEndOfContextAndOfTheLinkEndRequests(t *testing.T) {
	t.Parallel()
	b := &backend{wait: true}
	conn := serve(t, b)
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("because")
	failed := make(chan error)
	request := frame(t, wire.NewRequest(reading), &wire.Empty{})
	ask := func(ctx context.Context) {
		_, err := conn.Do(ctx, request)
		failed <- err
	}
	go ask(ctx)
	require.Eventually(t, func() bool { return len(b.requests()) == 1 }, 10*time.Second, time.Millisecond)
	cancel(because)
	err := <-failed
	require.ErrorIs(t, err, because)
	require.False(t, transport.Unsent(err))

	go ask(t.Context())
	require.Eventually(t, func() bool { return len(b.requests()) == 2 }, 10*time.Second, time.Millisecond)
	require.NoError(t, conn.Err())
	require.NoError(t, conn.Close())
	require.ErrorIs(t, <-failed, transport.ErrClosed)
	<-conn.Done()
	require.ErrorIs(t, conn.Err(), transport.ErrClosed)
	_, err = conn.Do(t.Context(), frame(t, wire.NewRequest(reading), &wire.Empty{}))
	require.ErrorIs(t, err, transport.ErrClosed)
	require.True(t, transport.Unsent(err))
	require.NoError(t, conn.Close())
}

func TestSecretsAreInNoErrorAndNoPrint(t *testing.T) {
	t.Parallel()
	s := play(t, hangUp)
	conn := s.conn()
	_, err := conn.Do(t.Context(), frame(t, wire.NewRequest(wire.CmdChangePassword), &wire.ChangePassword{User: wire.ID(1), Current: "old-secret", New: "new-secret"}))
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v %v", conn, conn, conn)} {
		for _, secret := range []string{"old-secret", "new-secret", "Bearer", "t1\"", `"secret"`} {
			require.NotContains(t, text, secret)
		}
	}
}

func TestConnectionsAreNotMadeOverProxies(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	conn := dial(t, listen(t, says(nil)).Addr())
	require.NotNil(t, conn)
	_, err := rest.NewDialer("no port").Dial(t.Context())
	var addr *net.AddrError
	require.ErrorAs(t, err, &addr)
}

func TestLinkIsClosedManyTimesWhileRequestsAreMade(t *testing.T) {
	t.Parallel()
	request := frame(t, wire.NewRequest(reading), &wire.Empty{})
	l := listen(t, says(&wire.Streams{}))
	for range 10 {
		conn := dial(t, l.Addr())
		enter(t, conn)
		var busy sync.WaitGroup
		answered := make(chan struct{}, 8)
		failed := make(chan error, cap(answered))
		for range cap(answered) {
			busy.Go(func() {
				_, err := conn.Do(t.Context(), request)
				answered <- struct{}{}
				for err == nil {
					_, err = conn.Do(t.Context(), request)
				}
				failed <- err
			})
		}
		for range cap(answered) {
			<-answered
		}
		for range 4 {
			busy.Go(func() { _ = conn.Close() })
		}
		busy.Wait()
		close(failed)
		for err := range failed {
			require.ErrorIs(t, err, transport.ErrClosed)
		}
	}
}

func TestRequestsBeyondTheLimitWaitForAPlace(t *testing.T) {
	t.Parallel()
	b := &backend{wait: true}
	conn := serve(t, b, rest.Limits(transport.Limits{MaxInFlight: 1}))
	request := frame(t, wire.NewRequest(reading), &wire.Empty{})
	failed := make(chan error)
	begin := func() context.CancelFunc {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := conn.Do(ctx, request)
			failed <- err
		}()
		return cancel
	}
	seen := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return len(b.requests()) == n }, 10*time.Second, time.Millisecond)
	}
	giveUp := begin()
	seen(1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := conn.Do(ctx, request)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, transport.Unsent(err), "it got no place")
	next := begin()
	giveUp()
	require.ErrorIs(t, <-failed, context.Canceled)
	seen(2)
	next()
	require.ErrorIs(t, <-failed, context.Canceled)
}

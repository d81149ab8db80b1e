package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wallclock"
)

// noteWaker is a step that is woken by hand and notes it.
type noteWaker struct {
	wake chan struct{}
	to   *[]string
}

func (w noteWaker) Wake() <-chan struct{} { return w.wake }

func (w noteWaker) Woken(context.Context) error {
	*w.to = append(*w.to, "woken")
	return nil
}

// noteTimer is a step that acts once at a time and notes it.
type noteTimer struct {
	at time.Time
	to *[]string
}

func (n *noteTimer) Deadline() (time.Time, bool) { return n.at, !n.at.IsZero() }

func (n *noteTimer) Expire(context.Context, time.Time) error {
	*n.to = append(*n.to, "expired")
	n.at = time.Time{}
	return nil
}

func TestBusyInputHoldsUpNeitherWakerNorTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		task := NewTask("busy", 8, wallclock.Clock{}, &Tally{})
		task.SetHead(noteHead{&got})
		waker := noteWaker{make(chan struct{}, 1), &got}
		task.SetWaker(waker)
		task.Add(&noteTimer{time.Now(), &got})
		link := task.Link(&Tally{})
		task.Seal()
		for _, text := range []string{"1", "2", "3"} {
			require.NoError(t, link.Send(t.Context(), note{text, &got}))
		}
		require.NoError(t, link.Control(t.Context(), Control{Kind: Marker, Number: 1, Last: true}))
		waker.wake <- struct{}{}
		require.NoError(t, task.Run(t.Context()))
		require.Equal(t, []string{"woken", "expired", "1", "2", "3", "marker"}, got)
	})
}

func TestTaskDoesWhatComesBeforeTheFirstItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		task := NewTask("early", 1, wallclock.Clock{}, &Tally{})
		task.SetHead(noteHead{&got})
		task.Before(func(context.Context) error { got = append(got, "before"); return nil })
		link := task.Link(&Tally{})
		task.Seal()
		require.NoError(t, link.Control(t.Context(), Control{Kind: Marker, Number: 1, Last: true}))
		require.NoError(t, task.Run(t.Context()))
		require.Equal(t, []string{"before", "marker"}, got)
	})
}

func TestTimersGoOnWhileATaskWaitsForAResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		task := NewTask("waits", 1, wallclock.Clock{}, &Tally{})
		task.Add(&noteTimer{time.Now().Add(time.Second), &got})
		ready := make(chan struct{}, 1)
		time.AfterFunc(2*time.Second, func() { ready <- struct{}{} })
		require.NoError(t, task.Await(t.Context(), ready))
		require.Equal(t, []string{"expired"}, got)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, task.Await(ctx, ready), context.Canceled)
	})
}

package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wallclock"
)

// note is a packet that notes that it was delivered.
type note struct {
	text string
	to   *[]string
}

func (n note) Deliver(context.Context, *Task) error {
	*n.to = append(*n.to, n.text)
	return nil
}

type noteHead struct{ to *[]string }

func (h noteHead) Control(_ context.Context, c Control) error {
	text := "end"
	if c.Kind == Marker {
		text = "marker"
	}
	*h.to = append(*h.to, text)
	return nil
}

// newNotes returns a task with two inputs that notes what comes, in channels of one batch.
func newNotes() (t *Task, a, b *Link, got *[]string) {
	got = new([]string)
	t = NewTask("notes", 1, wallclock.Clock{}, &Tally{})
	t.SetHead(noteHead{got})
	a, b = t.Link(&Tally{}), t.Link(&Tally{})
	t.Seal()
	return t, a, b, got
}

func TestInputThatDeliveredAMarkerIsHeldUntilTheOthersHave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		task, a, b, got := newNotes()
		done := make(chan error, 1)
		go func() { done <- task.Run(ctx) }()
		go func() {
			_ = a.Send(ctx, note{"a1", got})
			_ = a.Control(ctx, Control{Kind: Marker, Number: 1})
			_ = a.Send(ctx, note{"a2", got})
			_ = a.Control(ctx, Control{Kind: Marker, Number: 2, Last: true})
		}()
		synctest.Wait()
		require.Equal(t, []string{"a1"}, *got, "a2 waits for the marker on b")
		require.NoError(t, b.Send(ctx, note{"b1", got}))
		require.NoError(t, b.Control(ctx, Control{Kind: Marker, Number: 1}))
		synctest.Wait()
		require.Equal(t, []string{"a1", "b1", "marker", "a2"}, *got)
		require.NoError(t, b.Control(ctx, Control{Kind: Marker, Number: 2, Last: true}))
		require.NoError(t, <-done)
	})
}

func TestHeldInputGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, a, _, got := newNotes()
		cause := errors.New("stopped for the test")
		ctx, cancel := context.WithCancelCause(t.Context())
		require.NoError(t, a.Control(ctx, Control{Kind: Marker, Number: 1}))
		done := make(chan error, 1)
		go func() { done <- a.Send(ctx, note{"a1", got}) }()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-done, cause)
	})
}

func TestFullInboxIsBackpressureThatEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		task, a, _, got := newNotes()
		cause := errors.New("stopped for the test")
		ctx, cancel := context.WithCancelCause(t.Context())
		require.NoError(t, a.Send(ctx, note{"a1", got}))
		done := make(chan error, 1)
		go func() { done <- a.Send(ctx, note{"a2", got}) }()
		time.Sleep(time.Second)
		waiting, size := task.Queue()
		require.Equal(t, [2]int{1, 1}, [2]int{waiting, size})
		cancel(cause)
		require.ErrorIs(t, <-done, cause)
		require.EqualValues(t, time.Second, a.from.Blocked.Load())
	})
}

func TestEndPassesOnceAllInputsHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		task, a, b, got := newNotes()
		done := make(chan error, 1)
		go func() { done <- task.Run(ctx) }()
		require.NoError(t, a.Control(ctx, Control{Kind: End}))
		synctest.Wait()
		require.Empty(t, *got)
		require.NoError(t, b.Control(ctx, Control{Kind: End}))
		for _, l := range []*Link{a, b} {
			require.NoError(t, l.Control(ctx, Control{Kind: Marker, Number: 1, Last: true}))
		}
		require.NoError(t, <-done)
		require.Equal(t, []string{"end", "marker"}, *got)
	})
}

package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// failingSave is a store in which the disk is full.
func failingSave(context.Context, *checkpoint.Checkpoint) error {
	return errors.New("the disk is full")
}

func TestDrainOfAMarkerThatCannotBeStoredIsAnsweredWithTheCause(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(context.Context, *checkpoint.Checkpoint) error{
		"the disk is full": failingSave,
		"a bug":            func(context.Context, *checkpoint.Checkpoint) error { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				r.cfg.Save = save
				r.run(t)
				answers := make(chan error, 1)
				r.source.Drain(func(err error) { answers <- err })
				r.emit(t, "3")
				require.ErrorContains(t, <-answers, name, "and not nil, although the context of the run has not ended")
				require.ErrorContains(t, <-r.done, name)
				close(r.finished) // for the ticker
			})
		})
	}
}

func TestDrainAfterTheRunHasFailedIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := newRig(t, Config{})
		go func() { r.done <- r.CompleteMarkers(ctx) }()
		cause := errors.New("the sink failed")
		cancel(cause)
		require.ErrorIs(t, <-r.done, cause)
		var answer error
		r.source.Drain(func(err error) { answer = err })
		require.ErrorIs(t, answer, cause)
	})
}

// A partition that is being taken away cannot wait until a slow sink has acknowledged a marker of before.
func TestDrainIsLetInWhileSourcesPauseForAnOverdueMarker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Cadence: checkpoint.Cadence{Interval: time.Second, MaxOpen: 1}})
		sink := r.AddSink(SinkConfig{Name: "slow"})
		r.run(t)
		for range 2 {
			require.NoError(t, r.source.Admit(t.Context(), 1))
			r.source.Handed(1, 0)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		r.emit(t, "1")
		admitted := make(chan error, 1)
		go func() { admitted <- r.source.Admit(t.Context(), 1) }()
		synctest.Wait()
		require.Empty(t, admitted, "one marker is open and the next is due")
		require.NoError(t, r.source.Admit(t.Context(), 0))
		r.source.Drain(func(error) {})
		require.EqualValues(t, 2, r.emit(t, "2").Number)
		sink.Ack(1, nil)
		require.NoError(t, <-admitted)
		sink.Ack(2, nil)
		r.stop(t, sink)
	})
}

func TestWhatIsWithdrawnDoesNotCountAsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxInFlight: 3})
		other := r.AddSource(SourceConfig{Name: "other", Stop: func() {}})
		require.NoError(t, r.source.Admit(t.Context(), 3))
		admitted := make(chan error, 1)
		go func() { admitted <- other.Admit(t.Context(), 2) }()
		synctest.Wait()
		require.Empty(t, admitted)
		r.source.Withdraw(3)
		require.NoError(t, <-admitted)
	})
}

package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/stretchr/testify/require"
)

// rig is a coordinator with one source and sinks that a test plays by hand.
type rig struct {
	*Coordinator
	source    *Source
	log       []string // what happened, in order
	commitErr error
	done      chan error
}

func newRig(t *testing.T, cfg Config) *rig {
	r := &rig{done: make(chan error, 1)}
	cfg.Clock = wallclock.Clock{}
	if cfg.Cadence.Interval == 0 {
		cfg.Cadence.Interval = time.Second
	}
	if cfg.Cadence.MaxOpen == 0 {
		cfg.Cadence.MaxOpen = 2
	}
	cfg.Save = func(_ context.Context, c *checkpoint.Checkpoint) error {
		r.log = append(r.log, "save "+name(c.Number))
		return nil
	}
	cfg.Completed = func(c *checkpoint.Checkpoint) { r.log = append(r.log, "complete "+name(c.Number)) }
	cfg.Warn = func(string, ...any) {}
	r.Coordinator = NewCoordinator(cfg)
	r.source = r.AddSource(SourceConfig{
		Name: "in", Stop: func() {},
		Commit: func(_ context.Context, pos checkpoint.Position) error {
			if r.commitErr != nil {
				return r.commitErr
			}
			r.log = append(r.log, "commit "+string(pos["p"]))
			return nil
		},
	})
	return r
}

func name(n checkpoint.Number) string { return string('0' + byte(n)) }

func (r *rig) run(t *testing.T) {
	r.Start()
	go func() { r.done <- r.CompleteMarkers(t.Context()) }()
	go func() { _ = r.Tick(t.Context()) }()
}

// emit emits the next marker that the source is asked for, at a position.
func (r *rig) emit(t *testing.T, pos string) Control {
	c, err := r.source.Next(t.Context())
	require.NoError(t, err)
	r.source.Emitted(c.Number, checkpoint.Position{"p": []byte(pos)})
	return c
}

func (r *rig) stop(t *testing.T, sinks ...*Sink) {
	r.Stop()
	for {
		c := r.emit(t, "end")
		for _, s := range sinks {
			s.Ack(c.Number, nil)
		}
		if c.Last {
			break
		}
	}
	require.NoError(t, <-r.done)
}

func TestMarkerCompletesInOrderOnceEverybodyHasReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		a, b := r.AddSink(SinkConfig{Name: "a"}), r.AddSink(SinkConfig{Name: "b"})
		stage := r.AddStage("state")
		r.run(t)
		for i, pos := range []string{"10", "20"} {
			r.source.Handed(10, 0)
			time.Sleep(time.Second)
			synctest.Wait() // the timer goes off at the same moment
			require.EqualValues(t, i+1, r.emit(t, pos).Number)
		}
		for n := checkpoint.Number(2); n > 0; n-- { // 2 is ready before 1
			a.Ack(n, nil)
			b.Ack(n, nil)
			synctest.Wait()
			require.Empty(t, r.log, "the snapshots are missing")
		}
		r.Snapshot(2, stage, checkpoint.State{})
		synctest.Wait()
		require.Empty(t, r.log, "1 is not complete")
		require.Equal(t, []Party{{Kind: "stage", Name: "state"}}, r.Open()[0].Waiting)
		r.Snapshot(1, stage, checkpoint.State{})
		synctest.Wait()
		require.Equal(t, []string{"save 1", "commit 10", "complete 1", "save 2", "commit 20", "complete 2"}, r.log)
		r.Stop()
		c := r.emit(t, "20")
		r.Snapshot(c.Number, stage, checkpoint.State{})
		a.Ack(c.Number, nil)
		b.Ack(c.Number, nil)
		require.NoError(t, <-r.done)
	})
}

func TestSourcesPauseWhenAsManyMarkersAsMayBeAreOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Cadence: checkpoint.Cadence{Interval: time.Second, MaxOpen: 2}})
		sink := r.AddSink(SinkConfig{Name: "slow"})
		r.run(t)
		for range 2 {
			require.NoError(t, r.source.Admit(t.Context(), 1))
			r.source.Handed(1, 0)
			time.Sleep(time.Second)
			synctest.Wait() // the timer goes off at the same moment
			r.emit(t, "1")
		}
		require.NoError(t, r.source.Admit(t.Context(), 1), "two are open, and none is due")
		r.source.Handed(1, 0)
		time.Sleep(time.Second)
		synctest.Wait() // the timer goes off at the same moment
		admitted := make(chan error, 1)
		go func() { admitted <- r.source.Admit(t.Context(), 1) }()
		synctest.Wait()
		require.Empty(t, admitted, "a third is due")
		sink.Ack(1, nil)
		require.NoError(t, <-admitted)
		sink.Ack(2, nil)
		r.stop(t, sink)
	})
}

func TestInFlightLimitOpensAMarkerAndIsGivenBackWhenItCompletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxInFlight: 3, Cadence: checkpoint.Cadence{Interval: time.Hour, MaxOpen: 4}})
		sink := r.AddSink(SinkConfig{Name: "sink"})
		r.run(t)
		require.NoError(t, r.source.Admit(t.Context(), 2))
		r.source.Handed(2, 0)
		admitted := make(chan error, 1)
		go func() { admitted <- r.source.Admit(t.Context(), 2) }()
		c := r.emit(t, "2")
		synctest.Wait()
		require.Empty(t, admitted)
		sink.Ack(c.Number, nil)
		require.NoError(t, <-admitted)
		r.source.Handed(2, 0)
		r.stop(t, sink)
	})
}

// What was dropped because its partition was given up takes no room for ever.
func TestDroppedRecordsAreNotInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxInFlight: 3, Cadence: checkpoint.Cadence{Interval: time.Hour, MaxOpen: 4}})
		r.run(t)
		for range 3 {
			require.NoError(t, r.source.Admit(t.Context(), 3))
			r.source.Handed(0, 3)
		}
		r.stop(t)
	})
}

func TestFetchAboveTheInFlightLimitIsLetInAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxInFlight: 3})
		r.run(t)
		require.NoError(t, r.source.Admit(t.Context(), 50))
		r.source.Handed(50, 0)
		r.stop(t)
	})
}

func TestFailedCommitIsTriedAgainWithTheNextMarkerAndFailsTheLast(t *testing.T) {
	t.Parallel()
	for name, recovers := range map[string]bool{"it recovers": true, "it never does": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				r.commitErr = errors.New("the group is rebalancing")
				r.run(t)
				r.source.Handed(1, 0)
				time.Sleep(time.Second)
				synctest.Wait() // the timer goes off at the same moment
				r.emit(t, "1")
				synctest.Wait()
				require.Equal(t, []string{"save 1", "complete 1"}, r.log)
				if recovers {
					r.commitErr = nil
				}
				r.Stop()
				r.emit(t, "1")
				err := <-r.done
				if recovers {
					require.NoError(t, err)
					require.Contains(t, r.log, "commit 1")
					return
				}
				require.ErrorContains(t, err, "in: commit: the group is rebalancing")
			})
		})
	}
}

func TestDeciderDecidesBeforeTheOthersCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		files := r.AddSink(SinkConfig{Name: "files", Waits: true})
		db := r.AddSink(SinkConfig{Name: "db", Waits: true, Decides: true})
		for _, s := range []*Sink{files, db} {
			go func() {
				c, err := s.Turn(t.Context())
				if err == nil {
					r.log = append(r.log, s.cfg.Name+" "+string(c.Sinks["files"]))
					s.Done(nil)
				}
			}()
		}
		r.run(t)
		r.Stop()
		c := r.emit(t, "7")
		files.Ack(c.Number, []byte("token"))
		synctest.Wait()
		require.Empty(t, r.log)
		db.Ack(c.Number, nil)
		require.NoError(t, <-r.done)
		require.Equal(t, []string{"save 1", "db token", "files token", "commit 7", "complete 1"}, r.log)
	})
}

func TestDrainIsAnsweredWhenItsMarkerIsCommittedOrCannotBe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := newRig(t, Config{})
		sink := r.AddSink(SinkConfig{Name: "sink"})
		r.Start()
		go func() { r.done <- r.CompleteMarkers(ctx) }()
		answers := make(chan error, 2)
		r.source.Drain(func(err error) { answers <- err })
		c := r.emit(t, "3")
		sink.Ack(c.Number, nil)
		require.NoError(t, <-answers)
		r.source.Drain(func(err error) { answers <- err })
		cause := errors.New("the sink failed")
		cancel(cause)
		require.ErrorIs(t, <-answers, cause)
		require.ErrorIs(t, <-r.done, cause)
	})
}

func TestRecordsBehindAMarkerThatTheCadenceAsksForWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{First: true, Cadence: checkpoint.Cadence{Interval: time.Hour, Records: 5, MaxOpen: 4}})
		r.run(t)
		admitted := make(chan error, 1)
		admit := func() { admitted <- r.source.Admit(t.Context(), 5) }
		go admit()
		synctest.Wait()
		require.Empty(t, admitted, "the first marker comes before the first record")
		r.emit(t, "0")
		require.NoError(t, <-admitted)
		r.source.Handed(5, 0)
		go admit()
		synctest.Wait()
		require.Empty(t, admitted, "after five records a marker is due")
		r.emit(t, "5")
		require.NoError(t, <-admitted)
		r.stop(t)
		require.ErrorIs(t, r.source.Admit(t.Context(), 1), ErrStopped)
	})
}

package sourcetest

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
)

// runs: a pipeline reads everything, and after a clean stop the next one has nothing to read.
func (s *suite[T]) runs(t *testing.T) {
	const n = 200
	sys := s.setup(t, n)
	store, probe := runneltest.NewStore(), runneltest.NewProbe[T]()
	run := func() *runneltest.Run {
		p := runnel.New("runs", runnel.MaxBatch(16), runnel.Checkpoint(store, checkpoint.EveryRecords(50)))
		runnel.From(p, sys.Source(), runnel.Name(sourceName)).To(runneltest.HookSink(probe, atMost(n, probe.Len)))
		return runneltest.Start(t, p)
	}
	first := run()
	if s.f.Endless {
		probe.Await(t, n)
	}
	finish(t, first, s.f.Endless)
	if traits(sys.Source()).Replay || s.f.KeepsPosition {
		second := run()
		finish(t, second, s.f.Endless)
	}
	requireValues(t, sys, arrived(sys, probe.Values()))
}

// finish ends a run, which must not fail.
func finish(t *testing.T, run *runneltest.Run, endless bool) {
	t.Helper()
	if endless {
		run.RequestStop()
	}
	if err := run.Wait(); err != nil {
		t.Fatalf("Run: %v", err)
	}
}

// arrived makes the values of a sink comparable; their partitions do not matter.
func arrived[T any](sys System[T], values []T) []place {
	places := make([]place, len(values))
	for i, v := range values {
		places[i].value = sys.show(v)
	}
	return places
}

// survivesKills: whenever the process is killed, in the end every record is there once.
func (s *suite[T]) survivesKills(t *testing.T) {
	const n = 60
	probe := traits(s.setup(t, 0).Source())
	if !probe.Replay || probe.Moving {
		t.Skip("the source does not start at positions: its traits say so")
	}
	opts := []runneltest.CrashOption{runneltest.Most(25)}
	if s.f.CloseToKill {
		opts = append(opts, runneltest.ReleaseByClose())
	}
	every := 16
	if s.f.Endless {
		every = 1 // no record is left behind without a checkpoint
	}
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		sys := s.setup(t, n)
		store, out := runneltest.NewStore(), runneltest.NewTxSink[T]()
		m.Run(func(proc *runneltest.Process) *runnel.Pipeline {
			p := runnel.New("kills", runnel.MaxBatch(8),
				runnel.Checkpoint(runneltest.HookStore(store, proc.Hook), checkpoint.EveryRecords(every)),
				runnel.OnCheckpoint(func(checkpoint.Checkpoint) {
					if s.f.Endless && len(out.Committed()) >= n {
						proc.Stop()
					}
				}))
			src := runneltest.HookSource(sys.Source(), func(ctx context.Context, c runneltest.Call) error {
				if s.f.Endless && len(out.Committed()) >= n { // by the start: no checkpoint follows
					proc.Stop()
				}
				return proc.Hook(ctx, c)
			})
			enough := atMost(n, func() int { return len(out.Committed()) })
			runnel.From(p, src, runnel.Name(sourceName)).To(runneltest.HookSink(out, runneltest.Hooks(enough, proc.Hook)))
			return p
		})
		requireValues(t, sys, arrived(sys, out.Committed()))
	}, opts...)
}

// discard is a sink for a pipeline that fails to start.
type discard[T any] struct{}

// Open has nothing to open.
func (d discard[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) { return d, nil }

// Write drops.
func (discard[T]) Write(context.Context, runnel.Batch[T]) error { return nil }

// Flush has nothing to do.
func (discard[T]) Flush(context.Context) error { return nil }

// Close has nothing to do.
func (discard[T]) Close(context.Context) error { return nil }

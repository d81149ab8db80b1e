package runnel

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// Status is what a pipeline is doing at one moment.
type Status struct {
	// From is the checkpoint that the run, or its newest attempt, started from; 0 means the beginning.
	From checkpoint.Number
	// Checkpoint is the newest complete checkpoint.
	Checkpoint checkpoint.Number
	// Sources are in the order they were added.
	Sources []SourceStatus
	// Stages are in the order they were added. Merges are among them.
	Stages []StageStatus
	// Sinks are in the order they were added.
	Sinks []StageStatus
	// Open are the markers that are not complete, oldest first.
	Open []MarkerStatus
	// Stalled is what has been held for longer than [StallAfter].
	Stalled []Stall
}

// SourceStatus is what became of a source's records so far.
type SourceStatus struct {
	// Name is its name in the pipeline.
	Name string
	// Read counts the records read, those that could not be decoded included; Committed those before the newest
	// complete checkpoint; Abandoned those that were read and given up, to be read again.
	Read, Committed, Abandoned int64
	// Failed counts records that could not be decoded: Skipped, or sent to a dead-letter sink.
	Skipped, DeadLettered int64
	// Position is what was committed: per partition a token of the source.
	Position checkpoint.Position
	// Lag is, per partition, how much there is still to read; nil if the source does not know.
	Lag map[string]int64
}

// StageStatus is what became of the records of a stage or sink so far.
type StageStatus struct {
	// Name is its name in the pipeline.
	Name string
	// In counts records received, Out records emitted.
	In, Out int64
	// Filtered, Skipped, DeadLettered and Abandoned count input records that went no further; Held those that the
	// state stands for.
	Filtered, Skipped, DeadLettered, Abandoned, Held int64
	// Failed counts attempts that failed.
	Failed int64
	// Busy is the time spent working, in all goroutines of the stage's task; Blocked is the time spent waiting to hand
	// on. Both count for the first stage of a task.
	Busy, Blocked time.Duration
	// Queued and Queue are how many batches wait in front of the stage's task and how many fit; both 0 if it runs in
	// the task before it.
	Queued, Queue int
}

// MarkerStatus is a marker that is not complete.
type MarkerStatus struct {
	// Number is its number.
	Number checkpoint.Number
	// Opened is when it was opened.
	Opened time.Time
	// Waiting names the sources, stages and sinks that have not acknowledged it, as "sink out".
	Waiting []string
	// Holds has, per source that has passed it, the position that is committed once it completes.
	Holds map[string]checkpoint.Position
}

// Stall is something that has been held for long.
type Stall struct {
	// Kind is "source", "stage" or "sink"; Name is its name.
	Kind, Name string
	// Key is the key of the record that is being worked on, if the stage is keyed.
	Key string
	// Origin is where that record was read, if it is known.
	Origin Origin
	// Marker is the marker that waits for it; 0 if it is a record.
	Marker checkpoint.Number
	// Since is when it began.
	Since time.Time
}

// Status returns what the pipeline is doing. It may be called at any time, also before and after Run.
func (p *Pipeline) Status() Status {
	defer p.whole()()
	var s Status
	for _, n := range p.nodes {
		switch n.role {
		case engine.RoleSource:
			s.Sources = append(s.Sources, n.sourceStatus())
		case engine.RoleSink:
			s.Sinks = append(s.Sinks, n.stageStatus())
		default:
			s.Stages = append(s.Stages, n.stageStatus())
		}
	}
	a := p.current
	if a == nil || !a.running.Load() {
		return s
	}
	if a.from != nil {
		s.From = a.from.Number
	}
	s.Checkpoint = a.coordinator.Complete()
	for _, m := range a.coordinator.Open() {
		o := MarkerStatus{Number: m.Number, Opened: m.Opened, Holds: m.Holds}
		for _, w := range m.Waiting {
			o.Waiting = append(o.Waiting, w.String())
		}
		s.Open = append(s.Open, o)
	}
	s.Stalled = a.stalled()
	return s
}

func (n *node) sourceStatus() SourceStatus {
	t := n.tally
	s := SourceStatus{
		Name: n.name, Read: t.In.Load(), Abandoned: t.Abandoned.Load(),
		Skipped: t.Skipped.Load(), DeadLettered: t.DeadLettered.Load(),
	}
	s.Committed, s.Position = n.committedRecords()
	if lag := n.lag.Load(); lag != nil {
		// A reader that panics is taken for one that does not know: who asks for the status is not at fault.
		_ = protect(n.name, Origin{}, func() error {
			s.Lag = (*lag)()
			return nil
		})
	}
	return s
}

func (n *node) stageStatus() StageStatus {
	t := n.tally
	s := StageStatus{
		Name: n.name, In: t.In.Load(), Out: t.Out.Load(), Filtered: t.Filtered.Load(), Skipped: t.Skipped.Load(),
		DeadLettered: t.DeadLettered.Load(), Abandoned: t.Revoked.Load(), Held: t.Held.Load(), Failed: t.Failed.Load(),
		Busy: time.Duration(t.Busy.Load()), Blocked: time.Duration(t.Blocked.Load()),
	}
	if tasks := n.tasks.Load(); tasks != nil {
		for _, task := range *tasks {
			queued, size := task.Queue()
			s.Queued, s.Queue = s.Queued+queued, s.Queue+size
		}
	}
	return s
}

// stalled returns what has been held for longer than the pipeline's limit.
func (a *attempt) stalled() []Stall {
	after, now := a.p.cfg.stallAfter, a.p.cfg.clock.Now()
	if after <= 0 {
		return nil
	}
	var all []Stall
	for _, m := range a.coordinator.Open() {
		if now.Sub(m.Opened) < after {
			continue
		}
		for _, w := range m.Waiting {
			all = append(all, Stall{Kind: w.Kind, Name: w.Name, Marker: m.Number, Since: m.Opened})
		}
	}
	for _, f := range a.watches {
		all = append(all, f(now, after)...)
	}
	return all
}

// watchStalls logs what is held for long, each thing once.
func (a *attempt) watchStalls(ctx context.Context) error {
	every := a.p.cfg.stallAfter
	if every <= 0 {
		return nil
	}
	told := make(map[Stall]bool)
	for {
		due, stop := a.p.cfg.clock.After(every)
		select {
		case <-due:
		case <-a.coordinator.Finished():
			stop()
			return nil
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
		now := make(map[Stall]bool)
		for _, s := range a.stalled() {
			now[s] = true
			if !told[s] {
				a.p.cfg.log.Warn("held for long", s.Kind, s.Name, "key", s.Key, "at", s.Origin.String(),
					"marker", s.Marker, "since", s.Since)
			}
		}
		told = now
	}
}

// Package engine has what a running pipeline needs and what knows no type of record: the coordinator that opens and
// completes markers, the alignment of inputs, the loop of a task, the planner, and the counts of the ledger.
package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// ErrStopped tells a source that nothing more is wanted of it.
var ErrStopped = errors.New("stopped")

// fullEvery is how many snapshots follow each other as changes before all state is written again: restoring reads that
// many at most, and a chain is pruned as a whole.
const fullEvery = 16

// Config is what a coordinator goes by.
type Config struct {
	// Pipeline is the name of the pipeline.
	Pipeline string
	// Shape is what its checkpoints are bound to.
	Shape []string
	// From is the checkpoint the attempt starts from.
	From checkpoint.Number
	// First asks for a marker in front of the first record.
	First bool
	// Cadence says when a marker is due, and how many may be open.
	Cadence checkpoint.Cadence
	// MaxInFlight bounds the records not covered by a complete marker; 0 means no limit.
	MaxInFlight int
	// Clock is the pipeline's clock.
	Clock Clock
	// Save stores a checkpoint durably; nil if there is no store.
	Save func(ctx context.Context, c *checkpoint.Checkpoint) error
	// Completed is called for each checkpoint that is complete, in order.
	Completed func(c *checkpoint.Checkpoint)
	// Warn is told what is retried with the next marker.
	Warn func(msg string, args ...any)
}

// Coordinator opens markers, gathers what became of them, and completes them in order. It serves one attempt of a run.
type Coordinator struct {
	cfg      Config
	finished chan struct{} // closed when the last marker is complete

	mu      sync.Mutex
	changed chan struct{} // closed and replaced on every change that somebody may wait for; guarded by mu
	sources []*Source
	sinks   []*Sink
	parties []*Party

	newest   checkpoint.Number // newest marker opened; guarded by mu, like all below
	open     []*marker         // by number
	complete checkpoint.Number
	moved    bool  // something was handed on since the newest marker
	records  int   // how many records were
	overdue  bool  // a marker is due and as many as may be are open
	last     bool  // the last marker was opened
	admitted int64 // records let in, of all sources
	covered  int64 // records before the newest complete marker
	failed   error // why no marker completes any more
}

// NewCoordinator returns a coordinator; sources, stages and sinks are added before it runs.
func NewCoordinator(cfg Config) *Coordinator {
	return &Coordinator{
		cfg: cfg, newest: cfg.From, complete: cfg.From,
		finished: make(chan struct{}), changed: make(chan struct{}),
	}
}

// StartFrom changes the checkpoint that the attempt starts from, before anything runs.
func (c *Coordinator) StartFrom(n checkpoint.Number, first bool) {
	c.cfg.From, c.cfg.First = n, first
	c.newest, c.complete = n, n
}

// AddStage makes a stateful stage known, whose snapshot every marker waits for. A stage with several workers is added
// once for each.
func (c *Coordinator) AddStage(name string) *Party {
	p := &Party{Kind: "stage", Name: name}
	c.parties = append(c.parties, p)
	return p
}

// Start opens the first marker if one was asked for.
func (c *Coordinator) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg.First {
		c.openMarker(false)
		for _, s := range c.sources {
			s.must = c.newest
			if s.cfg.Chose {
				s.after = c.newest
			}
		}
	}
	if len(c.sources) == 0 {
		c.openLast()
	}
}

// Tick opens a marker whenever the interval has passed and something moved, until the last marker is complete.
func (c *Coordinator) Tick(ctx context.Context) error {
	for {
		due, stop := c.cfg.Clock.After(c.cfg.Cadence.Interval)
		select {
		case <-due:
			c.mu.Lock()
			c.due()
			c.mu.Unlock()
		case <-c.finished:
			stop()
			return nil
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

// Stop opens the last marker: sources hand on nothing more, and what they handed on is drained and committed.
func (c *Coordinator) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openLast()
}

// Finished returns a channel that is closed when the last marker is complete.
func (c *Coordinator) Finished() <-chan struct{} { return c.finished }

// due opens a marker if something moved, or notes that sources have to wait for one to complete first.
func (c *Coordinator) due() {
	switch {
	case c.last || !c.moved:
	case len(c.open) >= c.cfg.Cadence.MaxOpen:
		c.overdue = true
	default:
		c.openMarker(false)
	}
}

func (c *Coordinator) openLast() {
	if c.last {
		return
	}
	c.last = true
	c.openMarker(true)
	for _, s := range c.sources {
		s.stop()
	}
}

// openMarker opens the next marker and asks every source for it.
func (c *Coordinator) openMarker(last bool) *marker {
	c.newest++
	c.moved, c.records, c.overdue = false, 0, false
	now := c.cfg.Clock.Now()
	m := &marker{
		control: Control{
			Kind: Marker, Number: c.newest, Last: last,
			Full: (c.newest-c.cfg.From)%fullEvery == 1,
		},
		opened:    now,
		waiting:   make(map[*Party]struct{}, len(c.parties)),
		positions: make(map[*Source]checkpoint.Position, len(c.sources)),
		handed:    make(map[*Source]int64, len(c.sources)),
		checkpoint: &checkpoint.Checkpoint{
			Pipeline: c.cfg.Pipeline, Number: c.newest, Taken: now, Shape: c.cfg.Shape,
			Sources: make(map[string]checkpoint.Position), Sinks: make(map[string][]byte),
			States: make(map[string]checkpoint.State),
		},
	}
	for _, p := range c.parties {
		m.waiting[p] = struct{}{}
	}
	c.open = append(c.open, m)
	for _, s := range c.sources {
		s.requests = append(s.requests, m.control)
	}
	c.broadcast()
	return m
}

// find returns an open marker.
func (c *Coordinator) find(n checkpoint.Number) *marker {
	for _, m := range c.open {
		if m.control.Number == n {
			return m
		}
	}
	return nil
}

// arrived notes that a party has done its part of marker n. Invariant 1: n is decided only after all have.
func (c *Coordinator) arrived(n checkpoint.Number, p *Party, add func(m *marker)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.find(n)
	if m == nil {
		return
	}
	if add != nil {
		add(m)
	}
	delete(m.waiting, p)
	if m.ready() {
		c.broadcast()
	}
}

// Snapshot takes the state of a stage's worker as it is behind marker n.
func (c *Coordinator) Snapshot(n checkpoint.Number, p *Party, s checkpoint.State) {
	c.arrived(n, p, func(m *marker) { m.addState(p.Name, s) })
}

// broadcast wakes everybody who waits for a change. The lock is held.
func (c *Coordinator) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// wait gives the lock up until something has changed, or ctx ends.
func (c *Coordinator) wait(ctx context.Context) error {
	changed := c.changed
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// OpenMarker is what is known of a marker that is not complete.
type OpenMarker struct {
	// Number is its number.
	Number checkpoint.Number
	// Opened is when it was opened.
	Opened time.Time
	// Waiting are those who have not reported on it.
	Waiting []Party
	// Holds has the position of each source that has passed the marker.
	Holds map[string]checkpoint.Position
}

// Open returns the markers that are not complete, oldest first.
func (c *Coordinator) Open() []OpenMarker {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := make([]OpenMarker, 0, len(c.open))
	for _, m := range c.open {
		o := OpenMarker{Number: m.control.Number, Opened: m.opened, Holds: make(map[string]checkpoint.Position)}
		for _, p := range c.parties {
			if _, ok := m.waiting[p]; ok {
				o.Waiting = append(o.Waiting, *p)
			}
		}
		for s, pos := range m.positions {
			o.Holds[s.party.Name] = pos
		}
		open = append(open, o)
	}
	return open
}

// InFlight returns how many records were handed on behind the newest complete marker.
func (c *Coordinator) InFlight() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.admitted - c.covered
}

// Complete returns the number of the newest complete marker.
func (c *Coordinator) Complete() checkpoint.Number {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.complete
}

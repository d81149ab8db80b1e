package engine

import (
	"context"
	"slices"

	"github.com/runnel-go/runnel/checkpoint"
)

// SourceConfig is what a coordinator knows of a source.
type SourceConfig struct {
	// Name is its name in the pipeline.
	Name string
	// Moving says that its own system keeps the positions, and the store none.
	Moving bool
	// Chose says that the source chose where to begin: a first marker that is asked for is complete before it hands
	// anything on.
	Chose bool
	// Commit tells the source's system that everything before a position is done.
	Commit func(ctx context.Context, pos checkpoint.Position) error
	// Stop makes a read that waits return. It may be called more than once and returns at once.
	Stop func()
}

// Source is a source as the coordinator sees it. Its fields are guarded by the coordinator's lock.
type Source struct {
	c        *Coordinator
	party    *Party
	cfg      SourceConfig
	requests []Control         // markers to emit
	must     checkpoint.Number // a marker that comes before the next record
	after    checkpoint.Number // a marker that is complete before the next record
	emitted  checkpoint.Number
	handed   int64 // records handed on
	ended    bool

	committed int64               // records before the newest complete marker
	position  checkpoint.Position // that was committed
}

// AddSource makes a source known. It is called before the coordinator starts.
func (c *Coordinator) AddSource(cfg SourceConfig) *Source {
	s := &Source{c: c, cfg: cfg, party: &Party{Kind: "source", Name: cfg.Name}}
	c.sources = append(c.sources, s)
	c.parties = append(c.parties, s.party)
	return s
}

func (s *Source) stop() { s.cfg.Stop() }

// Admit waits until n more records may be handed on. It returns ErrStopped when nothing more is wanted.
func (s *Source) Admit(ctx context.Context, n int) error {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.last:
			return ErrStopped
		case s.admits(n):
			c.admitted += int64(n)
			return nil
		}
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
}

// admits says whether n records may be handed on, and opens a marker if the in-flight limit is what holds them. What
// has no record does not wait for an overdue marker: it may ask for a drain, which may open one more than others may.
func (s *Source) admits(n int) bool {
	c := s.c
	if s.emitted < s.must || c.complete < s.after || (c.overdue && n > 0) {
		return false
	}
	inFlight := c.admitted - c.covered
	if c.cfg.MaxInFlight == 0 || inFlight == 0 || inFlight+int64(n) <= int64(c.cfg.MaxInFlight) {
		return true
	}
	if c.moved && len(c.open) < c.cfg.Cadence.MaxOpen {
		c.openMarker(false)
	}
	return false
}

// Withdraw gives back what was admitted and is not handed on after all.
func (s *Source) Withdraw(n int) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admitted -= int64(n)
	c.broadcast()
}

// Handed notes that of the records admitted so many were handed on and so many dropped, or that the position moved
// without one. A marker that the cadence asks for comes before the next record.
func (s *Source) Handed(n, dropped int) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	s.handed += int64(n)
	c.admitted -= int64(dropped)
	c.moved = true
	c.records += n
	if every := c.cfg.Cadence.Records; every > 0 && c.records >= every {
		c.due()
		s.must = c.newest
	} else if c.cfg.MaxInFlight > 0 {
		c.broadcast()
	}
}

// Drain opens a marker that comes before the next record of this source, and has done called when it is committed or
// cannot be. The last marker serves as well, as the source has not emitted it yet.
func (s *Source) Drain(done func(error)) {
	if failed := s.drain(done); failed != nil {
		done(failed)
	}
}

// drain does so, and returns why no marker completes any more if that is so.
func (s *Source) drain(done func(error)) error {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if !c.last {
		c.openMarker(false)
	}
	m := c.find(c.newest)
	m.drains = append(m.drains, done)
	s.must = c.newest
	return nil
}

// Next waits for a marker that the source is to emit.
func (s *Source) Next(ctx context.Context) (Control, error) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(s.requests) == 0 {
		if err := c.wait(ctx); err != nil {
			return Control{}, err
		}
	}
	next := s.requests[0]
	s.requests = slices.Delete(s.requests, 0, 1)
	return next, nil
}

// Emitted reports the position of the source behind marker n.
func (s *Source) Emitted(n checkpoint.Number, pos checkpoint.Position) {
	c := s.c
	c.arrived(n, s.party, func(m *marker) {
		m.positions[s] = pos
		m.handed[s] = s.handed
		if !s.cfg.Moving && len(pos) > 0 {
			m.checkpoint.Sources[s.cfg.Name] = pos
		}
		s.emitted = n
		c.broadcast()
	})
}

// Finish ends the source because nobody reads it any more: it emits the end, and no record before that.
func (s *Source) Finish() {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last || s.ended {
		return
	}
	s.requests = append(s.requests, Control{Kind: End})
	s.stop()
	c.broadcast()
}

// Ended reports that the source has nothing more; when none has, the last marker is opened.
func (s *Source) Ended() {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	s.ended = true
	if !slices.ContainsFunc(c.sources, func(s *Source) bool { return !s.ended }) {
		c.openLast()
	}
}

// Committed returns the number of records before the newest complete marker, and the position there.
func (s *Source) Committed() (int64, checkpoint.Position) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.committed, s.position
}

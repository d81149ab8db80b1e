package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/runnel-go/runnel/checkpoint"
	"golang.org/x/sync/errgroup"
)

// CompleteMarkers completes markers in order until the last. Invariant 1: nothing of a marker is published or
// committed before it is decided, and n only after n-1.
func (c *Coordinator) CompleteMarkers(ctx context.Context) error {
	for {
		m, err := c.oldestReady(ctx)
		if err == nil {
			err = Protect("checkpoints", func() error { return c.completeMarker(ctx, m) })
		}
		if err != nil {
			c.refuseDrains(err)
			return err
		}
		if m.control.Last {
			close(c.finished)
			return nil
		}
	}
}

// oldestReady waits until everybody has reported on the oldest open marker.
func (c *Coordinator) oldestReady(ctx context.Context) (*marker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) == 0 || !c.open[0].ready() {
		if err := c.wait(ctx); err != nil {
			return nil, err
		}
	}
	return c.open[0], nil
}

// completeMarker stores, decides, publishes and commits, in that order.
func (c *Coordinator) completeMarker(ctx context.Context, m *marker) error {
	n := m.control.Number
	if c.cfg.Save != nil {
		if err := c.cfg.Save(ctx, m.checkpoint); err != nil {
			return fmt.Errorf("checkpoint %d: %w", n, err)
		}
	}
	for _, decider := range [...]bool{true, false} {
		for _, s := range c.sinks {
			if !s.cfg.Waits || s.cfg.Decides != decider {
				continue
			}
			if err := s.takeTurn(ctx, m.checkpoint); err != nil {
				return err
			}
		}
	}
	refused, failed := c.commitSources(ctx, m)
	if failed != nil && m.control.Last {
		return failed
	}
	commitErr := errors.Join(failed, refused)
	c.mu.Lock()
	c.advance(m)
	c.mu.Unlock()
	for _, done := range m.drains {
		done(commitErr)
	}
	if c.cfg.Completed != nil {
		c.cfg.Completed(m.checkpoint)
	}
	return nil
}

// ErrNotOwned is the error of a commit for a partition that the source has lost: who has it now reads on from the commit
// before, so nothing is lost.
var ErrNotOwned = errors.New("runnel: partition is not owned any more")

// commitSources tells all sources at once which partitions have moved. What fails is tried again with the next marker,
// whose position covers it; what is refused because its partition was lost is not.
func (c *Coordinator) commitSources(ctx context.Context, m *marker) (refused, failed error) {
	var group errgroup.Group
	for s, pos := range m.positions {
		moved := movedSince(s.position, pos)
		if len(moved) == 0 {
			continue
		}
		group.Go(func() error {
			err := Protect(s.cfg.Name, func() error { return s.cfg.Commit(ctx, moved) })
			if err != nil {
				c.cfg.Warn("the commit of a source failed", "source", s.cfg.Name, "checkpoint", m.control.Number, "err", err)
				err = fmt.Errorf("%s: commit: %w", s.cfg.Name, err)
			}
			if err != nil && !notOwned(err) {
				return err
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			s.position = pos
			refused = errors.Join(refused, err)
			return nil
		})
	}
	failed = group.Wait()
	return refused, failed
}

// notOwned says whether an error is of nothing but partitions that were lost.
func notOwned(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return notOwned(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !notOwned(err) })
	}
	return err == ErrNotOwned //nolint:errorlint // what is wrapped is looked at above
}

// movedSince returns the part of a position that was not committed yet. A partition that rests is left out: it may have
// been given up since, and then must not be committed again.
func movedSince(committed, pos checkpoint.Position) checkpoint.Position {
	moved := make(checkpoint.Position)
	for partition, token := range pos {
		if string(committed[partition]) != string(token) {
			moved[partition] = token
		}
	}
	return moved
}

// advance takes a complete marker away, and lets in what waited for that.
func (c *Coordinator) advance(m *marker) {
	c.open = c.open[1:]
	c.complete = m.control.Number
	c.covered = 0
	for s, handed := range m.handed {
		s.committed = handed
		c.covered += handed
	}
	if c.overdue {
		c.overdue = false
		c.due()
	}
	c.broadcast()
}

// refuseDrains answers the drains of markers that will not complete, those to come included.
func (c *Coordinator) refuseDrains(cause error) {
	c.mu.Lock()
	c.failed = cause
	var drains []func(error)
	for _, m := range c.open {
		drains = append(drains, m.drains...)
	}
	c.mu.Unlock()
	for _, done := range drains {
		done(cause)
	}
}

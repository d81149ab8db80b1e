package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory returns a store that keeps checkpoints in the process, for as long as the store itself is kept: a later Open
// of the same store finds what an earlier run saved. Like [Dir] it belongs to one pipeline, leases itself to one run
// at a time, and keeps the two newest chains and at least three checkpoints. It is not durable.
func Memory() Store { return &memoryStore{} }

type memoryStore struct {
	mu    sync.Mutex
	saved []memorySaved // guarded by mu; ascending
	owner string        // guarded by mu; the pipeline that holds the lease
	since time.Time     // guarded by mu; zero while the lease is free
}

// memorySaved is a checkpoint and its place.
type memorySaved struct {
	link
	c *Checkpoint
}

func (s *memoryStore) Durable() bool { return false }

// Open takes the lease.
func (s *memoryStore) Open(ctx context.Context, pipeline string) (Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() {
		return nil, fmt.Errorf("%w: memory is held by pipeline %s of this process since %s", ErrInUse,
			s.owner, s.since.Format(time.RFC3339))
	}
	if len(s.saved) > 0 && s.saved[0].c.Pipeline != pipeline {
		return nil, fmt.Errorf("%w: memory holds checkpoints of %q, not of %q", ErrOtherPipeline,
			s.saved[0].c.Pipeline, pipeline)
	}
	s.owner, s.since = pipeline, time.Now()
	return &memoryLog{store: s, pipeline: pipeline}, nil
}

// memoryLog is a memory in the hands of one run.
type memoryLog struct {
	store    *memoryStore
	pipeline string
	closed   bool // guarded by store.mu
}

func (l *memoryLog) usable(ctx context.Context) error {
	if l.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// Load returns n, or the newest, put together from its chain.
func (l *memoryLog) Load(ctx context.Context, n Number) (*Checkpoint, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	saved := l.store.saved
	if n == 0 {
		n = l.store.newest().number
	}
	last, ok := l.store.find(n)
	if !ok {
		return nil, fmt.Errorf("%w: %d in memory", ErrNotFound, n)
	}
	first, _ := l.store.find(saved[last].base)
	var c Checkpoint
	for _, s := range saved[first : last+1] {
		next := copyOf(s.c)
		next.States = merged(c.States, next.States)
		c = *next
	}
	return &c, nil
}

// Save keeps a copy of c, which shares tokens and values.
func (l *memoryLog) Save(ctx context.Context, c *Checkpoint) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	at, err := c.place(l.pipeline, l.store.newest(), l.store.states)
	if err != nil {
		return err
	}
	l.store.saved = append(l.store.saved, memorySaved{at, copyOf(c)})
	l.store.prune()
	return nil
}

// Rewind drops what was saved after n.
func (l *memoryLog) Rewind(ctx context.Context, n Number) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	i, ok := l.store.find(n)
	switch {
	case n == 0:
		l.store.saved = nil
	case !ok:
		return fmt.Errorf("%w: %d in memory", ErrNotFound, n)
	default:
		l.store.saved = slices.Delete(l.store.saved, i+1, len(l.store.saved))
	}
	return nil
}

// Close gives the lease back.
func (l *memoryLog) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.store.owner, l.store.since = "", time.Time{}
	}
	return nil
}

func (s *memoryStore) newest() link {
	if len(s.saved) == 0 {
		return link{}
	}
	return s.saved[len(s.saved)-1].link
}

func (s *memoryStore) find(n Number) (int, bool) {
	return slices.BinarySearchFunc(s.saved, n, func(m memorySaved, n Number) int { return cmp.Compare(m.number, n) })
}

// states returns the stages of which the newest checkpoint holds states.
func (s *memoryStore) states() (map[string]bool, error) {
	if len(s.saved) == 0 {
		return nil, nil
	}
	return stateNames(s.saved[len(s.saved)-1].c.States), nil
}

func (s *memoryStore) prune() {
	links := make([]link, len(s.saved))
	for i, m := range s.saved {
		links[i] = m.link
	}
	s.saved = slices.Delete(s.saved, 0, prunable(links))
}

// copyOf returns a copy of c that shares what nobody changes: tokens and values, not maps and lists.
func copyOf(c *Checkpoint) *Checkpoint {
	next := *c
	next.Shape = slices.Clone(c.Shape)
	next.Sources = maps.Clone(c.Sources)
	for name, p := range next.Sources {
		next.Sources[name] = p.Clone()
	}
	next.Sinks = maps.Clone(c.Sinks)
	next.States = maps.Clone(c.States)
	for name, s := range next.States {
		s.Put, s.Deleted = maps.Clone(s.Put), slices.Clone(s.Deleted)
		next.States[name] = s
	}
	return &next
}

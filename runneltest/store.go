package runneltest

import (
	"context"
	"slices"
	"sync"

	"github.com/runnel-go/runnel/checkpoint"
)

// Store is a checkpoint store whose disk is the memory of the test: it says that it is durable, and the runs of one
// test find in it what the runs before have saved. Make it with [NewStore]. It is safe for concurrent use.
type Store struct {
	checkpoint.Store

	mu    sync.Mutex
	saved []checkpoint.Checkpoint // guarded by mu
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{Store: checkpoint.Memory()} }

// Durable says that what was saved outlives a run.
func (s *Store) Durable() bool { return true }

// Saved returns every checkpoint that was saved, in the order of time, as it was given to the store: states may hold
// only what changed.
func (s *Store) Saved() []checkpoint.Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.saved)
}

// Newest returns the checkpoint that was saved last; the zero value if none was.
func (s *Store) Newest() checkpoint.Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.saved) == 0 {
		return checkpoint.Checkpoint{}
	}
	return s.saved[len(s.saved)-1]
}

// Open takes the lease.
func (s *Store) Open(ctx context.Context, pipeline string) (checkpoint.Log, error) {
	log, err := s.Store.Open(ctx, pipeline)
	if err != nil {
		return nil, err
	}
	return &storeLog{log, s}, nil
}

type storeLog struct {
	checkpoint.Log
	s *Store
}

// Save saves.
func (l *storeLog) Save(ctx context.Context, c *checkpoint.Checkpoint) error {
	if err := l.Log.Save(ctx, c); err != nil {
		return err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.saved = append(l.s.saved, *c)
	return nil
}

package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// laneKind is a kind of lane.
type laneKind uint8

const (
	metadataLane  laneKind = iota // every change of metadata
	partitionLane                 // sends to a partition, offsets stored for it and deleted
	progressLane                  // offsets of a partition, and reads that store or look at them
)

// laneKey names a lane. Incarnations are one for each life of a partition.
type laneKey struct {
	kind        laneKind
	incarnation uint64
	partition   uint32
}

// blockedError says that an operation with an uncertain outcome is in the way.
type blockedError struct {
	operation uint64
	key       laneKey
}

func (e *blockedError) Error() string { return fmt.Sprintf("operation %d is in the way", e.operation) }

// lanes let one operation at a time into each lane, in the order they came. A lane that is blocked lets nobody in.
type lanes struct {
	mu    sync.Mutex
	lanes map[laneKey]*lane // those that are held or blocked; guarded by mu
}

// lane is held by one operation, or else blocked by one.
type lane struct {
	blocked uint64        // the operation that blocks it; 0 for none
	queue   []chan uint64 // those that wait: each gets 0 when the lane is its, or what blocks it
}

func (s *lanes) init() { s.lanes = map[laneKey]*lane{} }

// take enters lanes in their order, all or none. The error is a [blockedError], or the cause of ctx.
func (s *lanes) take(ctx context.Context, keys []laneKey) error {
	for i, key := range keys {
		if err := s.enter(ctx, key); err != nil {
			s.give(keys[:i])
			return err
		}
	}
	return nil
}

func (s *lanes) enter(ctx context.Context, key laneKey) error {
	s.mu.Lock()
	l := s.lanes[key]
	if l == nil {
		s.lanes[key] = &lane{}
		s.mu.Unlock()
		return nil
	}
	if l.blocked != 0 {
		defer s.mu.Unlock()
		return &blockedError{operation: l.blocked, key: key}
	}
	turn := make(chan uint64, 1)
	l.queue = append(l.queue, turn)
	s.mu.Unlock()
	select {
	case by := <-turn:
		return blockedBy(by, key)
	case <-ctx.Done():
	}
	if by, came := s.withdraw(l, turn); came {
		if by == 0 {
			s.give([]laneKey{key})
		}
		return context.Cause(ctx)
	}
	return context.Cause(ctx)
}

func blockedBy(operation uint64, key laneKey) error {
	if operation == 0 {
		return nil
	}
	return &blockedError{operation: operation, key: key}
}

// withdraw takes who waits out of the queue. If its turn came meanwhile, came is true.
func (s *lanes) withdraw(l *lane, turn chan uint64) (by uint64, came bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(l.queue, turn); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		return 0, false
	}
	return <-turn, true
}

// give leaves lanes: the next ones enter.
func (s *lanes) give(keys []laneKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Backward(keys) {
		l := s.lanes[key]
		if len(l.queue) == 0 {
			delete(s.lanes, key)
			continue
		}
		next := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		next <- 0
	}
}

// block makes lanes that are held blocked by an operation.
func (s *lanes) block(keys []laneKey, operation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		l := s.lanes[key]
		l.blocked = operation
		for _, turn := range l.queue {
			turn <- operation
		}
		l.queue = nil
	}
}

// unblock frees the lanes that an operation blocks, and says whether there were any.
func (s *lanes) unblock(operation uint64) bool {
	if operation == 0 { // what a lane has that is held, and not blocked
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for key, l := range s.lanes {
		if l.blocked == operation {
			delete(s.lanes, key)
			found = true
		}
	}
	return found
}

package engine

import (
	"fmt"

	"github.com/runnel-go/runnel/checkpoint"
)

// Tracker follows the position of one source. It has no lock.
//
// Invariant 8: a position never goes back by accident, and is never replaced by an empty one.
type Tracker struct {
	position checkpoint.Position
	compare  func(partition string, a, b []byte) int // nil: tokens cannot be compared
}

// NewTracker returns a tracker that starts at from.
func NewTracker(from checkpoint.Position, compare func(partition string, a, b []byte) int) *Tracker {
	return &Tracker{position: from.Clone(), compare: compare}
}

// Advance takes over the tokens of the partitions that moved, and drops those whose token is nil.
func (t *Tracker) Advance(moved checkpoint.Position) error {
	for partition, token := range moved {
		if token == nil {
			continue
		}
		if len(token) == 0 {
			return fmt.Errorf("the position of partition %q is empty", partition)
		}
		if former := t.position[partition]; former != nil && t.compare != nil && t.compare(partition, token, former) < 0 {
			return fmt.Errorf("the position of partition %q goes back", partition)
		}
	}
	if t.position == nil {
		t.position = make(checkpoint.Position, len(moved))
	}
	for partition, token := range moved {
		if token == nil {
			delete(t.position, partition)
		} else {
			t.position[partition] = token
		}
	}
	return nil
}

// Position returns the position as it is now.
func (t *Tracker) Position() checkpoint.Position { return t.position.Clone() }

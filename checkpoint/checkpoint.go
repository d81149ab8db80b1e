// Package checkpoint holds what a completed marker stands for, says when one is due, and stores it.
//
// A [Checkpoint] joins the positions of all sources, the state of all stateful stages and the tokens of
// transactional writers. A [Store] keeps checkpoints durably; [Memory] and [Dir] are the two that need no server.
package checkpoint

import (
	"maps"
	"time"
)

// Number numbers markers and the checkpoints they become. The first is 1; 0 means none.
type Number uint64

// Position says, per partition, what a source reads next: an opaque, versioned token of the source, never the last
// thing read. A nil Position means that nothing is known.
type Position map[string][]byte

// Clone returns a copy that shares the tokens, which nobody changes.
func (p Position) Clone() Position { return maps.Clone(p) }

// Checkpoint is what a completed marker stands for.
type Checkpoint struct {
	// Pipeline is the name of the pipeline that took it.
	Pipeline string
	// Number is the number of its marker.
	Number Number
	// Taken is when its marker was opened.
	Taken time.Time
	// Shape lists, sorted, the parts of the graph that the checkpoint is bound to, each as "kind name"
	// (for example "source flights", "stage take-1", "sink out").
	Shape []string
	// Sources has the position of each source by its name.
	Sources map[string]Position
	// Sinks has the token that each transactional writer prepared, by the name of its sink.
	Sinks map[string][]byte
	// States has the snapshot of each stateful stage by its name. A loaded checkpoint has full states only.
	States map[string]State
}

// State is the snapshot of one stage: all its entries, or the changes since the checkpoint before.
type State struct {
	// Full says that Put holds every entry. Otherwise Put and Deleted are changes to the state of the checkpoint before.
	Full bool
	// Put has the entries set, by key.
	Put map[string][]byte
	// Deleted has the keys removed; empty in a full state.
	Deleted []string
}

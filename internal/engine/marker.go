package engine

import (
	"maps"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// Party is a source, stateful stage or sink that a marker waits for.
type Party struct {
	// Kind is "source", "stage" or "sink".
	Kind string
	// Name is its name in the pipeline.
	Name string
}

// String returns kind and name, as "sink out".
func (p Party) String() string { return p.Kind + " " + p.Name }

// marker is a marker that is not complete. It is guarded by the coordinator's lock.
type marker struct {
	control    Control
	opened     time.Time
	waiting    map[*Party]struct{}
	checkpoint *checkpoint.Checkpoint
	positions  map[*Source]checkpoint.Position
	handed     map[*Source]int64 // records handed on before it
	drains     []func(error)
}

// ready says that everybody has reported: what is left is to store, decide and commit.
func (m *marker) ready() bool { return len(m.waiting) == 0 }

// addState joins the snapshot of one worker with that of the others.
func (m *marker) addState(stage string, s checkpoint.State) {
	all, ok := m.checkpoint.States[stage]
	if !ok {
		m.checkpoint.States[stage] = s
		return
	}
	all.Full = all.Full && s.Full
	if all.Put == nil {
		all.Put = make(map[string][]byte, len(s.Put))
	}
	maps.Copy(all.Put, s.Put)
	all.Deleted = append(all.Deleted, s.Deleted...)
	m.checkpoint.States[stage] = all
}

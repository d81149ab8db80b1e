// Package runnel moves records from sources, through typed stages, into sinks, and loses none of them.
//
// A [Pipeline] is a graph of streams. A marker travels with the records; a source's position is committed only after
// every sink has acknowledged everything before it. So a crash at any moment loses nothing, a clean stop repeats
// nothing, and there is no commit code.
//
// Operators are in package flow, connectors below source and sink, stores for checkpoints in package checkpoint, and
// what helps to test a pipeline in package runneltest. [Source], [Sink] and [Apply] are for who adds to them.
package runnel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/internal/engine"
)

// Pipeline is a graph of sources, stages and sinks, and runs it once. Build it with [From], the operators of package
// flow and [Stream.To]; then call [Pipeline.Run]. Building never fails: mistakes are collected and returned by
// Validate and Run.
type Pipeline struct {
	name string
	cfg  config

	checking sync.Mutex // held while the graph is completed and checked; locked before mu
	mu       sync.Mutex
	nodes    []*node       // guarded by mu, like all below
	sinks    map[any]*node // by sink value
	mistakes []error
	started  bool
	stop     context.CancelCauseFunc // of the run; nil before it
	current  *attempt                // nil before the run
	aborted  bool

	progress atomic.Int64 // checkpoints completed
}

// New returns a pipeline without a graph. Its name binds checkpoints to it.
func New(name string, opts ...Option) *Pipeline {
	p := &Pipeline{name: name, cfg: defaultConfig(), sinks: make(map[any]*node)}
	for i, o := range opts {
		if o == nil {
			p.mistake("option %d is nil", i)
			continue
		}
		o.apply(&p.cfg)
	}
	return p
}

// add adds a node.
func (p *Pipeline) add(role engine.Role, kind string, opts []StageOption) *node {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &node{
		pipeline: p, id: len(p.nodes), kind: kind, role: role, cfg: newStageConfig(opts), tally: &engine.Tally{},
	}
	if n.kind == "" {
		n.kind = "stage"
	}
	n.name, n.stateful = n.cfg.name, n.cfg.stateful
	if p.started {
		p.mistakes = append(p.mistakes, fmt.Errorf("a %s was added after Run; the graph of a pipeline that runs does not change", kind))
		return n
	}
	p.nodes = append(p.nodes, n)
	return n
}

// describe asks a source or sink what it declares of itself.
func (n *node) describe(x any) {
	if isNil(x) {
		n.invalid = errors.New("is nil")
		return
	}
	n.invalid = protect(n.kind, Origin{}, func() error {
		if d, ok := x.(Describer); ok {
			n.traits = d.Describe()
		}
		if o, ok := x.(Overlapper); ok {
			n.overlaps = o.Overlaps
		}
		if v, ok := x.(Validator); ok {
			return v.Validate()
		}
		return nil
	})
	if n.traits.Kind != "" {
		n.kind = n.traits.Kind + "-" + n.kind // so that a source and a sink of one format differ
	}
}

func isNil(x any) bool {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return v.IsNil()
	}
	return false
}

// canBeKey says whether a sink can be told apart from others by its value.
func canBeKey(sink any) bool { return !isNil(sink) && reflect.ValueOf(sink).Comparable() }

// known returns the node of a sink that was used before.
func (p *Pipeline) known(sink any) (*node, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !canBeKey(sink) {
		return nil, false
	}
	n, ok := p.sinks[sink]
	return n, ok
}

func (p *Pipeline) remember(sink any, n *node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if canBeKey(sink) {
		p.sinks[sink] = n
	}
}

// reconfigure gives a sink its options if it has none yet.
func (p *Pipeline) reconfigure(n *node, opts []StageOption) {
	if n.cfg.given {
		p.mistake("sink %s gets options twice; give them at one place", n.label())
		return
	}
	n.cfg = newStageConfig(opts)
	n.name = n.cfg.name
}

// mistake notes a mistake in the graph.
func (p *Pipeline) mistake(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mistakes = append(p.mistakes, fmt.Errorf(format, args...))
}

// label names a node in messages.
func (n *node) label() string {
	if n.name != "" {
		return n.name
	}
	return n.kind
}

// Abort ends the run at once: nothing more is committed, and Run returns [ErrAborted] with what was not acknowledged.
// It may be called at any time and more than once; a pipeline that was aborted before it ran does not run.
func (p *Pipeline) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aborted = true
	if p.stop != nil {
		p.stop(ErrAborted)
	}
}

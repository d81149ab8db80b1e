package runnel

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// node is a source, stage or sink of a pipeline: what is known of it without its types.
type node struct {
	pipeline *Pipeline
	id       int
	kind     string
	name     string
	named    bool // by the user, or after a node that is
	role     engine.Role
	cfg      stageConfig
	keyed    bool // routes records by key
	stateful bool
	traits   Traits
	inputs   []*node // one for each input
	dead     *node   // where its dead letters go
	failing  []*node // whose dead letters come here
	outlets  []*outletInfo
	overlaps func(owned string) bool // of a source that knows; else nil
	invalid  error                   // a mistake in its own configuration
	typed    typedNode

	fused  bool                          // runs in the task of its input
	tally  *engine.Tally                 // of the run
	handle atomic.Pointer[engine.Source] // of the attempt

	calls     atomic.Int32        // that are under way, of stages and writers
	began     checkpoint.Position // of a source: where this run began
	committed atomic.Int64        // records committed by attempts before
	lag       atomic.Pointer[func() map[string]int64]
	tasks     atomic.Pointer[[]*engine.Task] // of the attempt
}

// typedNode is the part of a node that knows its types.
type typedNode interface {
	// reset forgets the attempt before.
	reset()
}

// opener is a node that connects to something outside.
type opener interface {
	open(ctx context.Context, a *attempt) error
}

// outletInfo is one output of a node.
type outletInfo struct {
	consumers int
	optional  bool // a second output that may be left unread
}

// workers returns how many goroutines of its own the node has; 0 if none.
func (n *node) workers() int {
	if n.role != engine.RoleStage || n.cfg.workers <= 1 {
		return 0
	}
	return n.cfg.workers
}

// sharded says that each worker has its own part of the keys and of the state.
func (n *node) sharded() bool { return n.workers() > 0 && n.keyed && n.stateful }

// copies returns how many tasks emit the output of the node.
func (n *node) copies() int {
	if n.sharded() {
		return n.workers()
	}
	return 1
}

// opensBy notes a mistake if there is no function that opens the stage.
func (n *node) opensBy(function bool) {
	if !function {
		n.invalid = errors.New("has no function that opens it")
	}
}

// above returns the nodes that the node reads from, directly or through others.
func (n *node) above() map[*node]bool {
	seen := make(map[*node]bool)
	var visit func(*node)
	visit = func(n *node) {
		for _, in := range slices.Concat(n.inputs, n.failing) {
			if !seen[in] {
				seen[in] = true
				visit(in)
			}
		}
	}
	visit(n)
	return seen
}

// planned returns the node as the planner sees it. Dead letters are left out: they keep no source running.
func (n *node) planned() engine.Node {
	p := engine.Node{Role: n.role, Workers: n.workers(), Copies: n.copies()}
	for _, in := range n.inputs {
		p.Inputs = append(p.Inputs, in.id)
	}
	for _, o := range n.outlets {
		p.Consumers += o.consumers
	}
	return p
}

// outlet is one output of a node, with who reads it.
type outlet[T any] struct {
	*outletInfo
	node      *node
	consumers []consumer[T]
}

// consumer is an input of a node.
type consumer[T any] interface {
	// receiver returns the way into the node for records of one task; in is that task, which the node may run in, and
	// nil for the goroutine of a source.
	receiver(a *attempt, in *engine.Task, from *engine.Tally) (receiver[T], error)
}

func newOutlet[T any](n *node) *outlet[T] {
	o := &outlet[T]{node: n, outletInfo: &outletInfo{}}
	n.outlets = append(n.outlets, o.outletInfo)
	return o
}

func (o *outlet[T]) add(c consumer[T]) {
	o.outletInfo.consumers++
	o.consumers = append(o.consumers, c)
}

// receiver returns the way to everybody who reads the output.
func (o *outlet[T]) receiver(a *attempt, in *engine.Task) (receiver[T], error) {
	var all []receiver[T]
	for _, c := range o.consumers {
		r, err := c.receiver(a, in, o.node.tally)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	switch len(all) {
	case 0:
		return unread[T]{}, nil
	case 1:
		return all[0], nil
	}
	return fan[T](all), nil
}

// fan hands everything to several receivers.
type fan[T any] []receiver[T]

func (f fan[T]) process(ctx context.Context, in Batch[T]) error {
	for _, r := range f {
		if err := r.process(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

func (f fan[T]) control(ctx context.Context, c engine.Control) error { return controlAll(ctx, f, c) }

// controller is a receiver of any type, as far as control items are concerned.
type controller interface {
	control(ctx context.Context, c engine.Control) error
}

// controls hands control items to receivers of any types.
type controls []controller

func (all controls) control(ctx context.Context, c engine.Control) error {
	return controlAll(ctx, all, c)
}

// controlAll hands a control item to every receiver, so that a marker comes to each branch before any later record.
func controlAll[R controller](ctx context.Context, all []R, c engine.Control) error {
	for _, r := range all {
		if err := r.control(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// unread is the end of an output that nobody reads.
type unread[T any] struct{}

func (unread[T]) process(context.Context, Batch[T]) error       { return nil }
func (unread[T]) control(context.Context, engine.Control) error { return nil }

// checkStage refuses a stage that cannot do what the graph was planned for.
func (n *node) checkStage(stage any) error {
	_, hasState := stage.(Snapshotter)
	switch {
	case isNil(stage):
		return errors.New("open returned no stage")
	case hasState && !n.stateful:
		return errors.New("it has state (a method Snapshot) and was not declared Stateful")
	}
	return nil
}

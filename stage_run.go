package runnel

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel/internal/engine"
)

// stageNode is a stage with one input and one output.
type stageNode[I, O any] struct {
	*node
	route func(I) uint64
	open  func(StageEnv) (Stage[I, O], error)
	out   *outlet[O]

	in port[I] // of the attempt
}

func (n *stageNode[I, O]) reset() { n.in = port[I]{} }

// receiver returns the stage itself if it runs in the task before it, else a channel to a task of its own.
func (n *stageNode[I, O]) receiver(a *attempt, in *engine.Task, from *engine.Tally) (receiver[I], error) {
	if n.fused {
		return n.start(a, in)
	}
	return n.in.edge(a, n.node, from, n.start)
}

func (n *stageNode[I, O]) start(a *attempt, in *engine.Task) (receiver[I], error) {
	return startStage(a, n.node, in, n.route, n.outputs, n.runner)
}

// outputs finds the ways out of the stage, for one task.
func (n *stageNode[I, O]) outputs(a *attempt, in *engine.Task) (outputs[O, none], error) {
	next, err := n.out.receiver(a, in)
	if err != nil {
		return outputs[O, none]{}, err
	}
	dead, err := a.deadLetters(n.node, in)
	return outputs[O, none]{next: next, side: unread[none]{}, dead: dead}, err
}

// runner opens one copy of the stage.
func (n *stageNode[I, O]) runner(a *attempt, worker int, to outputs[O, none]) (receiver[I], *stageCore, error) {
	stage, err := openStage(a, n.node, worker, n.open)
	if err != nil {
		return nil, nil, err
	}
	errs := a.policy(n.node, to.dead)
	r := &stageRunner[I, O]{stage: stage, out: newOut(to.next, a.p.cfg.maxBatch, n.tally, errs)}
	r.stageCore = newStageCore(a, n.node, stage, errs)
	r.begin, r.end, r.next = r.out.begin, r.out.end, to.controls()
	addTimed(r.stageCore, stage, r.out)
	return r, r.stageCore, nil
}

// stageRunner is a running copy of a stage.
type stageRunner[I, O any] struct {
	*stageCore
	stage Stage[I, O]
	out   *Out[O]
}

func (r *stageRunner[I, O]) process(ctx context.Context, in Batch[I]) error {
	if !r.accept(in.Len()) {
		return nil
	}
	return r.call(ctx, in.first(), func() error { return r.stage.Process(ctx, in, r.out) })
}

// forkNode is a stage with two outputs.
type forkNode[I, O, P any] struct {
	*node
	route func(I) uint64
	open  func(StageEnv) (ForkStage[I, O, P], error)
	out   *outlet[O]
	side  *outlet[P]

	in port[I]
}

func (n *forkNode[I, O, P]) reset() { n.in = port[I]{} }

func (n *forkNode[I, O, P]) receiver(a *attempt, in *engine.Task, from *engine.Tally) (receiver[I], error) {
	if n.fused {
		return n.start(a, in)
	}
	return n.in.edge(a, n.node, from, n.start)
}

func (n *forkNode[I, O, P]) start(a *attempt, in *engine.Task) (receiver[I], error) {
	return startStage(a, n.node, in, n.route, n.outputs, n.runner)
}

func (n *forkNode[I, O, P]) outputs(a *attempt, in *engine.Task) (outputs[O, P], error) {
	next, err := n.out.receiver(a, in)
	if err != nil {
		return outputs[O, P]{}, err
	}
	side, err := n.side.receiver(a, in)
	if err != nil {
		return outputs[O, P]{}, err
	}
	dead, err := a.deadLetters(n.node, in)
	return outputs[O, P]{next: next, side: side, dead: dead}, err
}

func (n *forkNode[I, O, P]) runner(a *attempt, worker int, to outputs[O, P]) (receiver[I], *stageCore, error) {
	stage, err := openStage(a, n.node, worker, n.open)
	if err != nil {
		return nil, nil, err
	}
	errs := a.policy(n.node, to.dead)
	r := &forkRunner[I, O, P]{
		stage: stage,
		out:   newOut(to.next, a.p.cfg.maxBatch, n.tally, errs),
		side:  newOut(to.side, a.p.cfg.maxBatch, n.tally, errs),
	}
	r.stageCore = newStageCore(a, n.node, stage, errs)
	r.begin, r.end, r.next = r.beginBoth, r.endBoth, to.controls()
	addTimed(r.stageCore, stage, r.out)
	return r, r.stageCore, nil
}

// forkRunner is a running copy of a stage with two outputs.
type forkRunner[I, O, P any] struct {
	*stageCore
	stage ForkStage[I, O, P]
	out   *Out[O]
	side  *Out[P]
}

func (r *forkRunner[I, O, P]) process(ctx context.Context, in Batch[I]) error {
	if !r.accept(in.Len()) {
		return nil
	}
	return r.call(ctx, in.first(), func() error { return r.stage.Process(ctx, in, r.out, r.side) })
}

func (r *forkRunner[I, O, P]) beginBoth(ctx context.Context) {
	r.out.begin(ctx)
	r.side.begin(ctx)
}

func (r *forkRunner[I, O, P]) endBoth() error {
	err := r.out.end()
	if sideErr := r.side.end(); err == nil {
		err = sideErr
	}
	return err
}

// outputs are the ways out of a stage. A stage without a second output has one that nobody reads.
type outputs[O, P any] struct {
	next receiver[O]
	side receiver[P]
	dead receiver[Failed] // nil: no dead letters
}

// controls returns where control items go: every way out, dead letters included.
func (o outputs[O, P]) controls() controls {
	all := controls{o.next, o.side}
	if o.dead != nil {
		all = append(all, o.dead)
	}
	return all
}

// recorded returns ways out that keep what is emitted until its turn has come.
func (o outputs[O, P]) recorded(r *recording) outputs[O, P] {
	kept := outputs[O, P]{next: recorder[O]{r, o.next}, side: recorder[P]{r, o.side}}
	if o.dead != nil {
		kept.dead = recorder[Failed]{r, o.dead}
	}
	return kept
}

// openStage opens one copy of a stage and checks that it is what was declared.
func openStage[S any](a *attempt, n *node, worker int, open func(StageEnv) (S, error)) (S, error) {
	var stage S
	err := protect(n.name, Origin{}, func() (err error) {
		stage, err = open(a.stageEnv(n, worker))
		return err
	})
	if err == nil {
		err = n.checkStage(stage)
	}
	if err != nil {
		return stage, stageError(n.name, Origin{}, err)
	}
	return stage, nil
}

// startStage opens a stage with as many workers as it has, behind the given task.
func startStage[I, O, P any](
	a *attempt, n *node, in *engine.Task, route func(I) uint64,
	outs func(*attempt, *engine.Task) (outputs[O, P], error),
	runner func(*attempt, int, outputs[O, P]) (receiver[I], *stageCore, error),
) (receiver[I], error) {
	switch {
	case n.sharded():
		return startShards(a, n, route, func(in *engine.Task, worker int) (receiver[I], error) {
			return startOne(a, n, in, worker, outs, runner)
		})
	case n.workers() > 0:
		return startWorkers(a, n, route, outs, runner)
	}
	return startOne(a, n, in, 0, outs, runner)
}

// startOne opens one copy of a stage in a task.
func startOne[I, O, P any](
	a *attempt, n *node, in *engine.Task, worker int,
	outs func(*attempt, *engine.Task) (outputs[O, P], error),
	runner func(*attempt, int, outputs[O, P]) (receiver[I], *stageCore, error),
) (receiver[I], error) {
	to, err := outs(a, in)
	if err != nil {
		return nil, err
	}
	r, core, err := runner(a, worker, to)
	if err != nil {
		return nil, err
	}
	if core.finish != nil && n.sharded() {
		return nil, stageError(n.name, Origin{}, errors.New("it ends its stream and cannot run in copies; leave Parallel out"))
	}
	return r, core.join(in)
}

// first returns where the first record of a batch was read.
func (b Batch[T]) first() Origin {
	if b.Len() == 0 || b.cols == nil {
		return Origin{}
	}
	return b.cols.whence(b.at)
}

// label names the group that a value belongs to, for reports of stalls: nothing if the stage panics instead.
func (r *stageRunner[I, O]) label(value I) (name string) {
	if l, ok := r.stage.(Labeler[I]); ok {
		_ = protect(r.name, Origin{}, func() error {
			name = l.Label(value)
			return nil
		})
	}
	return name
}

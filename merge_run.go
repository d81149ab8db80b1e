package runnel

import (
	"context"

	"github.com/runnel-go/runnel/internal/engine"
)

// port is the way into a task of an attempt that may have several inputs.
type port[T any] struct {
	task *engine.Task
	head receiver[T]
}

// edge adds an input to the task, which the first one starts.
func (p *port[T]) edge(a *attempt, n *node, from *engine.Tally, start func(*attempt, *engine.Task) (receiver[T], error)) (receiver[T], error) {
	if p.task == nil {
		p.task = a.task(n)
		head, err := start(a, p.task)
		if err != nil {
			return nil, err
		}
		p.head = head
		p.task.SetHead(taskHead(head.control))
	}
	return newEdge(p.task.Link(from), p.head, n.tally), nil
}

// taskHead is the step of a task that control items go to.
type taskHead func(ctx context.Context, c engine.Control) error

func (h taskHead) Control(ctx context.Context, c engine.Control) error { return h(ctx, c) }

// mergeNode joins streams of one type.
type mergeNode[T any] struct {
	*node
	out *outlet[T]

	in port[T]
}

func (n *mergeNode[T]) reset() { n.in = port[T]{} }

func (n *mergeNode[T]) receiver(a *attempt, _ *engine.Task, from *engine.Tally) (receiver[T], error) {
	return n.in.edge(a, n.node, from, func(a *attempt, in *engine.Task) (receiver[T], error) {
		next, err := n.out.receiver(a, in)
		return &merged[T]{receiver: next, tally: n.tally}, err
	})
}

// merged counts what passes a merge.
type merged[T any] struct {
	receiver[T]
	tally *engine.Tally
}

func (m *merged[T]) process(ctx context.Context, in Batch[T]) error {
	m.tally.In.Add(int64(in.Len()))
	m.tally.Out.Add(int64(in.Len()))
	return m.receiver.process(ctx, in)
}

// joinNode is a stage with two inputs of different types.
type joinNode[A, B, O any] struct {
	*node
	routeA func(A) uint64
	routeB func(B) uint64
	open   func(StageEnv) (JoinStage[A, B, O], error)
	out    *outlet[O]

	task   *engine.Task
	runner *joinRunner[A, B, O]
}

func (n *joinNode[A, B, O]) reset() { n.task, n.runner = nil, nil }

// start opens the stage in a task of its own when the first input asks for it.
func (n *joinNode[A, B, O]) start(a *attempt) error {
	if n.task != nil {
		return nil
	}
	n.task = a.task(n.node)
	to, err := n.outputs(a)
	if err != nil {
		return err
	}
	stage, err := openStage(a, n.node, 0, n.open)
	if err != nil {
		return err
	}
	errs := a.policy(n.node, to.dead)
	r := &joinRunner[A, B, O]{stage: stage, out: newOut(to.next, a.p.cfg.maxBatch, n.tally, errs)}
	r.stageCore = newStageCore(a, n.node, stage, errs)
	r.begin, r.end, r.next = r.out.begin, r.out.end, to.controls()
	addTimed(r.stageCore, stage, r.out)
	n.runner = r
	n.task.SetHead(taskHead(r.control))
	return r.stageCore.join(n.task)
}

func (n *joinNode[A, B, O]) outputs(a *attempt) (outputs[O, none], error) {
	next, err := n.out.receiver(a, n.task)
	if err != nil {
		return outputs[O, none]{}, err
	}
	dead, err := a.deadLetters(n.node, n.task)
	return outputs[O, none]{next: next, side: unread[none]{}, dead: dead}, err
}

// joinRunner is a running join.
type joinRunner[A, B, O any] struct {
	*stageCore
	stage JoinStage[A, B, O]
	out   *Out[O]
}

// leftInput is the first input of a join.
type leftInput[A, B, O any] struct{ n *joinNode[A, B, O] }

func (l leftInput[A, B, O]) receiver(a *attempt, _ *engine.Task, from *engine.Tally) (receiver[A], error) {
	if err := l.n.start(a); err != nil {
		return nil, err
	}
	return newEdge(l.n.task.Link(from), receiver[A](leftRunner[A, B, O]{l.n.runner}), l.n.tally), nil
}

type leftRunner[A, B, O any] struct{ *joinRunner[A, B, O] }

func (r leftRunner[A, B, O]) process(ctx context.Context, in Batch[A]) error {
	if !r.accept(in.Len()) {
		return nil
	}
	return r.call(ctx, in.first(), func() error { return r.stage.ProcessLeft(ctx, in, r.out) })
}

// rightInput is the second input of a join.
type rightInput[A, B, O any] struct{ n *joinNode[A, B, O] }

func (l rightInput[A, B, O]) receiver(a *attempt, _ *engine.Task, from *engine.Tally) (receiver[B], error) {
	if err := l.n.start(a); err != nil {
		return nil, err
	}
	return newEdge(l.n.task.Link(from), receiver[B](rightRunner[A, B, O]{l.n.runner}), l.n.tally), nil
}

type rightRunner[A, B, O any] struct{ *joinRunner[A, B, O] }

func (r rightRunner[A, B, O]) process(ctx context.Context, in Batch[B]) error {
	if !r.accept(in.Len()) {
		return nil
	}
	return r.call(ctx, in.first(), func() error { return r.stage.ProcessRight(ctx, in, r.out) })
}

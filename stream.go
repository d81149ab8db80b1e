package runnel

import (
	"github.com/runnel-go/runnel/internal/engine"
)

// Stream is a flow of records of one type within a pipeline. It may be used more than once: every use receives all
// records, and a checkpoint waits for all. Operators are functions of package flow; a transform of one's own is a
// function from stream to stream.
type Stream[T any] struct {
	p   *Pipeline
	out *outlet[T]
}

// pipeline returns the pipeline of the stream; a zero stream belongs to one of its own that nobody runs.
func (s Stream[T]) pipeline() *Pipeline {
	if s.p == nil {
		return New("")
	}
	return s.p
}

// From adds a source to a pipeline. Options: [Name], and the error policy for records that cannot be decoded: [Skip]
// or [DeadLetter].
func From[T any](p *Pipeline, src Source[T], opts ...StageOption) Stream[T] {
	if p == nil {
		p = New("") // which nobody runs
	}
	n := p.add(engine.RoleSource, "source", opts)
	n.describe(src)
	s := &sourceNode[T]{node: n, src: src, out: newOutlet[T](n)}
	n.typed = s
	return Stream[T]{p: p, out: s.out}
}

// To writes the records to a sink. The same sink value can be given to several streams, and be a dead-letter sink too:
// it has one writer. Options: [Name], [Retry], and the error policy: [Skip] or [DeadLetter]; they are given once.
func (s Stream[T]) To(sink Sink[T], opts ...StageOption) {
	n := sinkFor(s.pipeline(), sink, opts)
	connect(s, n.node, n)
}

// sinkFor returns the node of a sink, which is made at its first use.
func sinkFor[T any](p *Pipeline, sink Sink[T], opts []StageOption) *sinkNode[T] {
	if known, ok := p.known(sink); ok {
		n, ok := known.typed.(*sinkNode[T])
		if !ok {
			p.mistake("sink %s is used for two types of records", known.name)
			return &sinkNode[T]{node: known}
		}
		if len(opts) > 0 {
			p.reconfigure(known, opts)
		}
		return n
	}
	n := p.add(engine.RoleSink, "sink", opts)
	n.describe(sink)
	s := &sinkNode[T]{node: n, sink: sink}
	n.typed = s
	p.remember(sink, n)
	return s
}

// Apply passes a stream through a stage. kind is the stem of its name. open is called for each attempt of a run, and
// once for each worker of [Parallel]. route, if not nil, sends records of one key to the same worker; without it
// workers take what comes, and order is kept unless [Unordered] is given. A stage with state says so by [Stateful].
// A stage that drops records on purpose calls [Out.Filtered] for them; one whose outputs do not stand for one input each
// calls [Out.Passed] or Filtered for every input. What comes out nowhere and is not counted is taken for filtered, without
// a check and without being counted in [StageStatus].Filtered.
func Apply[I, O any](s Stream[I], kind string, route func(I) uint64, open func(StageEnv) (Stage[I, O], error), opts ...StageOption) Stream[O] {
	n := s.pipeline().add(engine.RoleStage, kind, opts)
	n.keyed = route != nil
	n.opensBy(open != nil)
	st := &stageNode[I, O]{node: n, route: route, open: open, out: newOutlet[O](n)}
	n.typed = st
	connect(s, n, st)
	return Stream[O]{p: n.pipeline, out: st.out}
}

// Fork passes a stream through a stage with two outputs, as Apply does. The second may be left unread: its records are
// counted.
func Fork[I, O, P any](s Stream[I], kind string, route func(I) uint64, open func(StageEnv) (ForkStage[I, O, P], error), opts ...StageOption) (Stream[O], Stream[P]) {
	n := s.pipeline().add(engine.RoleStage, kind, opts)
	n.keyed = route != nil
	n.opensBy(open != nil)
	st := &forkNode[I, O, P]{node: n, route: route, open: open, out: newOutlet[O](n), side: newOutlet[P](n)}
	st.side.optional = true
	n.typed = st
	connect(s, n, st)
	return Stream[O]{p: n.pipeline, out: st.out}, Stream[P]{p: n.pipeline, out: st.side}
}

// Join passes two streams through a stage, as Apply does. It reads whichever has something.
func Join[A, B, O any](a Stream[A], b Stream[B], kind string, routeA func(A) uint64, routeB func(B) uint64, open func(StageEnv) (JoinStage[A, B, O], error), opts ...StageOption) Stream[O] {
	p := a.pipeline()
	if a.p == nil && b.p != nil {
		p = b.p // which reports the stream that was never made
	}
	n := p.add(engine.RoleMerge, kind, opts)
	n.keyed = routeA != nil && routeB != nil
	n.opensBy(open != nil)
	st := &joinNode[A, B, O]{node: n, routeA: routeA, routeB: routeB, open: open, out: newOutlet[O](n)}
	n.typed = st
	connect(a, n, leftInput[A, B, O]{st})
	connect(b, n, rightInput[A, B, O]{st})
	return Stream[O]{p: n.pipeline, out: st.out}
}

// Merge joins streams of one type into one. It reads whichever has something, none in preference.
func Merge[T any](first Stream[T], more ...Stream[T]) Stream[T] {
	all := append([]Stream[T]{first}, more...)
	p := first.pipeline()
	for _, s := range all {
		if first.p == nil && s.p != nil {
			p = s.p // which reports the stream that was never made
			break
		}
	}
	n := p.add(engine.RoleMerge, "merge", nil)
	m := &mergeNode[T]{node: n, out: newOutlet[T](n)}
	n.typed = m
	for _, s := range all {
		connect(s, n, m)
	}
	return Stream[T]{p: n.pipeline, out: m.out}
}

// connect makes an input of a node read a stream.
func connect[T any](s Stream[T], n *node, c consumer[T]) {
	if s.out == nil {
		n.pipeline.mistake("%s reads a stream that was never made (a zero Stream)", n.kind)
		return
	}
	if s.out.node.pipeline != n.pipeline {
		n.pipeline.mistake("%s reads a stream of another pipeline (%q)", n.kind, s.out.node.pipeline.name)
		return
	}
	n.inputs = append(n.inputs, s.out.node)
	s.out.add(c)
}

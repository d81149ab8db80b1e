package gostreams

import (
	"context"
	"sync"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
)

// Flow is operators of Runnel as a flow of go-streams. Make it with NewFlow.
type Flow struct{ part }

var _ streams.Flow = (*Flow)(nil)

// NewFlow returns the operators that build puts behind a stream, as a flow of go-streams, which takes values of I and
// gives values of O.
//
//	doubled := gostreams.NewFlow(ctx, "double", func(s runnel.Stream[int]) runnel.Stream[int] {
//		return flow.Map(s, double)
//	})
//	source.Via(doubled).To(sink)
//	err := doubled.Err()
//
// They run as a pipeline of that name, from the moment the flow is connected, until the inlet is closed or ctx ends; then
// what is there is drained, and the outlet closed. The outlet must be read. An element that is not an I ends the
// pipeline. Behind a failure, or the end of ctx, elements that still come in are dropped: ask Err when the go-streams
// pipeline has ended. Nothing can be read again, so a failure loses what is in the pipeline: at most once.
func NewFlow[I, O any](ctx context.Context, name string, build func(runnel.Stream[I]) runnel.Stream[O], opts ...runnel.Option) *Flow {
	f := &Flow{part{in: make(chan any), out: make(chan any), done: make(chan struct{})}}
	p := runnel.New(name, opts...)
	build(runnel.From(p, &inlet[I]{f.in})).To(&outlet[O]{f.out})
	f.start = sync.OnceFunc(func() { go f.run(ctx, p) })
	return f
}

// In returns the inlet. Whoever sends to it closes it.
func (f *Flow) In() chan<- any {
	f.start()
	return f.in
}

// Out returns the outlet, which is closed when the pipeline has ended.
func (f *Flow) Out() <-chan any {
	f.start()
	return f.out
}

// Via passes what comes out on to a flow, and returns that.
func (f *Flow) Via(to streams.Flow) streams.Flow { return f.via(to) }

// To passes what comes out on to a sink, and waits for it.
func (f *Flow) To(to streams.Sink) {
	f.start()
	transmit(f.out, to)
	to.AwaitCompletion()
}

// Err waits for the end of the pipeline and returns its error.
func (f *Flow) Err() error { return f.wait() }

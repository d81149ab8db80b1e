package gostreams

import (
	"context"
	"sync"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
)

// SourceOf is the beginning of a Runnel pipeline as a source of go-streams. Make it with NewSource.
type SourceOf struct{ part }

var _ streams.Source = (*SourceOf)(nil)

// NewSource returns the stream that build puts together as a source of go-streams.
//
//	lines := gostreams.NewSource(ctx, "lines", func(p *runnel.Pipeline) runnel.Stream[string] {
//		return runnel.From(p, filesource.Lines("in.txt"))
//	}, runnel.Checkpoint(store))
//	lines.Via(…).To(sink)
//	err := lines.Err()
//
// It runs as a pipeline of that name, from the moment the source is connected, until its sources end or ctx does. The
// outlet must be read. A checkpoint covers what the outlet has handed over, whatever becomes of it in go-streams. After a
// failure the outlet is closed: ask Err when the go-streams pipeline has ended.
func NewSource[T any](ctx context.Context, name string, build func(*runnel.Pipeline) runnel.Stream[T], opts ...runnel.Option) *SourceOf {
	s := &SourceOf{part{out: make(chan any), done: make(chan struct{})}}
	p := runnel.New(name, opts...)
	build(p).To(&outlet[T]{s.out})
	s.start = sync.OnceFunc(func() { go s.run(ctx, p) })
	return s
}

// Out returns the outlet, which is closed when the pipeline has ended.
func (s *SourceOf) Out() <-chan any {
	s.start()
	return s.out
}

// Via passes what comes out on to a flow, and returns that.
func (s *SourceOf) Via(to streams.Flow) streams.Flow { return s.via(to) }

// Err waits for the end of the pipeline and returns its error.
func (s *SourceOf) Err() error { return s.wait() }

// SinkOf is the end of a Runnel pipeline as a sink of go-streams. Make it with NewSink.
type SinkOf struct{ part }

var _ streams.Sink = (*SinkOf)(nil)

// NewSink returns what build puts behind a stream, sinks at its ends, as a sink of go-streams, which takes values of T.
//
//	table := gostreams.NewSink(ctx, "table", func(s runnel.Stream[Flight]) { s.To(csv) })
//	source.Via(…).To(table)
//	err := table.Err()
//
// It runs as a pipeline of that name, from the moment the sink is connected, until the inlet is closed or ctx ends; then
// its sinks are flushed and AwaitCompletion returns. An element that is not a T ends the pipeline. Behind a failure, or
// the end of ctx, elements that still come in are dropped: ask Err. Nothing can be read again, so a failure loses what is
// in the pipeline: at most once.
func NewSink[T any](ctx context.Context, name string, build func(runnel.Stream[T]), opts ...runnel.Option) *SinkOf {
	s := &SinkOf{part{in: make(chan any), done: make(chan struct{})}}
	p := runnel.New(name, opts...)
	build(runnel.From(p, &inlet[T]{s.in}))
	s.start = sync.OnceFunc(func() { go s.run(ctx, p) })
	return s
}

// In returns the inlet. Whoever sends to it closes it.
func (s *SinkOf) In() chan<- any {
	s.start()
	return s.in
}

// AwaitCompletion waits until everything that was put in is written, or the pipeline has failed.
func (s *SinkOf) AwaitCompletion() { _ = s.wait() }

// Err waits for the end of the pipeline and returns its error.
func (s *SinkOf) Err() error { return s.wait() }

// Package gostreams joins Runnel with github.com/reugn/go-streams, in both directions.
//
// Parts of go-streams in a Runnel pipeline: [Via] passes a stream through a flow, [Sink] writes to a sink, [Source] reads
// a source. They take a function that makes the part, because a part of go-streams knows no marker: at each checkpoint
// its inlet is closed, it runs to its end, and the next record meets a new one. So what it holds is emitted, or written,
// before the checkpoint passes: windows and batches of go-streams end there too.
//
// Parts of Runnel in a go-streams pipeline: [NewFlow], [NewSource] and [NewSink] take a function that builds them, and
// run them as a pipeline of their own, with its checkpoints. What they hand to go-streams counts as delivered.
//
// Elements of go-streams have no type and no metadata. One of an unexpected type is an error that names both types. A
// panic in a function that go-streams runs ends the process: it happens in a goroutine of go-streams.
//
// An element crosses two or more unbuffered channels; expect microseconds for each, where operators of Runnel take
// nanoseconds.
package gostreams

import (
	"context"
	"errors"
	"runtime"
	"time"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
)

// Via passes a stream through a flow of go-streams, which open makes; [Chain] makes one of several.
//
//	in   --1---2---3--|
//	Via(flow.NewMap(v → 10v))
//	out  --10--20--30-|
//
// The flow is made anew behind each checkpoint (see the package). It takes values of I and gives values of O: an element
// of another type ends the run with an error. Order is that of the flow. What comes out has no key, headers or origin,
// and as event time the greatest that went in since the flow was made. A record counts as passed once it is in the flow,
// which cannot say what it drops; it is acknowledged with everything that came out before the next marker.
//
// The flow decides on its own which records fail, so error policies do not apply. One copy runs: [runnel.Parallel] is
// refused, the flow has a parallelism of its own. When the run fails, the flow's inlet is closed and what comes out is
// dropped, so that its goroutines end.
func Via[O, I any](s runnel.Stream[I], open func() streams.Flow, opts ...runnel.StageOption) runnel.Stream[O] {
	if open == nil {
		opts = append([]runnel.StageOption{runnel.Invalid(errNoFactory)}, opts...)
	}
	return runnel.Apply(s, "go-streams", nil, func(env runnel.StageEnv) (runnel.Stage[I, O], error) {
		return &viaStage[I, O]{open: open, clock: env.Clock}, nil
	}, opts...)
}

var (
	errNoFactory = errors.New("the function that makes its part of go-streams is nil")
	errNoPart    = errors.New("gostreams: open returned nil")
	errEndedSoon = errors.New("gostreams: the flow closed its outlet while its inlet was open")
)

const (
	// shortLook and longLook are after what time the stage looks for elements that came out while nothing went in: soon
	// after there was one, then ever more seldom, as a flow does not say when it will have one.
	shortLook = time.Millisecond
	longLook  = 100 * time.Millisecond
	// patience is how often the stage lets others run before it takes it that nothing more comes out now.
	patience = 10
)

type viaStage[I, O any] struct {
	open  func() streams.Flow
	clock runnel.Clock

	run  *running // nil: no flow since the last marker
	time time.Time
	look time.Time
	wait time.Duration
}

var (
	_ runnel.Flusher[int] = (*viaStage[int, int])(nil)
	_ runnel.Timed[int]   = (*viaStage[int, int])(nil)
)

// Process puts a batch into the flow and emits what comes out meanwhile.
func (s *viaStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	for i, v := range in.Values() {
		if at := in.Meta(i).Time; at.After(s.time) {
			s.time = at
		}
		if err := s.put(ctx, v, out); err != nil {
			return err
		}
	}
	out.Passed(in.Len())
	_, err := s.collect(out)
	s.lookAfter(shortLook)
	return err
}

// start makes the flow, if there is none.
func (s *viaStage[I, O]) start(ctx context.Context) error {
	if s.run != nil {
		return nil
	}
	flow := s.open()
	if flow == nil {
		return errNoPart
	}
	s.run, s.time = watch(ctx, flow), time.Time{}
	return nil
}

// put puts one value into the flow; what comes out until it is taken is emitted, as the flow may wait for that.
func (s *viaStage[I, O]) put(ctx context.Context, v any, out *runnel.Out[O]) error {
	for {
		if s.run.closed {
			return context.Cause(ctx)
		}
		select {
		case s.run.in <- v:
			return nil
		case element, ok := <-s.run.out:
			if err := s.emit(element, ok, out); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *viaStage[I, O]) emit(element any, ok bool, out *runnel.Out[O]) error {
	if !ok {
		return errEndedSoon
	}
	v, err := typed[O](element)
	if err == nil {
		out.Emit(v, runnel.Meta{Time: s.time})
	}
	return err
}

// collect emits what is ready to come out, and says whether there was anything.
func (s *viaStage[I, O]) collect(out *runnel.Out[O]) (some bool, err error) {
	for misses := 0; misses < patience && err == nil; {
		select {
		case element, ok := <-s.run.out:
			some, misses, err = true, 0, s.emit(element, ok, out)
		default:
			misses++
			runtime.Gosched() // the flow offers its next element once it has run
		}
	}
	return some, err
}

func (s *viaStage[I, O]) lookAfter(wait time.Duration) {
	s.wait = min(wait, longLook)
	s.look = s.clock.Now().Add(s.wait)
}

// Deadline returns when to look for what came out.
func (s *viaStage[I, O]) Deadline() (time.Time, bool) { return s.look, s.run != nil }

// Expire emits what came out.
func (s *viaStage[I, O]) Expire(ctx context.Context, _ time.Time, out *runnel.Out[O]) error {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	if s.run.closed {
		return context.Cause(ctx)
	}
	some, err := s.collect(out)
	if some {
		s.lookAfter(shortLook)
	} else {
		s.lookAfter(2 * s.wait)
	}
	return err
}

// Flush closes the flow and emits everything that is still in it.
func (s *viaStage[I, O]) Flush(ctx context.Context, out *runnel.Out[O]) error {
	if s.run == nil {
		return nil
	}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	s.run.closeIn()
	for {
		select {
		case element, ok := <-s.run.out:
			if !ok {
				s.run.unwatch()
				s.run = nil
				return nil
			}
			if err := s.emit(element, ok, out); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

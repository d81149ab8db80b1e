package gostreams

import (
	"context"
	"errors"
	"fmt"
	"sync"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
)

// ErrGaveUp is returned by a run whose sink of go-streams has called its cancel function.
var ErrGaveUp = errors.New("gostreams: the sink gave up")

// Sink returns a sink that writes values to a sink of go-streams, which open makes.
//
// It is made anew behind each checkpoint: at a checkpoint its inlet is closed, and the records are acknowledged when its
// AwaitCompletion returns. A failure repeats what came after the last checkpoint: at least once. Keys, headers and times
// are not written.
//
// open gets a context that ends when the sink is through or the run fails, and a function for the sink to call when it
// cannot go on: the run then ends with [ErrGaveUp], and nothing of it is acknowledged. Sinks of go-streams take both by
// options:
//
//	gostreams.Sink[string](func(ctx context.Context, cancel context.CancelFunc) (streams.Sink, error) {
//		return ext.NewFileSink("out.txt", ext.WithContext(ctx), ext.WithContextCancel(cancel)), nil
//	})
//
// A sink that hides a failed write loses the record, and one whose AwaitCompletion returns sooner than the work is done,
// as those of channels do, is acknowledged too soon.
func Sink[T any](open func(ctx context.Context, cancel context.CancelFunc) (streams.Sink, error)) runnel.Sink[T] {
	return &sink[T]{open: open}
}

type openSink func(ctx context.Context, cancel context.CancelFunc) (streams.Sink, error)

type sink[T any] struct{ open openSink }

// Describe names the kind.
func (s *sink[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "go-streams"} }

// Validate returns what is wrong with the sink.
func (s *sink[T]) Validate() error {
	if s.open == nil {
		return errNoFactory
	}
	return nil
}

// Open returns a writer; the sink of go-streams is made with the first record.
func (s *sink[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return &writer[T]{open: s.open}, nil
}

type writer[T any] struct {
	open openSink
	to   *target // nil: none since the last flush
}

// target is a sink of go-streams in use.
type target struct {
	streams.Sink
	in      chan<- any
	gaveUp  chan struct{} // closed when it cannot go on
	release context.CancelFunc
}

// begin makes a sink.
func (s openSink) begin(ctx context.Context) (*target, error) {
	ctx, release := context.WithCancel(ctx)
	gaveUp := make(chan struct{})
	to, err := s(ctx, sync.OnceFunc(func() { close(gaveUp) }))
	if err == nil && to == nil {
		err = errNoPart
	}
	if err != nil {
		release()
		return nil, err
	}
	return &target{Sink: to, in: to.In(), gaveUp: gaveUp, release: release}, nil
}

// end closes the sink and waits until it is through.
func (t *target) end(ctx context.Context) error {
	close(t.in)
	done := make(chan error, 1)
	go func() {
		defer t.release()
		done <- completion(t)
	}()
	select {
	case err := <-done:
		return errors.Join(err, t.state())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// state returns an error if the sink gave up.
func (t *target) state() error {
	select {
	case <-t.gaveUp:
		return ErrGaveUp
	default:
		return nil
	}
}

// completion waits for a sink. A panic must not end the process.
func completion(s streams.Sink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gostreams: AwaitCompletion: panic: %v", r)
		}
	}()
	s.AwaitCompletion()
	return nil
}

// Write hands values to the sink.
func (w *writer[T]) Write(ctx context.Context, batch runnel.Batch[T]) (err error) {
	if w.to == nil {
		if w.to, err = w.open.begin(ctx); err != nil {
			return err
		}
	}
	for _, v := range batch.Values() {
		select {
		case w.to.in <- v:
		case <-w.to.gaveUp:
			return ErrGaveUp
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Flush ends the sink and waits until it is through.
func (w *writer[T]) Flush(ctx context.Context) error {
	if w.to == nil {
		return nil
	}
	to := w.to
	w.to = nil
	return to.end(ctx)
}

// Close ends the sink, so that its goroutines end.
func (w *writer[T]) Close(ctx context.Context) error { return w.Flush(ctx) }

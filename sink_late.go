package runnel

import (
	"context"
	"sync"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// lateAcks keeps the markers that a writer acknowledges later, in order, with what it has said of them so far.
type lateAcks struct {
	wake    chan struct{}
	pending []engine.Control // of the sink's goroutine

	mu   sync.Mutex
	done checkpoint.Number           // newest that was taken from said; guarded by mu
	said map[checkpoint.Number]error // guarded by mu
}

func newLateAcks() *lateAcks {
	return &lateAcks{wake: make(chan struct{}, 1), said: make(map[checkpoint.Number]error)}
}

// say takes the word of the writer on marker n, from any goroutine. Only the first counts.
func (l *lateAcks) say(n checkpoint.Number, err error) {
	l.mu.Lock()
	if _, ok := l.said[n]; !ok && n > l.done {
		l.said[n] = err
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next returns the oldest pending marker if the writer has said something of it.
func (l *lateAcks) next() (c engine.Control, err error, ok bool) {
	if len(l.pending) == 0 {
		return c, nil, false
	}
	c = l.pending[0]
	l.mu.Lock()
	defer l.mu.Unlock()
	if err, ok = l.said[c.Number]; ok {
		delete(l.said, c.Number)
		l.done = c.Number
		l.pending = l.pending[1:]
	}
	return c, err, ok
}

// acknowledgeLater begins to make what was written durable; the marker is acknowledged when the writer says so, and
// the last marker is waited for.
func (s *sinkRun[T]) acknowledgeLater(ctx context.Context, c engine.Control) error {
	s.late.pending = append(s.late.pending, c)
	err := protect(s.node.name, Origin{}, func() error {
		s.barrier.Barrier(ctx, func(err error) { s.late.say(c.Number, err) })
		return nil
	})
	if err != nil || !c.Last {
		return err
	}
	return s.awaitLate(ctx)
}

// Wake receives when the writer has said something.
func (s *sinkRun[T]) Wake() <-chan struct{} { return s.late.wake }

// Woken acknowledges what the writer has made durable, oldest first.
func (s *sinkRun[T]) Woken(ctx context.Context) error {
	for {
		c, err, ok := s.late.next()
		if !ok {
			return nil
		}
		if err := s.acknowledged(ctx, c, err); err != nil {
			return stageError(s.node.name, Origin{}, within("flush", err))
		}
	}
}

// acknowledged takes what a writer said of a marker. Records that it refused go by the error policy, and what it is
// given again is flushed, before the marker is acknowledged.
func (s *sinkRun[T]) acknowledged(ctx context.Context, c engine.Control, err error) error {
	if err != nil {
		pending := s.late.pending
		s.late.pending = nil // the markers behind this one wait: their dead letters come after it
		err = s.settle(ctx, err, Batch[T]{}, func() error { return s.writer.Flush(ctx) })
		s.late.pending = pending
	}
	if err != nil {
		return err
	}
	if err := s.pass(ctx, c); err != nil {
		return err
	}
	s.handle.Ack(c.Number, nil)
	return nil
}

// awaitLate waits until the writer has said something of every pending marker.
func (s *sinkRun[T]) awaitLate(ctx context.Context) error {
	for {
		if err := s.Woken(ctx); err != nil {
			return err
		}
		if len(s.late.pending) == 0 {
			return nil
		}
		select {
		case <-s.late.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Push is a source whose records the program sends. Make it with [NewPush]; its methods are safe for concurrent use.
//
// Nothing is queued beyond what its callers hold: they wait until the pipeline has taken their records, before the run
// begins as well as under backpressure. What was taken cannot be read again, so a failure may lose it. [Push.EmitAcked]
// and [Ack] tell when it is safe; a sender that repeats what was refused has at least once, any other at most once.
//
// A stage may send to a Push of its own pipeline if that cannot fill up: a record that the stage waits to send stands
// behind those that wait for the stage.
type Push[T any] struct {
	mu      sync.Mutex
	queue   []*emission[T] // not taken entirely, oldest first; guarded by mu, like all below
	inHand  []*emission[T] // taken, and not known to be handed on
	unacked []*emission[T] // taken, not committed, and somebody wants to know
	next    int64          // number of the next record
	reader  *pushReader[T] // nil while no attempt of a run has it open
	refused error          // why nothing is taken; nil while something may be
	ended   bool           // by Close
	changed chan struct{}  // closed and replaced when a Read may go on
}

// emission is the records of one call.
type emission[T any] struct {
	values []T
	meta   []runnel.Meta // nil: none has any
	taken  int           // how many were
	end    int64         // the number behind the last record, once all were taken
	handed *Ack          // that all were handed on
	ack    *Ack          // that all were committed; nil if nobody wants to know
}

// NewPush returns a push source. A run that fails before it has opened its sources leaves senders waiting: close the
// Push when Run has returned.
func NewPush[T any]() *Push[T] { return &Push[T]{changed: make(chan struct{})} }

// Emit sends values and returns once the pipeline has taken them all: then a clean stop does not lose them, and a
// failure may. It waits while the pipeline is busy or has not started. When it is stopped or has failed, and after
// [Push.Close], Emit returns [runnel.ErrClosed] at once, joined with the cause if there is one; what was taken by then
// of the values may come through. The same holds when ctx ends, with its error wrapped in what Emit waited for: a run that
// has the source open, or one that takes the values. Many values in one call cost far less than one at a time.
func (p *Push[T]) Emit(ctx context.Context, values ...T) error {
	return p.send(ctx, &emission[T]{values: values, handed: newAck()})
}

// EmitAcked sends values as Emit does, and waits until a checkpoint covers them: every sink has acknowledged what became
// of them, or a policy dropped them. The next checkpoint may be as far away as their interval, which is 5 s unless it is
// set: a handler that answers when it returns wants a shorter one, as [checkpoint.Every](100 * time.Millisecond) with
// [checkpoint.Memory]. Any error means that they may be lost or come through; who sends them again has at least once. A
// stage that waits for its own pipeline waits forever.
func (p *Push[T]) EmitAcked(ctx context.Context, values ...T) error {
	e := &emission[T]{values: values, handed: newAck(), ack: newAck()}
	if err := p.send(ctx, e); err != nil {
		return err
	}
	select {
	case <-e.ack.done:
		return e.ack.err
	case <-ctx.Done():
		return fmt.Errorf("source: push: no checkpoint covers the values yet: %w", context.Cause(ctx))
	}
}

// EmitRecords sends records with their keys, times and headers as Emit does, and returns what tells when a checkpoint
// covers them. Their origin becomes this source.
func (p *Push[T]) EmitRecords(ctx context.Context, records ...runnel.Record[T]) (*Ack, error) {
	e := &emission[T]{handed: newAck(), ack: newAck()}
	for _, r := range records {
		e.values, e.meta = append(e.values, r.Value), append(e.meta, r.Meta)
	}
	if err := p.send(ctx, e); err != nil {
		return nil, err
	}
	return e.ack, nil
}

// Close ends the stream: a run that has it open takes what waits to be taken, then the source ends. While no run has it
// open, who waits is refused. It returns nil, also when called again.
func (p *Push[T]) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.reader == nil {
		p.refuse(nil)
	}
	p.wake()
	return nil
}

// Describe says that the source cannot be read again.
func (p *Push[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "push"} }

// Open lets a pipeline take records, one at a time. Errors: [runnel.ErrClosed] if another has it open.
func (p *Push[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	next, err := startAt(from)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader != nil {
		return nil, fmt.Errorf("source: push: another run has it open: %w", runnel.ErrClosed)
	}
	p.next = max(p.next, next) // no number stands for two records
	p.refused = nil
	p.reader = &pushReader[T]{
		push: p, max: int(maxBatch(env)), numbers: sequence{a: runnel.NewAssignment(env.Name, partition), next: p.next},
	}
	return p.reader, nil
}

// send queues an emission and waits until it was handed on or refused.
func (p *Push[T]) send(ctx context.Context, e *emission[T]) error {
	if err := p.enqueue(e); err != nil {
		return err
	}
	select {
	case <-e.handed.done:
		return e.handed.err
	case <-ctx.Done():
		return fmt.Errorf("source: push: %s: %w", p.withdraw(e), context.Cause(ctx))
	}
}

func (p *Push[T]) enqueue(e *emission[T]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.refused != nil:
		return p.refused
	case p.ended:
		return runnel.ErrClosed
	case len(e.values) == 0:
		e.settle(nil)
		return nil
	}
	p.queue = append(p.queue, e)
	p.wake()
	return nil
}

// withdraw takes back what was not taken, so that the caller may use its memory again. It says what was waited for.
func (p *Push[T]) withdraw(e *emission[T]) (why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, e); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	if p.reader == nil {
		return "no run has the source open"
	}
	return "the pipeline has not taken all values"
}

// wake lets a Read that waits look again. The lock is held.
func (p *Push[T]) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// refuse answers everybody whose records were not taken, and whoever comes until the source is opened again. The lock
// is held.
func (p *Push[T]) refuse(cause error) {
	if p.refused == nil {
		p.refused = closedBy(cause)
	}
	for _, e := range p.queue {
		e.settle(p.refused)
	}
	p.queue = nil
	p.wake()
}

// closedBy returns ErrClosed with the failure that led to it, if it was one.
func closedBy(cause error) error {
	if cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, runnel.ErrClosed) {
		return runnel.ErrClosed
	}
	return fmt.Errorf("%w: %w", runnel.ErrClosed, cause)
}

// settle tells the sender the outcome, unless it was told.
func (e *emission[T]) settle(err error) {
	e.handed.settle(err)
	e.ack.settle(err)
}

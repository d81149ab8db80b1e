package engine

import (
	"context"
	"time"
)

// Head is the first step of a task, which control items go to once they have come on every input.
type Head interface {
	// Control does the step's part of a control item and passes it on.
	Control(ctx context.Context, c Control) error
}

// Timed is a step of a task that acts when time has passed.
type Timed interface {
	// Deadline returns when Expire is to be called; false means never.
	Deadline() (time.Time, bool)
	// Expire acts.
	Expire(ctx context.Context, now time.Time) error
}

// Waker is a step of a task that acts when something happened elsewhere.
type Waker interface {
	// Wake receives whenever Woken is to be called.
	Wake() <-chan struct{}
	// Woken acts.
	Woken(ctx context.Context) error
}

// Clock is what a task needs of a clock.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
	After(d time.Duration) (<-chan time.Time, func())
}

// Task is a goroutine with the steps that are fused in it.
type Task struct {
	// Name is that of its first step.
	Name string

	clock Clock
	inbox *Inbox
	align *Alignment
	links []*Link
	head  Head
	first []func(ctx context.Context) error
	timed []Timed
	waker Waker
	tally *Tally
}

// NewTask returns a task whose inbox holds up to size batches.
func NewTask(name string, size int, clock Clock, tally *Tally) *Task {
	return &Task{Name: name, clock: clock, inbox: newInbox(size), tally: tally}
}

// SetHead sets the step that control items go to.
func (t *Task) SetHead(h Head) { t.head = h }

// Add makes a step that runs in the task known if it acts on time.
func (t *Task) Add(s Timed) { t.timed = append(t.timed, s) }

// Before adds what the task does before it takes anything in.
func (t *Task) Before(f func(ctx context.Context) error) { t.first = append(t.first, f) }

// SetWaker sets the step that is woken.
func (t *Task) SetWaker(w Waker) { t.waker = w }

// Link adds an input, whose sender's waiting time is counted in from.
func (t *Task) Link(from *Tally) *Link {
	l := &Link{inbox: t.inbox, input: len(t.links), from: from}
	t.links = append(t.links, l)
	return l
}

// Links returns the inputs, in the order they were added.
func (t *Task) Links() []*Link { return t.links }

// Queue returns how many items wait, and how many fit.
func (t *Task) Queue() (waiting, size int) { return len(t.inbox.items), cap(t.inbox.items) }

// Seal says that all inputs were added. It is called before the first of them sends.
func (t *Task) Seal() {
	t.align, t.inbox.gate = NewAlignment(len(t.links)), NewAlignment(len(t.links))
}

// Run handles what comes in until the last marker has passed or ctx ends.
func (t *Task) Run(ctx context.Context) error {
	for _, f := range t.first {
		if err := f(ctx); err != nil {
			return err
		}
	}
	for {
		it, err := t.next(ctx, t.inbox.items)
		if err != nil {
			return err
		}
		if it.packet != nil {
			if err := t.deliver(ctx, it.packet); err != nil {
				return err
			}
			continue
		}
		if last, err := t.controlled(ctx, it); err != nil || last {
			return err
		}
	}
}

// deliver handles a packet.
func (t *Task) deliver(ctx context.Context, p Packet) error {
	start := time.Now()
	err := p.Deliver(ctx, t)
	t.tally.Busy.Add(int64(time.Since(start)))
	return err
}

// Await waits for a value of ready in the goroutine of the task, whose steps act on time meanwhile.
func (t *Task) Await(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	default:
	}
	start := time.Now()
	defer func() { t.tally.Busy.Add(-int64(time.Since(start))) }()
	for {
		due, stop := t.timer()
		select {
		case <-ready:
			stop()
			return nil
		case <-due:
			if err := t.expire(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

// controlled passes a control item on once it has come on every input, and says whether it was the last.
func (t *Task) controlled(ctx context.Context, it item) (last bool, err error) {
	c := it.control
	if c.Kind == End {
		if !t.align.End(it.input) {
			return false, nil
		}
		return false, t.head.Control(ctx, c)
	}
	if !t.align.Marker(it.input, c.Number) {
		return false, nil
	}
	if err := t.head.Control(ctx, c); err != nil {
		return false, err
	}
	return c.Last, nil
}

// next returns the next item; steps that act on time or are woken do so meanwhile.
func (t *Task) next(ctx context.Context, items <-chan item) (item, error) {
	for {
		select {
		case it := <-items:
			return it, t.meanwhile(ctx)
		default:
		}
		due, stop := t.timer()
		select {
		case it := <-items:
			stop()
			return it, nil
		case <-t.wake():
			stop()
			if err := t.waker.Woken(ctx); err != nil {
				return item{}, err
			}
		case <-due:
			if err := t.expire(ctx); err != nil {
				return item{}, err
			}
		case <-ctx.Done():
			stop()
			return item{}, context.Cause(ctx)
		}
	}
}

// meanwhile does what the steps have to do besides handling items, so that a busy input does not hold it up.
func (t *Task) meanwhile(ctx context.Context) error {
	select {
	case <-t.wake():
		if err := t.waker.Woken(ctx); err != nil {
			return err
		}
	default:
	}
	return t.expire(ctx)
}

func (t *Task) wake() <-chan struct{} {
	if t.waker == nil {
		return nil
	}
	return t.waker.Wake()
}

// timer returns a channel for the earliest deadline of the steps; nil if there is none.
func (t *Task) timer() (due <-chan time.Time, stop func()) {
	at, ok := t.earliest()
	if !ok {
		return nil, func() {}
	}
	return t.clock.After(at.Sub(t.clock.Now()))
}

func (t *Task) earliest() (at time.Time, ok bool) {
	for _, s := range t.timed {
		if d, set := s.Deadline(); set && (!ok || d.Before(at)) {
			at, ok = d, true
		}
	}
	return at, ok
}

// expire calls the steps whose deadline has passed.
func (t *Task) expire(ctx context.Context) error {
	if len(t.timed) == 0 {
		return nil
	}
	now := t.clock.Now()
	for _, s := range t.timed {
		if d, set := s.Deadline(); set && !d.After(now) {
			if err := s.Expire(ctx, now); err != nil {
				return err
			}
		}
	}
	return nil
}

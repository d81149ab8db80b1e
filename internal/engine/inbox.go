package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// Packet is work on its way to a task: a batch bound to the step that handles it, or a place for a result to come.
type Packet interface {
	// Deliver does the work in the goroutine of the task. What has to wait does so by [Task.Await].
	Deliver(ctx context.Context, t *Task) error
}

type item struct {
	packet  Packet
	control Control
	input   int
}

// Inbox is the way into a task: one bounded channel that all its inputs send to through links of their own.
type Inbox struct {
	items chan item

	aligned atomic.Uint64 // newest marker that all inputs have put into items
	mu      sync.Mutex
	gate    *Alignment    // what was put into items; guarded by mu
	changed chan struct{} // closed and replaced when aligned moves; guarded by mu
}

// newInbox returns an inbox that holds up to size batches.
func newInbox(size int) *Inbox {
	return &Inbox{items: make(chan item, size), changed: make(chan struct{})}
}

// passed notes that an input has put marker n into the channel. When all have, whatever they send is behind it, and
// the inputs that were held go on.
func (in *Inbox) passed(input int, n checkpoint.Number) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.gate.Marker(input, n) {
		return
	}
	in.aligned.Store(uint64(n))
	close(in.changed)
	in.changed = make(chan struct{})
}

func (in *Inbox) wait() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.changed
}

// Link is one input of an inbox. It belongs to one sender.
type Link struct {
	inbox *Inbox
	input int
	sent  checkpoint.Number // newest marker sent
	from  *Tally            // of the sender, to count the time it waits

	Sent     atomic.Int64 // records handed to the link
	Received atomic.Int64 // records that came out of it
}

// Send hands a packet over, and waits while the inbox is full or the input is held.
func (l *Link) Send(ctx context.Context, p Packet) error { return l.send(ctx, item{packet: p}) }

// Control hands a control item over behind what was sent before.
func (l *Link) Control(ctx context.Context, c Control) error {
	if err := l.send(ctx, item{control: c}); err != nil {
		return err
	}
	if c.Kind == Marker {
		l.sent = c.Number
		l.inbox.passed(l.input, c.Number)
	}
	return nil
}

func (l *Link) send(ctx context.Context, it item) error {
	it.input = l.input
	if uint64(l.sent) > l.inbox.aligned.Load() {
		if err := l.held(ctx); err != nil {
			return err
		}
	}
	select {
	case l.inbox.items <- it:
		return nil
	default:
	}
	start := time.Now()
	defer func() { l.from.Blocked.Add(int64(time.Since(start))) }()
	select {
	case l.inbox.items <- it:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// held waits until the marker that this input has delivered has come on the others too.
func (l *Link) held(ctx context.Context) error {
	start := time.Now()
	l.from.Aligning.Add(1)
	defer func() {
		l.from.Aligning.Add(-1)
		l.from.Blocked.Add(int64(time.Since(start)))
	}()
	for {
		changed := l.inbox.wait()
		if uint64(l.sent) <= l.inbox.aligned.Load() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

package iggysink

import (
	"context"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// queuedSends is how many sends wait for a worker, beyond the buffer that it writes next.
const queuedSends = 256

// queue is what a worker writes: a buffer that is being filled, and those before it that are full.
type queue struct {
	length int           // sends that make a buffer full; 0 for no such number
	bytes  int64         // bytes that do
	linger time.Duration // since the first send
	memory *memory
	wake   chan struct{} // tells the worker that there is something new

	mu      sync.Mutex
	filling *buffer       // nil if there is nothing; guarded by mu
	since   time.Time     // when it got its first send; guarded by mu
	full    []*buffer     // guarded by mu
	waiting int           // sends in filling, and in full but for the first; guarded by mu
	closed  bool          // guarded by mu
	moved   chan struct{} // closed at the next change that makes room; nil if nobody waits; guarded by mu
}

func newQueue(c *backgroundConfig, m *memory) *queue {
	return &queue{length: c.length, bytes: int64(c.bytes), linger: c.linger, memory: m, wake: make(chan struct{}, 1)}
}

// send adds the messages of one send. It waits while there are too many; the error is the cause of ctx, or that it is closed.
func (q *queue) send(ctx context.Context, to *topic, by *wire.Partitioning, messages []wire.Message, now time.Time) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return closed(callSend)
		}
		if q.hasRoom() {
			q.add(to, by, messages, now)
			q.mu.Unlock()
			return nil
		}
		moved := q.movement()
		q.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hasRoom says whether a send may be added, under mu.
func (q *queue) hasRoom() bool { return len(q.full) == 0 || q.waiting < queuedSends }

// movement returns a channel that is closed when there may be room, under mu.
func (q *queue) movement() <-chan struct{} {
	if q.moved == nil {
		q.moved = make(chan struct{})
	}
	return q.moved
}

// stir tells those who wait that there may be room, under mu.
func (q *queue) stir() {
	if q.moved != nil {
		close(q.moved)
		q.moved = nil
	}
}

// add adds a send, under mu.
func (q *queue) add(to *topic, by *wire.Partitioning, messages []wire.Message, now time.Time) {
	b, micros := q.open(now), uint64(now.UnixMicro())
	for i := range messages {
		b.add(to, by, &messages[i], micros)
	}
	b.sends++
	q.waiting++
	if q.isFull(b) {
		q.seal()
	}
}

// open returns the buffer that is filled, under mu.
func (q *queue) open(now time.Time) *buffer {
	if q.filling == nil {
		q.filling, q.since = q.memory.buffer(min(q.length, defaultBatchLength)), now
		q.notify()
	}
	return q.filling
}

func (q *queue) isFull(b *buffer) bool {
	return q.length > 0 && b.sends >= q.length || q.bytes > 0 && b.bytes >= q.bytes
}

// seal makes what is filled full, under mu.
func (q *queue) seal() {
	if q.filling == nil {
		return
	}
	if len(q.full) == 0 {
		q.waiting = 0
	}
	q.full = append(q.full, q.filling)
	q.filling = nil
	q.notify()
}

func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// flush makes the worker write what is there, without waiting for more.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seal()
}

// close lets nothing in any more, and makes the worker write what is there.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.seal()
	q.stir()
	q.notify()
}

// take returns the next buffer, when it is full or its time has come: nil if the queue is closed and empty, or ctx has ended.
func (q *queue) take(ctx context.Context) *buffer {
	for ctx.Err() == nil {
		b, wait, ended := q.next()
		if b != nil || ended {
			return b
		}
		q.wait(ctx, wait)
	}
	return nil
}

// next returns what can be written now, or else how long to wait: for ever if that is below 0.
func (q *queue) next() (b *buffer, wait time.Duration, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.full) > 0 {
		b, q.full[0] = q.full[0], nil
		q.full = q.full[1:]
		if len(q.full) > 0 {
			q.waiting -= q.full[0].sends
		}
		q.stir()
		return b, 0, false
	}
	if q.filling == nil {
		return nil, -1, q.closed
	}
	if wait = q.linger - time.Since(q.since); wait > 0 {
		return nil, wait, false
	}
	b, q.filling, q.waiting = q.filling, nil, 0
	q.stir()
	return b, 0, false
}

// wait waits for something new, or for a time.
func (q *queue) wait(ctx context.Context, d time.Duration) {
	if d < 0 {
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-q.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// rest returns what is left when the worker has ended.
func (q *queue) rest() []*buffer {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seal()
	left := q.full
	q.full, q.waiting = nil, 0
	q.stir()
	return left
}

// checkOut returns the buffer that is filled, or a new one, for who is the only one that fills: it comes back by checkIn.
func (q *queue) checkOut() *buffer {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.filling
	q.filling = nil
	if b == nil {
		b = q.memory.buffer(min(q.length, defaultBatchLength))
	}
	return b
}

// checkIn takes a buffer back, in which there are so many sends more.
func (q *queue) checkIn(b *buffer, sends int, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.sends == 0 {
		b.free()
		return
	}
	if b.sends == sends {
		q.since = now
	}
	q.waiting += sends
	q.filling = b
	q.notify()
	if q.isFull(b) {
		q.seal()
	}
}

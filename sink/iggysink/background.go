package iggysink

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// failuresWaiting is how many failures wait for OnError before workers do: enough for those of one outage of a shard or two.
const failuresWaiting = 64

// background buffers sends and writes them.
type background struct {
	p      *Producer
	cfg    backgroundConfig
	queues []*queue            // one for each worker
	room   *semaphore.Weighted // bytes; nil for no bound
	slots  chan struct{}       // holds one for each request that is written; nil for no bound
	seed   maphash.Seed
	turn   atomic.Uint32 // of balanced shards

	ctx      context.Context //nolint:containedctx // of what the workers write: it ends when Shutdown has no more time
	cancel   context.CancelCauseFunc
	failures chan failure
	workers  sync.WaitGroup
	done     chan struct{} // closed when workers and callbacks have ended
	ending   sync.Once
}

// failure is a request that was not written, and what it takes of the room.
type failure struct {
	err   *SendFailedError
	bytes int64
}

// newBackground returns what start starts.
func newBackground(p *Producer, cfg backgroundConfig) *background {
	b := &background{p: p, cfg: cfg, seed: maphash.MakeSeed(), failures: make(chan failure, failuresWaiting), done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	if cfg.buffer > 0 {
		b.room = semaphore.NewWeighted(cfg.buffer)
	}
	if cfg.inFlight > 0 {
		b.slots = make(chan struct{}, cfg.inFlight)
	}
	pools := &memory{}
	for range max(cfg.shards, 1) {
		b.queues = append(b.queues, newQueue(&cfg, pools))
	}
	return b
}

func (b *background) start() {
	for _, q := range b.queues {
		b.workers.Go(func() { b.work(q) })
	}
	go b.handle()
}

// shutdown lets nothing in any more and waits until all is written and told. When ctx ends, what is left fails.
func (b *background) shutdown(ctx context.Context) error {
	for _, q := range b.queues {
		q.close()
	}
	b.ending.Do(func() {
		go func() {
			b.workers.Wait()
			close(b.failures)
		}()
	})
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		cause := context.Cause(ctx)
		b.cancel(cause)
		return fmt.Errorf("iggysink: %v: not everything was written: %w", b.p.home, cause)
	}
}

// send buffers the messages of one send.
func (b *background) send(ctx context.Context, to *topic, by wire.Partitioning, messages []wire.Message) error {
	q, err := b.shard(to, messages)
	if err != nil {
		return err
	}
	size := int64(0)
	for i := range messages {
		size += sizeOf(&messages[i])
	}
	return b.enqueue(ctx, q, to, &by, messages, size)
}

// sendOne is send for one message to the topic of the producer. It lets no pointer to it escape, and so allocates nothing.
func (b *background) sendOne(ctx context.Context, m *wire.Message) error {
	if b.p.cfg.partitioner != nil || b.cfg.sharding != nil {
		_, err := b.p.send(ctx, b.p.home, wire.Partitioning{}, []wire.Message{*m})
		return err
	}
	q, err := b.shard(b.p.home, nil)
	if err != nil {
		return err
	}
	one := [1]wire.Message{*m}
	return b.enqueue(ctx, q, b.p.home, &b.p.cfg.by, one[:], sizeOf(m))
}

func (b *background) enqueue(
	ctx context.Context, q *queue, to *topic, by *wire.Partitioning, messages []wire.Message, size int64,
) error {
	if err := b.reserve(ctx, size); err != nil {
		return err
	}
	counts := &b.p.counts
	counts.buffered.Add(int64(len(messages)))
	counts.bufferedBytes.Add(size)
	if err := q.send(ctx, to, by, messages, time.Now()); err != nil {
		b.release(len(messages), size)
		return err
	}
	counts.sent.Add(int64(len(messages)))
	return nil
}

// shard returns the queue of a send.
func (b *background) shard(to *topic, messages []wire.Message) (*queue, error) {
	n := len(b.queues)
	i := 0
	switch {
	case b.cfg.sharding != nil:
		i = b.cfg.sharding(n, to.stream, to.topic, messages)
	case n == 1:
	case b.cfg.rotate:
		i = int((b.turn.Add(1) - 1) % uint32(n))
	default:
		i = int(maphash.Comparable(b.seed, [2]wire.Identifier{to.stream, to.topic}) % uint64(n))
	}
	if i < 0 || i >= n {
		return nil, notAllowed("Sharding chose worker %d of %d", i, n)
	}
	return b.queues[i], nil
}

// errNoRoom ends the wait of BlockWithTimeout.
var errNoRoom = errors.New("the buffer was full for all the time of BlockWithTimeout")

// reserve takes room for a send, as the failure mode says.
func (b *background) reserve(ctx context.Context, size int64) error {
	if b.room == nil || b.room.TryAcquire(size) {
		return nil
	}
	if size > b.cfg.buffer || b.cfg.mode == modeFail {
		return &client.Error{Code: wire.CodeBackgroundSendBufferOverflow, Call: callSend}
	}
	for _, q := range b.queues {
		q.flush() // who lingers keeps others waiting
	}
	if b.cfg.mode == modeTimeout {
		within, cancel := context.WithTimeoutCause(ctx, b.cfg.patience, errNoRoom)
		defer cancel()
		ctx = within
	}
	if b.room.Acquire(ctx, size) == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errNoRoom) {
		return &client.Error{Code: wire.CodeBackgroundSendTimeout, Call: callSend, Err: cause}
	}
	return cause
}

// release gives room back.
func (b *background) release(messages int, size int64) {
	b.p.counts.buffered.Add(-int64(messages))
	b.p.counts.bufferedBytes.Add(-size)
	if b.room != nil {
		b.room.Release(size)
	}
}

// work writes what comes into a queue, until it is closed and empty.
func (b *background) work(q *queue) {
	for buffer := q.take(b.ctx); buffer != nil; buffer = q.take(b.ctx) {
		b.writeAll(buffer)
	}
	for _, buffer := range q.rest() { // there was no more time
		b.writeAll(buffer)
	}
}

// writeAll writes the requests of a buffer in turn.
func (b *background) writeAll(buffer *buffer) {
	failed := false
	for _, r := range buffer.requests {
		if err := b.write(r); err != nil {
			failed = true
			b.failures <- failure{err, r.bytes}
			continue
		}
		b.release(len(r.messages), r.bytes)
	}
	if !failed {
		buffer.free()
	}
}

// write writes one request, within the bound of those in flight.
func (b *background) write(r *request) *SendFailedError {
	err := b.enter()
	if err == nil {
		_, _, err = b.p.transmit(b.ctx, r.to, r.by, b.p.idempotentIn(false), r.messages)
		b.leave()
	}
	if err == nil {
		b.p.counts.wrote(len(r.messages))
		return nil
	}
	failed := sendFailed(err, r.to, r.by, r.messages, len(r.messages))
	b.p.counts.lost(len(r.messages), failed.Uncertain)
	return failed
}

// enter waits until a request may be written.
func (b *background) enter() error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	if b.slots == nil {
		return nil
	}
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

func (b *background) leave() {
	if b.slots != nil {
		<-b.slots
	}
}

// handle tells of failures, one after the other.
func (b *background) handle() {
	defer close(b.done)
	for f := range b.failures {
		messages := len(f.err.Failed)
		b.tell(f.err)
		b.release(messages, f.bytes)
	}
}

// tell calls the function of OnError, or logs and drops.
func (b *background) tell(failed *SendFailedError) {
	log := b.p.cfg.log
	defer func() {
		if v := recover(); v != nil {
			log.Error("iggy: the function of OnError panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if b.cfg.onError != nil {
		b.cfg.onError(failed)
		return
	}
	log.Error("iggy: messages dropped that could not be written", "stream", failed.Stream.String(), "topic", failed.Topic.String(),
		"messages", len(failed.Failed), "uncertain", failed.Uncertain, "cause", failed.Cause)
}

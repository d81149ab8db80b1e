package iggysink

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// mostCarried is how many batches wait for the pipeline to decide about a failure, before it is taken as decided.
const mostCarried = 16

// writer is an open sink. The pipeline's goroutine encodes records into a queue, and a worker writes what is there.
type writer[T any] struct {
	sink       *Sink[T]
	p          *Producer
	idempotent bool
	most       int64  // bytes in the buffer; 0 for no bound
	release    func() // gives the producer back
	q          *queue
	used       atomic.Int64 // bytes in the buffer, by sizeOf

	ctx    context.Context //nolint:containedctx // of what the worker writes: it ends when the writer is closed
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the worker has ended

	// Of the pipeline's goroutine.
	encoding   encoding
	message    wire.Message      // of the record that is encoded
	place      wire.Partitioning // where it goes
	partitions uint32            // of the topic, for keys; 0 while that is not known
	carry      []carried[T]      // what waits for a decision
	next       uint64            // number of the next record
	closed     bool

	stale atomic.Bool // the number of partitions has to be asked for

	mu       sync.Mutex
	held     []held[T]            // what is not settled, in order; guarded by mu
	queued   uint64               // messages that came into the queue; guarded by mu
	settled  uint64               // those of them that were written, or have failed and were told; guarded by mu
	refused  runnel.BatchError[T] // what is to be told; guarded by mu
	halt     halt                 // guarded by mu
	flushing bool                 // Flush waits; guarded by mu
	barriers []barrier            // guarded by mu
	changed  chan struct{}        // closed at the next change of the fields above; guarded by mu
}

// halt says why nothing is written right now.
type halt uint8

const (
	running  halt = iota
	untold        // a request failed, which nobody knows yet
	told          // a call has returned it: the next one means that the pipeline goes on
	reported      // a barrier was told: the flush behind it means that the pipeline goes on
)

// held is a batch that may be asked for again.
type held[T any] struct {
	batch runnel.Batch[T]
	first uint64 // number of its first record
}

// carried is a batch that is to be encoded from a row on.
type carried[T any] struct {
	held[T]
	row int
}

// barrier is a marker that waits until so many messages are settled.
type barrier struct {
	upTo  uint64
	carry bool // what is carried comes before it
	done  func(error)
}

func newWriter[T any](s *Sink[T], idempotent bool, release func()) *writer[T] {
	cfg := s.p.cfg.sinkBackground()
	w := &writer[T]{
		sink: s, p: s.p, idempotent: idempotent, most: cfg.buffer, release: release,
		q: newQueue(&cfg, &memory{}), ended: make(chan struct{}), changed: make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Write encodes the records of a batch into the buffer. It waits while that is full. Records that are refused, of this batch or of
// earlier ones that were not written, are returned; the others count as written.
func (w *writer[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	if w.closed {
		return runnel.ErrClosed
	}
	h := carried[T]{held: held[T]{batch: batch.Clone(), first: w.next}}
	w.next += uint64(batch.Len())
	w.hold(h.held)
	if w.waits() {
		w.carry = append(w.carry, h)
		return w.tell()
	}
	w.resume()
	if w.partitions != 0 {
		_ = w.countPartitions(ctx) // once for a batch, as the client knows it; without an answer the number stays
	}
	for h.row < batch.Len() {
		if ok, err := w.awaitRoom(ctx); err != nil {
			return err
		} else if !ok {
			w.carry = append(w.carry, h)
			break
		}
		w.fill(ctx, &h, false)
	}
	return w.tell()
}

// hold keeps a batch.
func (w *writer[T]) hold(h held[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, h)
}

// waits says whether a batch has to wait for the pipeline to decide about a failure.
func (w *writer[T]) waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.halt == untold || w.halt == reported && len(w.carry) < mostCarried
}

// awaitRoom waits until there is room in the buffer. It is false if a request failed meanwhile.
func (w *writer[T]) awaitRoom(ctx context.Context) (bool, error) {
	for {
		room, moved := w.room()
		if room {
			return true, nil
		}
		w.mu.Lock()
		halted := w.halt != running
		w.mu.Unlock()
		if halted {
			return false, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// room says whether there is room, or else returns what tells of a change.
func (w *writer[T]) room() (bool, <-chan struct{}) {
	full := w.isFull(0)
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	if !full && w.q.hasRoom() {
		return true, nil
	}
	if full {
		w.q.seal() // who lingers keeps others waiting
	}
	return false, w.q.movement()
}

// isFull says whether the buffer is full, with so many bytes more in it.
func (w *writer[T]) isFull(more int64) bool {
	used := w.used.Load() + more
	return w.most > 0 && used > 0 && used >= w.most
}

// fill encodes records into the buffer that is filled, until they are all in or it is full. With force, it is never full.
func (w *writer[T]) fill(ctx context.Context, h *carried[T], force bool) {
	now := time.Now()
	micros := uint64(now.UnixMicro())
	b := w.q.checkOut()
	before := b.bytes
	messages := b.sends
	if b.sends == 0 {
		b.first = h.first + uint64(h.row)
	}
	for h.row < h.batch.Len() && !w.q.isFull(b) && (force || !w.isFull(b.bytes-before)) {
		record := h.batch.Record(h.row)
		if by, err := w.encode(ctx, &record); err != nil {
			w.refuse(record, err)
		} else {
			r := b.add(w.p.home, by, &w.message, micros)
			r.rows = append(r.rows, uint32(h.first+uint64(h.row)-b.first))
			b.sends++
		}
		h.row++
	}
	b.behind = h.first + uint64(h.row)
	messages = b.sends - messages
	w.count(messages, b.bytes-before)
	w.q.checkIn(b, messages, now)
}

// count counts messages that come into the queue.
func (w *writer[T]) count(messages int, size int64) {
	w.used.Add(size)
	c := &w.p.counts
	c.sent.Add(int64(messages))
	c.buffered.Add(int64(messages))
	c.bufferedBytes.Add(size)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued += uint64(messages)
}

// encode makes w.message of a record, and says where it goes.
func (w *writer[T]) encode(ctx context.Context, record *runnel.Record[T]) (by *wire.Partitioning, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &runnel.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	message, err := w.sink.encode(*record)
	if err == nil {
		err = w.encoding.message(&w.message, &message, &record.Meta)
	}
	if err != nil {
		return nil, err
	}
	if w.p.cfg.partitioner != nil {
		w.place, err = w.p.partitioning(w.p.home, wire.Partitioning{}, []wire.Message{w.message})
		return &w.place, err
	}
	key, err := message.key(&record.Meta, w.p.cfg.keys)
	switch {
	case err != nil || len(key) == 0:
		return &w.p.cfg.by, err
	case w.p.server.Sessionless():
		w.place = ByKey(key)
		return &w.place, nil
	}
	if w.partitions == 0 || w.stale.Load() {
		if err := w.countPartitions(ctx); err != nil {
			return nil, err
		}
	}
	w.place = ToPartition(wire.PartitionOfKey(key, w.partitions))
	return &w.place, nil
}

// countPartitions asks how many partitions the topic has: the server, if the client's word was wrong.
func (w *writer[T]) countPartitions(ctx context.Context) error {
	n, err := w.p.partitions(ctx, w.p.home, w.stale.Load())
	if err != nil {
		return err
	}
	w.partitions = n
	w.stale.Store(false)
	return nil
}

// refuse notes a record that is to be told.
func (w *writer[T]) refuse(record runnel.Record[T], err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused.Failed = append(w.refused.Failed, record)
	w.refused.Errs = append(w.refused.Errs, w.p.recordError(err))
}

// tell returns what is to be told, or nil.
func (w *writer[T]) tell() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.halt == untold {
		w.halt = told
	}
	if w.settled == w.queued && len(w.carry) == 0 {
		clear(w.held) // where all were refused, no buffer comes to an end
		w.held = w.held[:0]
	}
	return w.take()
}

// take is tell for who has mu, and leaves the state to them.
func (w *writer[T]) take() error {
	if len(w.refused.Failed) == 0 {
		return nil
	}
	all := w.refused
	w.refused = runnel.BatchError[T]{}
	return &all
}

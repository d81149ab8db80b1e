package iggysource

import (
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// batch are the messages that one reply had of one partition.
type batch struct {
	cursor   *cursor
	run      *run
	lease    *lease
	slot     *slot
	records  wire.Records
	count    int
	left     int // messages that were not looked at
	bytes    int
	floor    uint64               // messages below it were handed out before
	strategy wire.PollingStrategy // where the read began
	next     uint64               // offset behind the last message that was looked at; where the read began, if from is set
	from     bool
}

// item is something to hand out: a batch, or else what stands in its place.
type item struct {
	batch *batch
	err   error // of a read that cannot go on
	note  *note // for a pipeline
}

// note tells a pipeline of a partition that comes or goes.
type note struct {
	kind       noteKind
	cursor     *cursor
	assignment *runnel.Assignment
	position   []byte // of noteBegin
}

type noteKind uint8

const (
	noteDrain noteKind = iota // commit what was read, so that the partition can go
	noteGone                  // the partition is not this reader's any more
	noteBegin                 // reading begins at a position that has to be kept
)

// queue holds items in the order they came.
type queue struct {
	items []item
	head  int
	count int // messages
	bytes int
}

func (q *queue) push(it item) {
	q.items = append(q.items, it)
	if it.batch != nil {
		q.count += it.batch.count
		q.bytes += it.batch.bytes
	}
}

func (q *queue) pop() (it item, ok bool) {
	if q.head == len(q.items) {
		return item{}, false
	}
	it = q.items[q.head]
	q.items[q.head] = item{}
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head > 64 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	if it.batch != nil {
		q.count -= it.batch.count
		q.bytes -= it.batch.bytes
	}
	return it, true
}

// push queues something and wakes who waits for it. The lock is held.
func (f *feed) push(it item) {
	f.queue.push(it)
	signal(f.arrived)
}

// done gives back the room of a batch whose messages were handed out, or that is not handed out.
func (f *feed) done(b *batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release(b)
	f.pump()
}

func (f *feed) release(b *batch) {
	if b.run.ended.Load() {
		f.stats.dropped.Add(uint64(max(0, b.left)))
	}
	if b.slot.batches--; b.slot.batches == 0 {
		f.slots++
	}
	c := b.cursor
	c.queued--
	if f.source == "" {
		f.depart(c)
	}
}

// pull takes the next thing to hand out that is not of a run that has ended. ok is false if there is none.
func (f *feed) pull() (it item, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = true
	defer f.pump()
	for {
		it, ok = f.queue.pop()
		if !ok || it.batch == nil || !it.batch.run.ended.Load() {
			f.asking = !ok
			return it, ok
		}
		f.release(it.batch)
	}
}

package iggysource

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// cursor is where reading is in one partition. Each partition has its own. It is guarded by the mu of its feed.
type cursor struct {
	id    uint32
	lease *lease // what messages are handed out under
	run   *run   // which reads and batches count

	strategy wire.PollingStrategy  // where the next read begins
	under    wire.PartitionContext // what the next read carries
	ask      bool                  // the stored offset, if there is one, goes before the strategy
	known    uint64                // all before this offset was there once
	pin      bool                  // a pipeline commits where the partition begins before its first record

	primary int    // replica that serves it, or unknownPrimary
	newest  uint64 // offset of the newest message, as of the last reply
	seen    bool   // there was a reply
	backlog bool   // there is more than what was read

	job     *job        // the read under way
	held    bool        // it is not read until a timer or a look at the assignment says so
	stopped bool        // it is not read until a seek
	leaving bool        // the group takes it away: what was read is still handed out
	timer   *time.Timer // of held or leaving
	pause   time.Duration
	fails   int // lasting errors in a row
	unowned int // how often in a row the server said that another member has it

	queued int           // batches that were not all handed out
	end    atomic.Uint64 // a bounded read ends before this offset
	ended  bool          // and has come there
}

// unknownPrimary stands for a primary that has to be asked for.
const unknownPrimary = -1

// run is one stretch of reading in a partition. What belongs to a run that has ended is not handed out.
type run struct{ ended atomic.Bool }

// lease is one generation of a cursor: a seek begins another one, and so does a change of the life or the owner of the
// partition. Checkpoints refer to it.
type lease struct {
	feed       *feed
	partition  uint32
	context    wire.PartitionContext // written before the first message of the lease is handed out
	assignment *runnel.Assignment    // in a pipeline
	base       uint64                // offset where the first read began; as context
	read       uint64                // offset behind the last message read, once reading has ended

	delivered atomic.Uint64 // offset behind the last message handed out; 0 for none
	counted   atomic.Uint64 // the same of those that count as handled
	stored    atomic.Uint64 // the same of what was stored
	old       atomic.Bool   // a seek began another generation: nothing of it is stored any more
	turn      chan struct{} // holds one while an offset of it is stored
}

func (f *feed) newLease(partition uint32) *lease {
	l := &lease{feed: f, partition: partition, turn: make(chan struct{}, 1)}
	if f.source != "" {
		l.assignment = runnel.NewAssignment(f.source, partitionName(partition))
	}
	return l
}

func (f *feed) newCursor(partition uint32, strategy wire.PollingStrategy) *cursor {
	c := &cursor{id: partition, lease: f.newLease(partition), run: &run{}, strategy: strategy, primary: unknownPrimary}
	c.end.Store(noEnd)
	return c
}

// readable says whether a read of the partition may begin.
func (c *cursor) readable() bool {
	return c.job == nil && !c.held && !c.stopped && !c.leaving && !c.ended
}

// alone says whether the next read has to be a poll: a fetch of several partitions takes offsets only.
func (c *cursor) alone() bool { return offsetless(c.strategy) }

func offsetless(s wire.PollingStrategy) bool {
	return s.Kind == wire.FromLast || s.Kind == wire.FromTimestamp
}

// restart ends the run and begins another one. The lease goes on.
func (c *cursor) restart(strategy wire.PollingStrategy) {
	c.run.ended.Store(true)
	c.run = &run{}
	c.strategy = strategy
	c.backlog = false
	c.cancel()
}

// cancel ends the read under way early. What it has read of other partitions counts.
func (c *cursor) cancel() {
	if c.job != nil {
		c.job.cancel()
	}
}

// resume takes away what keeps the partition from being read.
func (c *cursor) resume() {
	c.held, c.stopped = false, false
	c.fails, c.unowned, c.pause = 0, 0, 0
	if c.timer != nil {
		c.timer.Stop()
	}
}

// hold keeps the partition from being read for a while.
func (f *feed) hold(c *cursor, d time.Duration) {
	c.held = true
	of := c.run
	c.timer = time.AfterFunc(d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if c.run == of {
			c.held = false
			f.pump()
		}
	})
}

// job is a read that is under way or about to be. Its fields are guarded by the mu of the feed, but for those of targets that
// are the job's own.
type job struct {
	targets  []target
	wait     time.Duration
	slot     *slot
	canceled bool
	stop     context.CancelFunc // nil before it has begun
}

// target is a partition of a job.
type target struct {
	cursor   *cursor
	run      *run
	strategy wire.PollingStrategy
	under    wire.PartitionContext
	ask      bool
	primary  int
}

// slot is what a read takes of the room for messages that are read ahead, until all of them are handed out.
type slot struct{ batches int }

func (j *job) cancel() {
	j.canceled = true
	if j.stop != nil {
		j.stop()
	}
}

package iggysource

import "sync/atomic"

// Stats counts what a consumer has done since Init, or a pipeline since it opened the source.
type Stats struct {
	// Read are the messages that came from the server, those that are not handed out after all included.
	Read uint64
	// Dropped are those of them that are not handed out: the partition went to another member, or a seek went elsewhere.
	Dropped uint64
	// Buffered are the messages that are read ahead, and BufferedBytes their bytes.
	Buffered, BufferedBytes int
	// Committed is how often an offset was stored.
	Committed uint64
	// Refused is how often storing one was refused, as the partition has another life or another owner. It is not tried
	// again.
	Refused uint64
	// Retried is how often reading a partition failed and was tried again.
	Retried uint64
	// Rebalanced is how often a partition came or went.
	Rebalanced uint64
	// Partitions is how many partitions are read, and Stopped those of them that wait for a seek.
	Partitions, Stopped int
	// Lag is how many messages are known to be there and were not handed out.
	Lag uint64
}

// counters are those of Stats that only grow.
type counters struct{ read, dropped, committed, refused, retried, rebalanced atomic.Uint64 }

// Stats returns the counts. It is safe for concurrent use.
func (c *Consumer) Stats() Stats {
	f := c.feedOf()
	if f == nil {
		return Stats{}
	}
	s := Stats{
		Read: f.stats.read.Load(), Dropped: f.stats.dropped.Load(), Committed: f.stats.committed.Load(),
		Refused: f.stats.refused.Load(), Retried: f.stats.retried.Load(), Rebalanced: f.stats.rebalanced.Load(),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Buffered, s.BufferedBytes, s.Partitions = f.queue.count, f.queue.bytes, len(f.order)
	for _, c := range f.order {
		if c.stopped {
			s.Stopped++
		}
		s.Lag += c.lag()
	}
	return s
}

// lag is how many messages of the partition are known to be there and were not handed out.
func (c *cursor) lag() uint64 {
	if !c.seen {
		return 0
	}
	next := c.lease.delivered.Load()
	if next == 0 {
		next = c.lease.base
	}
	if end := c.newest + 1; end > next && (c.newest > 0 || c.lease.delivered.Load() > 0 || c.queued > 0) {
		return end - next
	}
	return 0
}

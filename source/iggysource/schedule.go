package iggysource

import (
	"slices"
	"time"
)

// pump begins reads as long as there is room for what they bring. The lock is held.
//
// A partition that is known to have more is read by itself, without a wait, so that several are read at the same time. The
// others of a primary are waited for together. Each takes its turn.
func (f *feed) pump() {
	for j := f.admit(); j != nil; j = f.admit() {
		f.jobs <- j // there is a place for each slot
	}
}

// admit returns the next read that there is room for, which has to be made, or nil.
func (f *feed) admit() *job {
	if f.slots == 0 || !f.started || f.closed || f.broken != nil || f.cfg.commits == commitOnRead && !f.asking {
		return nil
	}
	j := f.plan()
	if j == nil {
		return nil
	}
	f.slots--
	for _, t := range j.targets {
		t.cursor.job = j
	}
	if j.wait > 0 {
		f.waiting = append(f.waiting, j)
	}
	return j
}

// plan returns the read of the partition whose turn it is, or nil.
func (f *feed) plan() *job {
	for i := range f.order {
		at := (f.turn + i) % len(f.order)
		c := f.order[at]
		if !c.readable() {
			continue
		}
		if j := f.planFor(c); j != nil {
			f.turn = at + 1
			return j
		}
	}
	return nil
}

func (f *feed) planFor(c *cursor) *job {
	switch {
	case f.api.Sessionless():
		return newJob(f.shareOfWait(c), c)
	case c.alone() && (f.slots == 1 || f.crowded(c.primary)):
		return newJob(0, c)
	case c.alone():
		return newJob(f.longestWait(), c)
	case c.backlog && f.slots > 1:
		return newJob(0, c)
	}
	together, backlog := f.companions(c)
	switch {
	case backlog:
		return newJob(0, together...)
	case f.slots == 1 && slices.ContainsFunc(f.order, func(o *cursor) bool { return o.alone() || o.primary != c.primary }):
		return newJob(min(f.longestWait(), longestPause), together...) // those are read in between
	case !f.crowded(c.primary):
		return newJob(f.longestWait(), together...)
	}
	f.regroup(c.primary)
	return nil
}

// crowded says whether as many reads of a primary wait as may, so that there is room for those that need not.
func (f *feed) crowded(primary int) bool {
	n := 0
	for _, j := range f.waiting {
		if j.targets[0].cursor.primary == primary {
			n++
		}
	}
	return n >= max(1, cap(f.jobs)/2)
}

// companions returns the partitions that are read together with c: those that have the same primary and nothing known to
// read. In the last slot those come too that have, as they would not be read while it waits; backlog says so.
func (f *feed) companions(c *cursor) (together []*cursor, backlog bool) {
	last := f.slots == 1
	first := slices.Index(f.order, c)
	for i := range f.order {
		o := f.order[(first+i)%len(f.order)]
		if len(together) == mostPartitions || !o.readable() || o.alone() || o.primary != c.primary || o.backlog && !last {
			continue
		}
		together = append(together, o)
		backlog = backlog || o.backlog
	}
	return together, backlog
}

// regroup ends reads of a primary that wait, so that their partitions are waited for together with others.
func (f *feed) regroup(primary int) {
	for _, j := range f.waiting {
		if j.targets[0].cursor.primary == primary {
			j.cancel()
		}
	}
}

// shareOfWait is how long a read of one partition waits where partitions cannot be waited for together: each is looked at
// within the wait, however many there are.
func (f *feed) shareOfWait(c *cursor) time.Duration {
	if c.backlog {
		return 0
	}
	if n := len(f.order); n > cap(f.jobs) {
		return f.longestWait() * time.Duration(cap(f.jobs)) / time.Duration(n)
	}
	return f.longestWait()
}

// longestWait is how long a read waits: not at all for what is known to be there.
func (f *feed) longestWait() time.Duration {
	if f.ends != nil {
		return 0
	}
	return f.cfg.wait
}

func newJob(wait time.Duration, cursors ...*cursor) *job {
	j := &job{wait: wait, slot: &slot{}, targets: make([]target, len(cursors))}
	for i, c := range cursors {
		j.targets[i] = target{
			cursor: c, run: c.run, strategy: c.strategy, under: c.under, ask: c.ask, primary: c.primary,
		}
	}
	return j
}

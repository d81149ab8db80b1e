package broker

import (
	"slices"
	"time"
)

// group is a consumer group of a topic: which member reads which partition. (Iggy binary protocol, consumer groups.) It
// has no clock and no lock of its own: it is guarded by the broker's mu.
//
// A partition that moves while its owner has read messages and not committed them is handed over when the owner does, or
// at a deadline. Until then the owner may commit but not read, and the heir may do neither.
type group struct {
	id         uint32
	name       string
	topic      topicOf
	members    []*member // in the order in which they joined
	nextMember uint32
	version    uint64             // of the assignment: grows with each change
	owned      map[uint32]*owning // by partition
}

// member is a session in a group.
type member struct {
	id      uint32
	session *session
}

// owning says whose a partition is.
type owning struct {
	owner      *member
	generation uint64    // position in the log of the change that made the owner the owner
	heir       *member   // whose it will be, or nil
	until      time.Time // when at the latest
	served     uint64    // the offset behind the last message that the owner was served; 0 if there was none
}

func (g *group) label() (uint32, string) { return g.id, g.name }

// join adds a session.
func (g *group) join(s *session) *member {
	m := &member{id: g.nextMember, session: s}
	g.nextMember++
	g.members = append(g.members, m)
	s.members[g] = m
	return m
}

// leave removes a member: its partitions are free at once.
func (g *group) leave(m *member) {
	g.members = slices.DeleteFunc(g.members, func(other *member) bool { return other == m })
	delete(m.session.members, g)
	for _, o := range g.owned {
		if o.heir == m {
			o.heir = nil
		}
		if o.owner == m {
			o.owner = nil
		}
	}
}

// dissolve removes all members.
func (g *group) dissolve() {
	for _, m := range slices.Clone(g.members) {
		g.leave(m)
	}
}

// rebalance gives each partition to a member, and as many to each, moving no more than that takes. op is the position of
// the change in the log, until the deadline for owners that have to commit first. It says whether one has.
func (g *group) rebalance(op uint64, until time.Time) (moving bool) {
	partitions := g.topic.partitions
	for id := range g.owned {
		if uint64(id) >= uint64(len(partitions)) {
			delete(g.owned, id)
		}
	}
	for i, next := range g.balance(partitions) {
		p := partitions[i]
		o := g.owned[p.id]
		if o == nil {
			o = &owning{}
			g.owned[p.id] = o
		}
		switch {
		case next == o.owner:
			o.heir = nil
		case o.owner != nil && g.unsettled(p, o):
			if o.heir == nil {
				o.until = until
			}
			o.heir, moving = next, true
		default:
			o.give(next, op)
		}
		p.waiters.wake() // a read that waits looks whether it still may
	}
	g.version = op
	return moving
}

// balance says to which member each partition goes.
func (g *group) balance(partitions []*partition) []*member {
	next := make([]*member, len(partitions))
	if len(g.members) == 0 {
		return next
	}
	least, more := len(partitions)/len(g.members), len(partitions)%len(g.members)
	has := map[*member]int{}
	takes := func(m *member) bool {
		switch {
		case has[m] < least:
		case has[m] == least && more > 0:
			more--
		default:
			return false
		}
		has[m]++
		return true
	}
	for i, p := range partitions {
		if holder := g.holder(p); holder != nil && takes(holder) {
			next[i] = holder
		}
	}
	for i := range next {
		for at := 0; next[i] == nil; at++ {
			if m := g.members[at]; takes(m) {
				next[i] = m
			}
		}
	}
	return next
}

// holder is the member that a partition is to stay with if that is fair, or nil.
func (g *group) holder(p *partition) *member {
	o := g.owned[p.id]
	switch {
	case o == nil:
		return nil
	case o.heir != nil:
		return o.heir
	}
	return o.owner
}

// give makes a member the owner.
func (o *owning) give(to *member, op uint64) { *o = owning{owner: to, generation: op} }

// unsettled says whether the owner was served messages that are not committed.
func (g *group) unsettled(p *partition, o *owning) bool {
	stored, ok := p.offsets[g.key()]
	return o.served > 0 && (!ok || stored+1 < o.served)
}

// settle hands over partitions that wait for it, once their owner has committed or the time is over. It says whether it
// did, and whether others wait.
func (g *group) settle(op uint64, now time.Time) (done, moving bool) {
	for _, p := range g.topic.partitions {
		o := g.owned[p.id]
		switch {
		case o == nil || o.heir == nil:
		case g.unsettled(p, o) && now.Before(o.until):
			moving = true
		default:
			o.give(o.heir, op)
			g.version = op
			p.waiters.wake()
			done = true
		}
	}
	return done, moving
}

// reads returns the ownership with which a member may read a partition. A generation of 0 stands for whatever it is.
func (g *group) reads(m *member, p *partition, generation uint64) (*owning, bool) {
	o, ok := g.commits(m, p, generation)
	return o, ok && o.heir == nil
}

// commits returns the ownership with which a member may store offsets of a partition.
func (g *group) commits(m *member, p *partition, generation uint64) (*owning, bool) {
	o := g.owned[p.id]
	if m == nil || o == nil || o.owner != m || generation != 0 && generation != o.generation {
		return nil, false
	}
	return o, true
}

// partitionsOf returns what a member may read.
func (g *group) partitionsOf(m *member) []uint32 {
	var mine []uint32
	for _, p := range g.topic.partitions {
		if _, ok := g.reads(m, p, 0); ok {
			mine = append(mine, p.id)
		}
	}
	return mine
}

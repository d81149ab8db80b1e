package broker

import (
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// sweep ends what time has ended. (Iggy binary protocol, heartbeats.)
func (b *Broker) sweep(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		if len(s.members) > 0 {
			b.sweepMember(s, now)
		}
	}
	for g := range b.moving {
		b.settle(g)
	}
	for _, s := range b.streams.all() {
		for _, t := range s.topics.all() {
			b.retain(t, micros(now))
		}
	}
}

// sweepMember ends the memberships of a session that was not heard for too long, and its connections. The session itself
// may be bound again.
func (b *Broker) sweepMember(s *session, now time.Time) {
	if len(s.links) == 0 {
		if now.Sub(s.alone) >= b.config.RejoinGrace {
			b.leaveAll(s)
		}
		return
	}
	limit := b.config.Heartbeat + b.config.Heartbeat/5
	silent := true
	for l := range s.links {
		silent = silent && now.Sub(l.seen) >= limit
	}
	if !silent {
		return
	}
	b.leaveAll(s)
	for l := range s.links {
		l.evict(s.client, wire.EvictStaleClient)
	}
}

package broker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// What tests of clients need a server to do that no request can ask for. Names of streams, topics and partitions that are
// not there are an error.

// Renew gives a partition a new life, as if it had been deleted and made again with the same messages: requests for the
// old one get code 87.
func (b *Broker) Renew(stream, topic wire.Identifier, partition uint32) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.partitionOf(stream, topic, partition)
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	t, err := b.topicOf(stream, topic)
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	in, _ := b.streams.find(stream)
	b.op++
	b.lives++
	was := p.incarnation
	p.incarnation = b.lives
	if err := b.config.Store.Commit(b.counters(), t.entry(in, t.partitions)); err != nil {
		p.incarnation = was
		return fmt.Errorf("renew: %w", err)
	}
	p.waiters.wake()
	return nil
}

// Regenerate gives all partitions of a group to their owners anew: requests with the old generations get code 5009.
func (b *Broker) Regenerate(stream, topic, group wire.Identifier) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, err := b.topicOf(stream, topic)
	if err != nil {
		return fmt.Errorf("regenerate: %w", err)
	}
	g, ok := t.groups.find(group)
	if !ok {
		return fmt.Errorf("regenerate: group %s is not there", group)
	}
	b.op++
	g.version = b.op
	for _, o := range g.owned {
		o.generation = b.op
	}
	for _, p := range t.partitions {
		p.waiters.wake()
	}
	return nil
}

// Truncate makes a partition lose its messages from an offset on, as a server that is killed may. Stored offsets of
// consumers stay, and may lie beyond the end.
func (b *Broker) Truncate(stream, topic wire.Identifier, partition uint32, next uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.partitionOf(stream, topic, partition)
	if err != nil {
		return fmt.Errorf("truncate: %w", err)
	}
	return b.shrink(p, func() error { return p.log.Truncate(next) })
}

// Evict ends the connection for a reason, as if the client had given it. Its session lives on.
func (l *Link) Evict(why wire.EvictReason) {
	l.broker.mu.Lock()
	defer l.broker.mu.Unlock()
	if l.session == nil {
		l.end(nil) // an eviction names a client
		return
	}
	l.evict(l.session.client, why)
}

// EvictAll ends every connection for a reason, as [Link.Evict] does.
func (b *Broker) EvictAll(why wire.EvictReason) {
	for _, l := range b.allLinks() {
		l.Evict(why)
	}
}

// Disconnect ends every connection without a word.
func (b *Broker) Disconnect() {
	for _, l := range b.allLinks() {
		l.Close()
	}
}

func (b *Broker) allLinks() []*Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.links))
}

// ForgetSessions ends every session, as a server that is started anew has none. Connections stay: what they ask for gets
// code 40.
func (b *Broker) ForgetSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		b.endSession(s)
	}
}

func (b *Broker) topicOf(stream, name wire.Identifier) (*topic, error) {
	s, ok := b.streams.find(stream)
	if !ok {
		return nil, fmt.Errorf("stream %s is not there", stream)
	}
	t, ok := s.topics.find(name)
	if !ok {
		return nil, fmt.Errorf("topic %s/%s is not there", stream, name)
	}
	return t, nil
}

func (b *Broker) partitionOf(stream, topic wire.Identifier, id uint32) (*partition, error) {
	t, err := b.topicOf(stream, topic)
	if err != nil {
		return nil, err
	}
	p := t.partition(id)
	if p == nil {
		return nil, fmt.Errorf("partition %s/%s/%d is not there", stream, topic, id)
	}
	return p, nil
}

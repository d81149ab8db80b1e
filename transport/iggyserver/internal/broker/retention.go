package broker

import "github.com/runnel-go/runnel/transport/wire"

// retain removes the oldest segments of a topic that its settings do not keep: those that are older than its messages may
// become, and those beyond its size. The open segment of a partition always stays. A log with an error keeps what it has,
// until the next time.
func (b *Broker) retain(t *topic, now uint64) {
	if expiry, ok := t.limit(wire.OptionMessageExpiry); ok {
		for _, p := range t.partitions {
			b.expire(p, now-min(now, expiry))
		}
	}
	size, ok := t.limit(wire.OptionMaxTopicSize)
	for ok && t.exceeds(size) {
		oldest := t.oldest()
		ok = oldest != nil && b.dropOldest(oldest)
	}
}

// limit returns a setting that somebody has made, unless it stands for no limit.
func (t *topic) limit(key string) (uint64, bool) {
	v, made := t.settings[key]
	n, _ := v.Uint()
	return n, made && n != wire.ServerDefault && n != wire.Unlimited
}

func (t *topic) exceeds(size uint64) bool {
	bytes, _, _ := t.totals()
	return bytes > size
}

// expire removes segments whose messages are all from before a time.
func (b *Broker) expire(p *partition, before uint64) {
	for span := p.log.Span(); span.Segments > 1 && span.OldestUntil < before; span = p.log.Span() {
		if !b.dropOldest(p) {
			return
		}
	}
}

// oldest returns the partition with the oldest segment that may go, or nil.
func (t *topic) oldest() *partition {
	var first *partition
	var until uint64
	for _, p := range t.partitions {
		if span := p.log.Span(); span.Segments > 1 && (first == nil || span.OldestUntil < until) {
			first, until = p, span.OldestUntil
		}
	}
	return first
}

func (b *Broker) dropOldest(p *partition) bool {
	return b.shrink(p, func() error { return p.log.DropSegments(1) }) == nil
}

package broker

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport/wire"
)

// partition is one life of a partition.
type partition struct {
	id          uint32
	createdAt   uint64
	incarnation uint64
	life        uint64 // the incarnation that it began with: its log and its offsets are stored under that
	log         Log
	waiters     waiters
	op          atomic.Uint64 // position of the last write

	offsets map[offsetKey]uint64 // of consumers; guarded by the broker's mu

	writing   sync.Mutex // one append at a time
	gone      bool       // whether the partition was deleted; guarded by writing, as what follows
	latest    uint64     // when the last batch was stored: time does not go back
	producers producers
}

// addPartitions adds partitions behind those that there are, under mu. It adds all or none. What else changes with that is
// committed together.
func (b *Broker) addPartitions(t topicOf, count uint32, also ...Change) wire.Code {
	if b.parts+int(count) > b.config.Limits.Partitions {
		return codePartitionsLimitReached
	}
	partitions := slices.Clip(t.partitions)
	for range count {
		b.lives++
		p := &partition{
			id: uint32(len(partitions)), createdAt: b.now(), incarnation: b.lives, life: b.lives,
			offsets: map[offsetKey]uint64{},
		}
		if err := b.open(p, t); err != nil {
			discard(partitions[len(t.partitions):])
			return wire.CodeError
		}
		partitions = append(partitions, p)
	}
	if code := b.save(append(also, b.counters(), t.entry(t.stream, partitions))...); code != 0 {
		discard(partitions[len(t.partitions):])
		return code
	}
	t.partitions = partitions
	b.parts += int(count)
	return 0
}

// discard removes partitions that nobody has seen. What led to it is the error that counts.
func discard(partitions []*partition) {
	for _, p := range partitions {
		_ = p.log.Remove()
	}
}

// open opens the log of a partition.
func (b *Broker) open(p *partition, t topicOf) (err error) {
	p.log, err = b.config.Store.OpenLog(LogSpec{
		Stream: t.stream.id, Topic: t.id, Partition: p.id, Incarnation: p.life,
		SegmentBytes: t.settings.number(topicOptions, wire.OptionSegmentSize),
	})
	return err
}

// dropPartitions removes the partitions with the highest numbers, under mu. It returns the first error of a log.
func (b *Broker) dropPartitions(t *topic, count int) error {
	var first error
	keep := len(t.partitions) - count
	for _, p := range t.partitions[keep:] {
		b.parts--
		if err := b.removePartition(p); err != nil && first == nil {
			first = err
		}
	}
	t.partitions = t.partitions[:keep:keep]
	return first
}

// removePartition ends the life of a partition. Reads that wait see that it is not there any more.
func (b *Broker) removePartition(p *partition) error {
	p.writing.Lock()
	p.gone = true
	b.logged.Add(-int64(p.log.Span().Bytes))
	err := p.log.Remove()
	p.writing.Unlock()
	p.waiters.wake()
	return err
}

// close ends the use of a partition, whose messages stay.
func (p *partition) close() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.gone = true
	defer p.waiters.wake()
	return p.log.Close()
}

// close ends the use of all partitions of a topic.
func (t *topic) close() error {
	var first error
	for _, p := range t.partitions {
		if err := p.close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func createPartitions(r *request, arguments wire.CreatePartitions) (wire.Body, wire.Code) {
	t, code := r.resizable(arguments.Stream, arguments.Topic, arguments.Count)
	if code != 0 {
		return nil, code
	}
	if code := r.broker.addPartitions(*t, arguments.Count); code != 0 {
		return nil, code
	}
	r.broker.rebalanceAll(t.topic)
	return nil, 0
}

func deletePartitions(r *request, arguments wire.DeletePartitions) (wire.Body, wire.Code) {
	t, code := r.resizable(arguments.Stream, arguments.Topic, arguments.Count)
	switch {
	case code != 0:
		return nil, code
	case int(arguments.Count) > len(t.partitions):
		return nil, wire.CodeInvalidPartitionsCount
	}
	keep := len(t.partitions) - int(arguments.Count)
	changes := append(withoutOffsets(t.partitions[keep:]), t.entry(t.stream, t.partitions[:keep]))
	if code := r.broker.save(changes...); code != 0 {
		return nil, code
	}
	err := r.broker.dropPartitions(t.topic, int(arguments.Count))
	r.broker.rebalanceAll(t.topic)
	if err != nil {
		return nil, wire.CodeError
	}
	return nil, 0
}

// resizable returns a topic whose partitions may be added and removed by the user.
func (r *request) resizable(stream, topic wire.Identifier, count uint32) (*topicOf, wire.Code) {
	t, code := r.topic(stream, topic, manageTopic)
	switch {
	case code != 0:
		return nil, code
	case string(t.settings[wire.OptionResizePolicy].Data) == "fixed":
		return nil, codePartitionResizeDisabled
	case count < 1:
		return nil, wire.CodeInvalidPartitionsCount
	case count > wire.MaxPartitions:
		return nil, wire.CodeTooManyPartitions
	}
	return t, 0
}

func deleteSegments(r *request, arguments wire.DeleteSegments) (wire.Body, wire.Code) {
	t, code := r.topic(arguments.Stream, arguments.Topic, manageTopic)
	if code != 0 {
		return nil, code
	}
	p := t.partition(arguments.Partition)
	if p == nil {
		return nil, wire.CodePartitionNotFound
	}
	if err := r.broker.shrink(p, func() error { return p.log.DropSegments(arguments.Count) }); err != nil {
		return nil, wire.CodeError
	}
	return nil, 0
}

// shrink removes messages from the log of a partition, and counts them out.
func (b *Broker) shrink(p *partition, remove func() error) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	before := p.log.Span().Bytes
	err := remove()
	b.logged.Add(int64(p.log.Span().Bytes) - int64(before))
	return err
}

// partition returns a partition, or nil.
func (t *topic) partition(id uint32) *partition {
	if uint64(id) >= uint64(len(t.partitions)) {
		return nil
	}
	return t.partitions[id]
}

func getRoute(r *request, arguments wire.GetPartitionRoute) (wire.Body, wire.Code) {
	t, code := r.topic(arguments.Stream, arguments.Topic, send)
	if code == wire.CodeUnauthorized { // either right will do
		t, code = r.topic(arguments.Stream, arguments.Topic, poll)
	}
	if code != 0 {
		return nil, code
	}
	p := t.partition(arguments.Partition)
	if p == nil {
		return nil, wire.CodePartitionNotFound
	}
	return &wire.PartitionRoute{
		Incarnation:     p.incarnation,
		MetadataOp:      r.broker.op,
		PartitionsCount: uint32(len(t.partitions)),
		Primary:         r.broker.node.ReplicaID,
	}, 0
}

package wire

import "math"

// FetchMessages is the request of fetch_messages: it reads from several partitions of a topic at once, and may wait. The
// context in its header is empty, as each target has one. (Iggy binary protocol, fetching.)
type FetchMessages struct {
	// Consumer is who reads; not ConsumerExternal.
	Consumer Consumer
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// WaitMicros is how long to wait, in microseconds, up to [MaxWaitMicros].
	WaitMicros uint64
	// TimeoutMicros is how long the client waits for the reply, in microseconds, up to [MaxTimeoutMicros]; longer than the
	// wait by [MinReplyMarginMicros] at least, even if there is none.
	TimeoutMicros uint64
	// MinCount is how many messages to wait for, of all targets together: 1 to Count.
	MinCount uint32
	// Count is the largest number of messages.
	Count uint32
	// MaxBytes is the largest reply, but for one message that is larger; at least [MinPollBytes].
	MaxBytes uint32
	// AutoCommit makes the server store the offsets of the last messages that it serves.
	AutoCommit bool
	// Targets are the partitions, each once: 1 to [MaxPartitions].
	Targets []FetchTarget
}

// FetchTarget is a partition to read from.
type FetchTarget struct {
	// Partition is the partition.
	Partition uint32
	// Strategy says where to begin: FromOffset or FromNext.
	Strategy PollingStrategy
	// MaxBytes is the largest part of the reply: [MinPollBytes] up to that of the request.
	MaxBytes uint32
	// Incarnation is the life of the partition that is meant.
	Incarnation uint64
	// OwnerGeneration is the ownership of the partition that is meant, if a group reads.
	OwnerGeneration uint64
}

// fetchTargetSize is the size of a target.
const fetchTargetSize = 33

func (v *FetchMessages) layout(c *coder) {
	v.Consumer.layout(c)
	c.reads(&v.Consumer)
	c.topic(&v.Stream, &v.Topic)
	c.u64(&v.WaitMicros, "wait")
	c.u64(&v.TimeoutMicros, "request timeout")
	c.u32(&v.MinCount, "min count")
	c.u32(&v.Count, "count")
	c.u32(&v.MaxBytes, "max bytes")
	c.bool(&v.AutoCommit, "auto commit")
	c.waits(v.WaitMicros, v.TimeoutMicros, MinReplyMarginMicros)
	c.amounts(v.MinCount, v.Count, v.MaxBytes)
	list32(c, &v.Targets, fetchTargetSize, "targets", (*FetchTarget).layout)
	if c.err == nil {
		v.checkTargets(c)
	}
}

func (v *FetchMessages) checkTargets(c *coder) {
	if len(v.Targets) < 1 || len(v.Targets) > MaxPartitions {
		c.fail("targets", ErrLength)
		return
	}
	seen := make(map[uint32]bool, len(v.Targets))
	for i := range v.Targets {
		t := &v.Targets[i]
		switch {
		case seen[t.Partition]:
			c.fail("target partition", ErrDuplicate)
		case t.Strategy.Kind != FromOffset && t.Strategy.Kind != FromNext:
			c.fail("target strategy", ErrValue)
		case t.MaxBytes < MinPollBytes || t.MaxBytes > v.MaxBytes:
			c.fail("target max bytes", ErrValue)
		}
		seen[t.Partition] = true
	}
}

func (v *FetchTarget) layout(c *coder) {
	c.u32(&v.Partition, "target partition")
	v.Strategy.layout(c)
	c.u32(&v.MaxBytes, "target max bytes")
	c.u64(&v.Incarnation, "target incarnation")
	c.u64(&v.OwnerGeneration, "target owner generation")
}

// FetchedMessages is the reply to fetch_messages.
type FetchedMessages struct {
	// Sections are the partitions that were read, in any order; not every target need have one.
	Sections []FetchSection
}

// FetchSection is what was read from one partition.
type FetchSection struct {
	// Partition is the partition.
	Partition uint32
	// Status is why nothing could be read from it; 0 if it could. There are no records then.
	Status Code
	// CurrentOffset is the offset of its newest message.
	CurrentOffset uint64
	// Count is the number of messages, of all batches together.
	Count uint32
	// Context is what it was served with. Who stores the offset of one of the messages sends it, so that nothing is stored
	// for another life or another owner of the partition.
	Context PartitionContext
	// NextOffset is where the next read of the partition begins.
	NextOffset uint64
	// Records are the batches: see [NewRecords]. What was decoded is a view of the input.
	Records []byte
}

// fetchSectionSize is the size of the header of a section. The records of all sections stand behind the last header.
const fetchSectionSize = 56

func (v *FetchedMessages) layout(c *coder) {
	var sizes []uint32 // of the records, as read
	list32(c, &v.Sections, fetchSectionSize, "sections", func(s *FetchSection, c *coder) {
		if size := s.header(c); !c.writing {
			sizes = append(sizes, size)
		}
	})
	for i := range v.Sections {
		s := &v.Sections[i]
		if c.writing {
			c.b = append(c.b, s.Records...)
		} else if sizes[i] > 0 {
			s.Records = c.take(uint64(sizes[i]), "records")
		}
		if s.Status != 0 && len(s.Records) > 0 {
			c.fail("records", ErrTrailing)
		}
	}
}

// header goes over the header and returns the size of the records.
func (v *FetchSection) header(c *coder) uint32 {
	if c.writing && uint64(len(v.Records)) > math.MaxUint32 {
		c.fail("records length", ErrLength)
	}
	size := uint32(len(v.Records))
	c.u32(&v.Partition, "section partition")
	word(c, &v.Status, "section status")
	c.u64(&v.CurrentOffset, "current offset")
	c.u32(&v.Count, "section count")
	v.Context.layout(c)
	c.u64(&v.NextOffset, "next offset")
	c.u32(&size, "records length")
	return size
}

package wire

// PollMessages is the request of poll_messages: it reads what is there. (Iggy binary protocol, polling.)
type PollMessages struct {
	// Consumer is who reads; not ConsumerExternal.
	Consumer Consumer
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition OptionalPartition
	// Strategy says where to begin.
	Strategy PollingStrategy
	// Count is the largest number of messages.
	Count uint32
	// AutoCommit makes the server store the offset of the last message that it serves.
	AutoCommit bool
}

func (v *PollMessages) layout(c *coder) {
	v.Consumer.layout(c)
	c.reads(&v.Consumer)
	c.topic(&v.Stream, &v.Topic)
	v.Partition.layout(c)
	v.Strategy.layout(c)
	c.u32(&v.Count, "count")
	c.bool(&v.AutoCommit, "auto commit")
}

// reads wants a consumer that may read.
func (c *coder) reads(who *Consumer) {
	if who.Kind == ConsumerExternal && c.err == nil {
		c.fail("consumer kind", ErrValue)
	}
}

// PollMessagesDeferred is the request of poll_messages_deferred: it waits for messages.
type PollMessagesDeferred struct {
	// PollMessages is what to read.
	PollMessages
	// WaitMicros is how long to wait, in microseconds, up to [MaxWaitMicros]; 0 for not at all.
	WaitMicros uint64
	// MinCount is how many messages to wait for: 1 to Count.
	MinCount uint32
	// MaxBytes is the largest reply, but for one message that is larger; at least [MinPollBytes].
	MaxBytes uint32
	// TimeoutMicros is how long the client waits for the reply, in microseconds, up to [MaxTimeoutMicros]; longer than the
	// wait, if there is one, by [MinReplyMarginMicros] at least.
	TimeoutMicros uint64
}

func (v *PollMessagesDeferred) layout(c *coder) {
	v.PollMessages.layout(c)
	c.u64(&v.WaitMicros, "wait")
	c.u32(&v.MinCount, "min count")
	c.u32(&v.MaxBytes, "max bytes")
	c.u64(&v.TimeoutMicros, "request timeout")
	margin := uint64(MinReplyMarginMicros)
	if v.WaitMicros == 0 {
		margin = 1
	}
	c.waits(v.WaitMicros, v.TimeoutMicros, margin)
	c.amounts(v.MinCount, v.Count, v.MaxBytes)
}

// waits checks the times of a request that waits.
func (c *coder) waits(wait, timeout, margin uint64) {
	switch {
	case c.err != nil:
	case wait > MaxWaitMicros:
		c.fail("wait", ErrValue)
	case timeout > MaxTimeoutMicros || timeout < wait+margin:
		c.fail("request timeout", ErrValue)
	}
}

// amounts checks how much a request that waits asks for.
func (c *coder) amounts(least, most, maxBytes uint32) {
	switch {
	case c.err != nil:
	case least < 1 || least > most:
		c.fail("min count", ErrValue)
	case maxBytes < MinPollBytes:
		c.fail("max bytes", ErrValue)
	}
}

// pollHeadSize is the size of a poll's reply without messages.
const pollHeadSize = 40

// PolledMessages is the reply to poll_messages and poll_messages_deferred.
type PolledMessages struct {
	// Partition is the partition.
	Partition uint32
	// CurrentOffset is the offset of its newest message.
	CurrentOffset uint64
	// Count is the number of messages, of all batches together.
	Count uint32
	// Context is what it was served with. Who stores the offset of one of the messages sends it, so that nothing is stored
	// for another life or another owner of the partition.
	Context PartitionContext
	// Records are the batches: see [NewRecords]. What was decoded is a view of the input.
	Records []byte
}

func (v *PolledMessages) layout(c *coder) {
	c.u32(&v.Partition, "partition")
	c.u64(&v.CurrentOffset, "current offset")
	c.u32(&v.Count, "count")
	v.Context.layout(c)
	c.rest(&v.Records)
}

package wire

// GetConsumerOffset is the request of get_consumer_offset. (Iggy binary protocol, consumer offsets.)
type GetConsumerOffset struct {
	// Consumer is whose offset it is.
	Consumer Consumer
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition OptionalPartition
}

func (v *GetConsumerOffset) layout(c *coder) {
	v.Consumer.layout(c)
	c.topic(&v.Stream, &v.Topic)
	v.Partition.layout(c)
}

// StoreConsumerOffset is the request of store_consumer_offset.
type StoreConsumerOffset struct {
	// Consumer is whose offset it is.
	Consumer Consumer
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition OptionalPartition
	// Offset is the offset of the last message that was handled; reading goes on behind it.
	Offset uint64
	// Ack says what to wait for.
	Ack Ack
}

func (v *StoreConsumerOffset) layout(c *coder) {
	v.Consumer.layout(c)
	c.topic(&v.Stream, &v.Topic)
	v.Partition.layout(c)
	c.u64(&v.Offset, "offset")
	code(c, &v.Ack, "ack")
}

// DeleteConsumerOffset is the request of delete_consumer_offset.
type DeleteConsumerOffset struct {
	// Consumer is whose offset it is.
	Consumer Consumer
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition OptionalPartition
	// Ack says what to wait for.
	Ack Ack
}

func (v *DeleteConsumerOffset) layout(c *coder) {
	v.Consumer.layout(c)
	c.topic(&v.Stream, &v.Topic)
	v.Partition.layout(c)
	code(c, &v.Ack, "ack")
}

// ConsumerOffset is the reply to get_consumer_offset. No bytes mean that none is stored.
type ConsumerOffset struct {
	// Partition is the partition.
	Partition uint32
	// Current is the offset of its newest message.
	Current uint64
	// Stored is the offset that is stored.
	Stored uint64
}

func (v *ConsumerOffset) layout(c *coder) {
	c.u32(&v.Partition, "partition")
	c.u64(&v.Current, "current offset")
	c.u64(&v.Stored, "stored offset")
}

package wire

// SendMessages is the request of send_messages. (Iggy binary protocol, sending.)
type SendMessages struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partitioning says where the messages go: a client names the partition.
	Partitioning Partitioning
	// MessagesCount is the number of messages in the batch.
	MessagesCount uint32
	// Batch is the batch, as [AppendBatch] makes it. What was decoded is a view of the input. To encode without a copy,
	// leave it nil, append the batch to what [AppendRequest] returned, and call [SetSize].
	Batch []byte
}

func (v *SendMessages) layout(c *coder) {
	c.sized("metadata length", v.metadata)
	c.rest(&v.Batch)
}

func (v *SendMessages) metadata(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	v.Partitioning.layout(c)
	c.u32(&v.MessagesCount, "messages count")
}

// SentMessages is the reply to send_messages. No bytes mean that the messages are stored, and nothing else.
type SentMessages struct {
	// Confirmations say where the messages are: one for each partition.
	Confirmations []Confirmation
}

// Confirmation says where messages are.
type Confirmation struct {
	// StreamID is the stream.
	StreamID uint32
	// TopicID is the topic.
	TopicID uint32
	// PartitionID is the partition.
	PartitionID uint32
	// BaseOffset is the offset of the first message; the others follow it without gaps.
	BaseOffset uint64
}

func (v *SentMessages) layout(c *coder) {
	list32(c, &v.Confirmations, 20, "confirmations", (*Confirmation).layout)
}

func (v *Confirmation) layout(c *coder) {
	c.u32(&v.StreamID, "stream id")
	c.u32(&v.TopicID, "topic id")
	c.u32(&v.PartitionID, "partition id")
	c.u64(&v.BaseOffset, "base offset")
}

package wire

// What an option of a topic may say with a number. (Iggy binary protocol, small codes.)
const (
	// ServerDefault is an expiry or a size that is left to the server.
	ServerDefault = 0
	// Unlimited is the largest size of a topic that has none.
	Unlimited = 1<<64 - 1
)

// GetTopic is the request of get_topic. (Iggy binary protocol, topics.)
type GetTopic struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
}

func (v *GetTopic) layout(c *coder) { c.topic(&v.Stream, &v.Topic) }

// topic is what most commands begin with.
func (c *coder) topic(stream, topic *Identifier) {
	c.identifier(stream, "stream")
	c.identifier(topic, "topic")
}

// GetTopics is the request of get_topics.
type GetTopics struct {
	// Stream is the stream of the topics.
	Stream Identifier
}

func (v *GetTopics) layout(c *coder) { c.identifier(&v.Stream, "stream") }

// CreateTopic is the request of create_topic.
type CreateTopic struct {
	// Stream is the stream to create it in.
	Stream Identifier
	// PartitionsCount is the number of partitions, up to [MaxPartitions]. Their ids are those from 0 on.
	PartitionsCount uint32
	// Name is the name, 1 to 255 bytes.
	Name string
	// Options are settings of the topic.
	Options Options
}

func (v *CreateTopic) layout(c *coder) {
	c.identifier(&v.Stream, "stream")
	c.u32(&v.PartitionsCount, "partitions count")
	c.name(&v.Name, "topic name")
	v.Options.layout(c)
}

// DeleteTopic is the request of delete_topic.
type DeleteTopic struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
}

func (v *DeleteTopic) layout(c *coder) { c.topic(&v.Stream, &v.Topic) }

// Topic is a topic.
type Topic struct {
	// ID is its number.
	ID uint32
	// CreatedAt is when it was made, in microseconds since 1970.
	CreatedAt uint64
	// PartitionsCount is the number of its partitions.
	PartitionsCount uint32
	// SizeBytes is the size of its messages.
	SizeBytes uint64
	// MessagesCount is their number.
	MessagesCount uint64
	// Name is its name.
	Name string
	// Explicit are settings that somebody made.
	Explicit Options
	// Derived are settings that the server made.
	Derived Options
}

// topicSize is the size of a topic with a name of one byte and without options.
const topicSize = 42

func (v *Topic) layout(c *coder) {
	c.u32(&v.ID, "topic id")
	c.u64(&v.CreatedAt, "created at")
	c.u32(&v.PartitionsCount, "partitions count")
	c.u64(&v.SizeBytes, "size")
	c.u64(&v.MessagesCount, "messages count")
	c.name(&v.Name, "topic name")
	c.options(&v.Explicit, "explicit options")
	c.options(&v.Derived, "derived options")
}

// Topics is the reply to get_topics.
type Topics struct {
	// Topics are the topics of the stream.
	Topics []Topic
}

func (v *Topics) layout(c *coder) { list32(c, &v.Topics, topicSize, "topics", (*Topic).layout) }

// TopicDetails is the reply to get_topic and create_topic.
type TopicDetails struct {
	// Topic is the topic, with the number of the partitions.
	Topic Topic
	// Partitions are its partitions.
	Partitions []TopicPartition
}

// TopicPartition is a partition of a topic.
type TopicPartition struct {
	// ID is its number.
	ID uint32
	// CreatedAt is when it was made, in microseconds since 1970.
	CreatedAt uint64
	// SegmentsCount is the number of its segments.
	SegmentsCount uint32
	// CurrentOffset is the offset of its newest message.
	CurrentOffset uint64
	// SizeBytes is the size of its messages.
	SizeBytes uint64
	// MessagesCount is their number.
	MessagesCount uint64
	// Context is what requests for the partition carry.
	Context PartitionContext
	// Members are the replicas that keep it, at most 255.
	Members []uint8
	// InSync are those of them that have all of it, at most 255.
	InSync []uint8
}

func (v *TopicDetails) layout(c *coder) {
	v.Topic.layout(c)
	list(c, v.Topic.PartitionsCount, &v.Partitions, 66, "partitions", (*TopicPartition).layout)
}

func (v *TopicPartition) layout(c *coder) {
	c.u32(&v.ID, "partition id")
	c.u64(&v.CreatedAt, "created at")
	c.u32(&v.SegmentsCount, "segments count")
	c.u64(&v.CurrentOffset, "current offset")
	c.u64(&v.SizeBytes, "size")
	c.u64(&v.MessagesCount, "messages count")
	v.Context.layout(c)
	list8(c, &v.Members, 1, "members", octet[uint8])
	list8(c, &v.InSync, 1, "in-sync members", octet[uint8])
}

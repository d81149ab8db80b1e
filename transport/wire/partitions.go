package wire

// CreatePartitions is the request of create_partitions. (Iggy binary protocol, partitions and segments.)
type CreatePartitions struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Count is how many to add, up to [MaxPartitions].
	Count uint32
}

func (v *CreatePartitions) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.u32(&v.Count, "count")
}

// DeletePartitions is the request of delete_partitions, which removes those with the highest numbers.
type DeletePartitions struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Count is how many to remove, up to [MaxPartitions].
	Count uint32
}

func (v *DeletePartitions) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.u32(&v.Count, "count")
}

// DeleteSegments is the request of delete_segments, which removes the oldest.
type DeleteSegments struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition uint32
	// Count is how many segments to remove.
	Count uint32
}

func (v *DeleteSegments) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.u32(&v.Partition, "partition")
	c.u32(&v.Count, "count")
}

// GetPartitionRoute is the request of get_partition_route. (Iggy binary protocol, routes.)
type GetPartitionRoute struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// Partition is the partition.
	Partition uint32
}

func (v *GetPartitionRoute) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.u32(&v.Partition, "partition")
}

// PartitionRoute is the reply to get_partition_route: where a partition is, and what requests for it carry.
type PartitionRoute struct {
	// Incarnation names the present life of the partition.
	Incarnation uint64
	// MetadataOp is the position in the log of the metadata at which this is known.
	MetadataOp uint64
	// View grows when the partition moves.
	View uint32
	// PartitionsCount is the number of partitions of the topic.
	PartitionsCount uint32
	// Primary is the replica that takes requests for the partition.
	Primary uint8
}

func (v *PartitionRoute) layout(c *coder) {
	c.u64(&v.Incarnation, "incarnation")
	c.u64(&v.MetadataOp, "metadata op")
	c.u32(&v.View, "view")
	c.u32(&v.PartitionsCount, "partitions count")
	c.u8(&v.Primary, "primary replica")
}

package wire

// Keys of options that clients set, with the kind of their values. A value may be text too, which the server reads: "7
// days", "1 GiB". (Iggy binary protocol, option catalogue.)
const (
	// OptionName is the name of a stream or topic: text.
	OptionName = "name"
	// OptionUsername is the name of a user: text.
	OptionUsername = "username"
	// OptionStatus is the status of a user: text, active or inactive.
	OptionStatus = "status"
	// OptionCompression is how the messages of a topic are said to be compressed: text, none or gzip. The server does
	// nothing about it.
	OptionCompression = "compression_algorithm"
	// OptionMessageExpiry is for how long a topic keeps messages: uint64, in microseconds; [NeverExpires] for ever.
	OptionMessageExpiry = "message_expiry"
	// OptionMaxTopicSize is what a topic keeps at most: uint64, in bytes; [Unlimited] for everything.
	OptionMaxTopicSize = "max_topic_size"
	// OptionSegmentSize is the size of a segment of a topic: uint64, in bytes, 1 MiB to 1 GiB and a multiple of 512.
	OptionSegmentSize = "segment_size"
	// OptionDurability is when messages of a topic count as stored: text, replicated or persisted.
	OptionDurability = "durability"
	// OptionOffsetDurability is when offsets of consumers of a topic count as stored: text, replicated or persisted.
	OptionOffsetDurability = "consumer_offset_durability"
	// OptionResizePolicy says whether a topic may get or lose partitions: text, mutable or fixed.
	OptionResizePolicy = "partition_resize_policy"
	// OptionMessagesToSave is after how many messages of a topic the server writes them: uint32, 1 to 16 Mi.
	OptionMessagesToSave = "messages_required_to_save"
	// OptionBytesToSave is after how many bytes of messages of a topic the server writes them: uint64, up to 1 GiB.
	OptionBytesToSave = "size_of_messages_required_to_save"
	// OptionPreallocate makes the server take the space of a segment of a topic at once: bool.
	OptionPreallocate = "preallocate_segments"
	// OptionReplicationFactor is how many replicas keep a topic: uint32, 1 to 32.
	OptionReplicationFactor = "replication_factor"
	// OptionEncryptionKey is what the server encrypts a stream with: raw, 32 bytes, or their base64 as text.
	OptionEncryptionKey = "encryption_key"
)

package wire

// Sizes in bytes, and other limits of the protocol. (Iggy binary protocol, frame headers, message batches and polling.)
const (
	// HeaderSize is the size of the header of every frame, in both directions.
	HeaderSize = 256
	// BatchHeaderSize is the size of the header of a batch.
	BatchHeaderSize = 256
	// MessageHeaderSize is the size of the header of a message in a batch.
	MessageHeaderSize = 48
	// MaxPayloadSize is the largest payload of a message.
	MaxPayloadSize = 64_000_000
	// MaxUserHeadersSize is the largest block of user headers of a message, encoded.
	MaxUserHeadersSize = 100_000
	// MaxRecordSize is the largest batch of one message: its header, and the message with the largest payload and user
	// headers.
	MaxRecordSize = BatchHeaderSize + MessageHeaderSize + MaxPayloadSize + MaxUserHeadersSize
	// MaxOptions is the largest number of options in a block.
	MaxOptions = 1024
	// MaxOptionsSize is the largest block of options.
	MaxOptionsSize = 100_000
	// MaxPartitions is the largest number of partitions that one request creates, deletes or fetches from.
	MaxPartitions = 1000
	// MaxReplySize is the largest frame that a reply may need: a fetch of [MaxPartitions] that serves one record of
	// [MaxRecordSize].
	MaxReplySize = HeaderSize + 4 + MaxPartitions*fetchSectionSize + MaxRecordSize
	// MaxPollBodySize is the largest body of a reply to a poll or to a fetch from one partition that asked for fewer bytes:
	// a server sends one record of [MaxRecordSize] even so.
	MaxPollBodySize = pollHeadSize + MaxRecordSize
	// MinPollBytes is the smallest limit in bytes that a waiting poll or a fetch may ask for.
	MinPollBytes = BatchHeaderSize + MessageHeaderSize + pollHeadSize
	// MaxWaitMicros is how long a poll or a fetch may wait, in microseconds.
	MaxWaitMicros = 600_000_000
	// MaxTimeoutMicros is the longest time-out of a request that waits, in microseconds.
	MaxTimeoutMicros = 630_000_000
	// MinReplyMarginMicros is by how much the time-out of a request that waits has to be longer than its wait, in
	// microseconds.
	MinReplyMarginMicros = 1_000_000
	// FetchReplyMarginMicros is what a server leaves of the time-out of a fetch for sending the reply, in microseconds.
	FetchReplyMarginMicros = 200_000
)

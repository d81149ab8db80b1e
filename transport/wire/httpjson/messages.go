package httpjson

// The kinds of partitioning. (Iggy HTTP interface, message bodies.)
const (
	PartitionBalanced = "balanced"
	PartitionByID     = "partition_id"
	PartitionByKey    = "messages_key"
)

// SendMessages is the body of a request to send messages.
type SendMessages struct {
	Context      *Context     `json:"context,omitempty"` // of a partition that is named; nil for its present life
	Messages     NewMessages  `json:"messages"`          // at least one
	Partitioning Partitioning `json:"partitioning"`      // where they go
}

// Partitioning says which partition messages go to.
type Partitioning struct {
	Kind  string `json:"kind"`  // one of PartitionBalanced, PartitionByID, PartitionByKey
	Value Base64 `json:"value"` // number of the partition, in four bytes, little endian; or the key
}

// NewMessages are messages to be sent. Of more than a batch can hold, so many are read that they are too much for one.
type NewMessages []NewMessage

// NewMessage is a message to be sent.
type NewMessage struct {
	ID          ID          `json:"id"`                     // 0 makes the server choose one
	Payload     Base64      `json:"payload"`                // what it says
	UserHeaders UserHeaders `json:"user_headers,omitempty"` // its headers
}

// SentMessages is the reply to it.
type SentMessages struct {
	Confirmations []Confirmation `json:"confirmations"` // one for each partition
}

// Confirmation says where messages are.
type Confirmation struct {
	BaseOffset  uint64 `json:"base_offset"`  // of the first message; the others follow it
	PartitionID uint32 `json:"partition_id"` // the partition
	StreamID    uint32 `json:"stream_id"`    // the stream
	TopicID     uint32 `json:"topic_id"`     // the topic
}

// PolledMessages is the reply to a poll.
type PolledMessages struct {
	Context       PollContext `json:"context"`        // what the partition was served with
	PartitionID   uint32      `json:"partition_id"`   // the partition
	CurrentOffset uint64      `json:"current_offset"` // of its newest message
	Count         uint32      `json:"count"`          // of the messages
	Messages      []Message   `json:"messages"`       // what was read
}

// PollContext is a [Context] in the order in which replies to polls have its fields.
type PollContext struct {
	Incarnation     uint64 `json:"incarnation"`      // names the present life of the partition
	OwnerGeneration uint64 `json:"owner_generation"` // 0 without a group
	MetadataOp      uint64 `json:"metadata_op"`      // position in the log of the metadata
}

// Message is a message that was read.
type Message struct {
	Header      MessageHeader `json:"header"`       // what it is
	Payload     Base64        `json:"payload"`      // what it says
	UserHeaders UserHeaders   `json:"user_headers"` // its headers
}

// MessageHeader says what a message is.
type MessageHeader struct {
	Checksum          uint64 `json:"checksum"`            // of its frame
	ID                ID     `json:"id"`                  // its id
	Offset            uint64 `json:"offset"`              // its place in the partition
	Timestamp         uint64 `json:"timestamp"`           // when it was stored, in microseconds since 1970
	OriginTimestamp   uint64 `json:"origin_timestamp"`    // when it was made, in microseconds since 1970
	UserHeadersLength uint32 `json:"user_headers_length"` // of the encoded headers, in bytes
	PayloadLength     uint32 `json:"payload_length"`      // of the payload, in bytes
	Reserved          uint64 `json:"reserved"`            // 0
}

// StoreOffset is the body of a request to store an offset.
type StoreOffset struct {
	ConsumerID   string   `json:"consumer_id"`   // name or number of the consumer
	ConsumerKind string   `json:"consumer_kind"` // consumer, or consumer_group
	Context      *Context `json:"context"`       // what the messages were served with; nil for none
	Offset       uint64   `json:"offset"`        // of the last message that was handled
	PartitionID  *uint32  `json:"partition_id"`  // the partition
}

// ConsumerOffset is the reply to a request for an offset.
type ConsumerOffset struct {
	CurrentOffset uint64 `json:"current_offset"` // of the newest message
	PartitionID   uint32 `json:"partition_id"`   // the partition
	StoredOffset  uint64 `json:"stored_offset"`  // what is stored
}

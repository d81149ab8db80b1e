package httpjson

import "encoding/json"

// Option is a setting of a stream, topic or user, by its name. (Iggy HTTP interface, resource options.)
type Option struct {
	Explicit bool   `json:"explicit"` // somebody set it; or else the server made it
	Kind     Kind   `json:"kind"`     // of the value
	Value    string `json:"value"`    // as a text, whatever its kind
}

// Stream is a stream.
type Stream struct {
	CreatedAt     uint64            `json:"created_at"`      // microseconds since 1970
	ID            uint32            `json:"id"`              // its number
	MessagesCount uint64            `json:"messages_count"`  // of its topics
	Name          string            `json:"name"`            // its name
	Options       map[string]Option `json:"options"`         // its settings
	Size          Size              `json:"size"`            // of its messages
	Topics        []Topic           `json:"topics,omitzero"` // its topics; nil in a list of streams
	TopicsCount   uint32            `json:"topics_count"`    // their number
}

// Topic is a topic.
type Topic struct {
	CreatedAt       uint64            `json:"created_at"`          // microseconds since 1970
	ID              uint32            `json:"id"`                  // its number
	MessagesCount   uint64            `json:"messages_count"`      // of its partitions
	Name            string            `json:"name"`                // its name
	Options         map[string]Option `json:"options"`             // its settings
	Partitions      []Partition       `json:"partitions,omitzero"` // its partitions; nil in a list of topics
	PartitionsCount uint32            `json:"partitions_count"`    // their number
	Size            Size              `json:"size"`                // of its messages
}

// Context is what requests for a partition carry: see wire.PartitionContext.
type Context struct {
	Incarnation     uint64 `json:"incarnation"`      // names the present life of the partition
	MetadataOp      uint64 `json:"metadata_op"`      // position in the log of the metadata
	OwnerGeneration uint64 `json:"owner_generation"` // 0 without a group
}

// Partition is a partition of a topic.
type Partition struct {
	Context       Context `json:"context"`         // what requests for it carry
	CreatedAt     uint64  `json:"created_at"`      // microseconds since 1970
	CurrentOffset uint64  `json:"current_offset"`  // of its newest message
	ID            uint32  `json:"id"`              // its number
	InSyncMembers Numbers `json:"in_sync_members"` // replicas that have all of it
	Members       Numbers `json:"members"`         // replicas that keep it
	MessagesCount uint64  `json:"messages_count"`  // of its messages
	SegmentsCount uint32  `json:"segments_count"`  // of its segments
	Size          Size    `json:"size"`            // of its messages
}

// Numbers are a list of small numbers.
type Numbers []uint32

// MarshalJSON writes the list, which is empty for nil too.
func (n Numbers) MarshalJSON() ([]byte, error) {
	if n == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]uint32(n))
}

// Group is a consumer group.
type Group struct {
	ID              uint32   `json:"id"`               // its number
	Members         []Member `json:"members,omitzero"` // its members; nil in a list of groups
	MembersCount    uint32   `json:"members_count"`    // their number
	Name            string   `json:"name"`             // its name
	PartitionsCount uint32   `json:"partitions_count"` // of its topic
}

// Member is a member of a group.
type Member struct {
	ID              uint32  `json:"id"`               // its number
	Partitions      Numbers `json:"partitions"`       // those that it reads
	PartitionsCount uint32  `json:"partitions_count"` // their number
}

// CreateStream is the body of a request to create a stream.
type CreateStream struct {
	Name    string         `json:"name"`              // 1 to 255 bytes
	Options map[string]any `json:"options,omitempty"` // by their names: bool, whole number up to 2^53-1, or text
}

// CreateTopic is the body of a request to create a topic.
type CreateTopic struct {
	Name            string         `json:"name"`              // 1 to 255 bytes
	Options         map[string]any `json:"options,omitempty"` // by their names: bool, whole number up to 2^53-1, or text
	PartitionsCount uint32         `json:"partitions_count"`  // up to wire.MaxPartitions
}

// CreatePartitions is the body of a request to add partitions.
type CreatePartitions struct {
	PartitionsCount uint32 `json:"partitions_count"` // up to wire.MaxPartitions
}

// CreateGroup is the body of a request to create a consumer group.
type CreateGroup struct {
	Name string `json:"name"` // 1 to 255 bytes
}

// Error is the body of a reply that says why a request was refused. (Iggy HTTP interface, errors.)
type Error struct {
	ID     uint32  `json:"id"`     // a wire.Code, or the status of the reply
	Code   string  `json:"code"`   // its name in snake_case
	Reason string  `json:"reason"` // why, for people
	Field  *string `json:"field"`  // what of the request was wrong; nil for nothing in particular
}

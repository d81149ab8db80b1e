package iggysource

import (
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Message is a message that was read. Payload and UserHeaders are views of the reply that it came with. That memory belongs to
// who has the message: nothing reuses it, and it stays valid as long as it is referred to. Who keeps a few of many messages for
// long copies them, as each view keeps its whole reply.
type Message struct {
	wire.Message
	// Partition is where it was read.
	Partition uint32

	lease *lease
}

// Time is when the server stored the message.
func (m Message) Time() time.Time { return time.UnixMicro(int64(m.Timestamp)) }

// OriginTime is when its sender made the message.
func (m Message) OriginTime() time.Time { return time.UnixMicro(int64(m.OriginTimestamp)) }

// Headers decodes the user headers, in the order of their keys. They are views of the message.
func (m Message) Headers() ([]wire.UserHeader, error) {
	if len(m.UserHeaders) == 0 {
		return nil, nil
	}
	return client.Headers(m.Message)
}

// Checkpoint returns what to commit once this message, and all before it in its partition, are handled.
func (m Message) Checkpoint() Checkpoint { return Checkpoint{m.lease, m.Offset} }

// Checkpoint is a place in a partition, and under which history and ownership of the partition it was reached. It covers
// every earlier message of the partition. The zero value is no place.
type Checkpoint struct {
	lease  *lease
	offset uint64
}

// Partition returns the partition.
func (c Checkpoint) Partition() uint32 {
	if c.lease == nil {
		return 0
	}
	return c.lease.partition
}

// Offset returns the offset of the message.
func (c Checkpoint) Offset() uint64 { return c.offset }

// Context returns the life of the partition and the ownership that the message was read under.
func (c Checkpoint) Context() wire.PartitionContext {
	if c.lease == nil {
		return wire.PartitionContext{}
	}
	return c.lease.context
}

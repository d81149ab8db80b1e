package wire

import (
	"math"
	"strconv"
)

// Identifier names a stream, topic, group or user, by number or by name. The zero value is the number 0, which is the
// first of its kind. (Iggy binary protocol, identifiers.)
type Identifier struct {
	// Name is the name, 1 to 255 bytes; empty for an identifier by number.
	Name string
	// Number is the number if Name is empty.
	Number uint32

	numbered bool // 0 is a number of somebody: no name alone is none
}

// ID is the identifier by number.
func ID(number uint32) Identifier { return Identifier{Number: number, numbered: true} }

// Named is the identifier by name. A name of digits is a name too. An empty one is [Identifier.IsZero], which is refused.
func Named(name string) Identifier { return Identifier{Name: name} }

// IsZero says whether the identifier is neither a name nor a number of [ID]: nothing is called so, and it is not encoded.
func (id Identifier) IsZero() bool { return id.Name == "" && !id.numbered }

// String returns the name, or the number in decimal.
func (id Identifier) String() string {
	switch {
	case id.Name != "":
		return id.Name
	case id.IsZero():
		return "(none)"
	}
	return strconv.FormatUint(uint64(id.Number), 10)
}

const (
	idNumber = 1
	idName   = 2
)

func (id *Identifier) layout(c *coder) { c.identifier(id, "identifier") }

// identifier is [kind u8][length u8][value].
func (c *coder) identifier(id *Identifier, field string) {
	which := uint8(idNumber)
	if id.Name != "" {
		which = idName
	}
	if c.writing && id.IsZero() {
		c.fail(field, ErrNoIdentifier)
	}
	kind(c, &which, idName, field)
	if which == idName {
		c.name(&id.Name, field)
		return
	}
	if !c.writing {
		id.numbered = true
	}
	n := uint8(4)
	c.u8(&n, field)
	if n != 4 && c.err == nil {
		c.fail(field, ErrLength)
	}
	c.u32(&id.Number, field)
}

// Consumer says on whose behalf messages are read and offsets are stored. (Iggy binary protocol, consumer.)
type Consumer struct {
	// Kind is what reads.
	Kind ConsumerKind
	// ID names the consumer, or the group.
	ID Identifier
}

// ConsumerKind is a kind of consumer.
type ConsumerKind uint8

// The kinds of consumers.
const (
	ConsumerSingle   ConsumerKind = 1 // a consumer of its own
	ConsumerGroup    ConsumerKind = 2 // a group, of which the session is a member
	ConsumerExternal ConsumerKind = 3 // a group that another system manages; only its offsets are stored
)

func (v *Consumer) layout(c *coder) {
	kind(c, &v.Kind, ConsumerExternal, "consumer kind")
	c.identifier(&v.ID, "consumer")
}

// OptionalPartition is a partition, or none. (Iggy binary protocol, optional partition.)
type OptionalPartition struct {
	// ID is the partition; 0 if there is none.
	ID uint32
	// Present says whether there is one.
	Present bool
}

// Partition is the optional partition that is there.
func Partition(id uint32) OptionalPartition { return OptionalPartition{ID: id, Present: true} }

func (v *OptionalPartition) layout(c *coder) {
	id := v.ID
	if !v.Present {
		id = 0
	}
	c.bool(&v.Present, "partition flag")
	c.u32(&id, "partition")
	if v.Present && !c.writing {
		v.ID = id
	}
}

// Partitioning says which partition messages go to. On connections that carry frames a client sends [PartitionByID]
// only, and works out the others itself. (Iggy binary protocol, partitioning.)
type Partitioning struct {
	// Kind says which of the fields counts.
	Kind PartitioningKind
	// Partition is the partition, for PartitionByID.
	Partition uint32
	// Key is the key of the messages, 1 to 255 bytes, for PartitionByKey: see [PartitionOfKey].
	Key []byte
}

// PartitioningKind is a way to choose a partition.
type PartitioningKind uint8

// The kinds of partitioning.
const (
	PartitionBalanced PartitioningKind = 1 // each send goes to another partition in turn
	PartitionByID     PartitioningKind = 2 // the one that is named
	PartitionByKey    PartitioningKind = 3 // the one that belongs to a key
)

// ToPartition is the partitioning that names a partition.
func ToPartition(id uint32) Partitioning { return Partitioning{Kind: PartitionByID, Partition: id} }

func (v *Partitioning) layout(c *coder) {
	const field = "partitioning"
	kind(c, &v.Kind, PartitionByKey, field)
	n := v.size()
	if c.writing && n > math.MaxUint8 {
		c.fail(field, ErrLength)
		return
	}
	length := uint8(n)
	c.u8(&length, field)
	if c.err != nil {
		return
	}
	switch {
	case v.Kind == PartitionBalanced && length == 0:
	case v.Kind == PartitionByID && length == 4:
		c.u32(&v.Partition, field)
	case v.Kind == PartitionByKey && length > 0:
		c.blob(&v.Key, uint64(length), field)
	default:
		c.fail(field, ErrLength)
	}
}

// size is the length of the value.
func (v *Partitioning) size() int {
	switch v.Kind {
	case PartitionByID:
		return 4
	case PartitionByKey:
		return len(v.Key)
	default:
		return 0
	}
}

// PollingStrategy says where reading begins. (Iggy binary protocol, polling strategy.)
type PollingStrategy struct {
	// Kind says what Value is: FromOffset, FromTimestamp, FromFirst, FromLast or FromNext.
	Kind StrategyKind
	// Value is an offset, or microseconds since 1970; 0 for the others, whose value a server ignores.
	Value uint64
}

// StrategyKind is a way to say where reading begins.
type StrategyKind uint8

// The kinds of polling strategies.
const (
	FromOffset    StrategyKind = 1 // the message with the offset, or the oldest that is kept
	FromTimestamp StrategyKind = 2 // the first message from the time on
	FromFirst     StrategyKind = 3 // the oldest message
	FromLast      StrategyKind = 4 // as many of the newest messages as are asked for
	FromNext      StrategyKind = 5 // behind the stored offset of the consumer
)

func (v *PollingStrategy) layout(c *coder) {
	kind(c, &v.Kind, FromNext, "strategy kind")
	c.u64(&v.Value, "strategy value")
}

// Ack says what a write of an offset waits for. (Iggy binary protocol, ack level.)
type Ack uint8

// The levels. Clients send AckQuorum.
const (
	AckNone   Ack = 0 // nothing
	AckQuorum Ack = 1 // a quorum of the replicas
)

// PartitionContext says which life of a partition, and which ownership of it, a request is meant for. In requests it is
// in the header, see [RequestHeader]. (Iggy binary protocol, partition context.)
type PartitionContext struct {
	// Incarnation names one life of the partition; it is new when the partition is deleted and made again. 0 is none.
	Incarnation uint64
	// OwnerGeneration is when the member of a group became the owner of the partition; 0 without a group, or as long as
	// no reply has named it.
	OwnerGeneration uint64
	// MetadataOp is the position in the log of the metadata at which this was known.
	MetadataOp uint64
}

func (v *PartitionContext) layout(c *coder) {
	c.u64(&v.Incarnation, "incarnation")
	c.u64(&v.OwnerGeneration, "owner generation")
	c.u64(&v.MetadataOp, "metadata op")
}

package client

import (
	"fmt"
	"math"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Compression is how the messages of a topic are said to be compressed. The server does nothing about it.
type Compression string

// The compressions.
const (
	CompressionNone Compression = "none"
	CompressionGzip Compression = "gzip"
)

// Durability is when something counts as stored.
type Durability string

// The durabilities.
const (
	Replicated Durability = "replicated" // when a quorum of the replicas has it
	Persisted  Durability = "persisted"  // when it is on their disks too
)

// ResizePolicy says whether a topic may get or lose partitions.
type ResizePolicy string

// The policies.
const (
	ResizeMutable ResizePolicy = "mutable"
	ResizeFixed   ResizePolicy = "fixed"
)

// TopicOptions are settings of a topic. Zeros leave them to the server, whose defaults are named. But for the first two they
// are set when the topic is made, and do not change.
type TopicOptions struct {
	// MessageExpiry is for how long messages are kept at least, a microsecond or more: they go by segments, and never that
	// which is written to. The default is [Forever].
	MessageExpiry time.Duration
	// MaxSizeBytes is what is kept at most, not below SegmentBytes, whose default is 1 GiB; the oldest segments are deleted. The default is
	// [wire.Unlimited].
	MaxSizeBytes uint64
	// Compression is what is said of the messages. The default is CompressionNone.
	Compression Compression
	// SegmentBytes is the size of a segment, 1 MiB to 1 GiB and a multiple of 512. The default is 1 GiB. It is the unit that
	// is deleted by.
	SegmentBytes uint64
	// Durability is that of messages. The default is Replicated.
	Durability Durability
	// OffsetDurability is that of the offsets of consumers. The default is Replicated.
	OffsetDurability Durability
	// ResizePolicy says whether the number of partitions may change. The default is ResizeMutable.
	ResizePolicy ResizePolicy
	// MessagesToSave is after how many messages the server writes them, up to 16 Mi. The default is 1024.
	MessagesToSave uint32
	// BytesToSave is after how many bytes of messages the server writes them, up to 1 GiB. The default is 1 MiB.
	BytesToSave uint64
	// Preallocate makes the server take the space of a segment at once. The default is false.
	Preallocate bool
	// ReplicationFactor is how many replicas keep the topic, 1 to 32. The default is a setting of the server.
	ReplicationFactor uint32
	// Others are options that this type does not have, by their names: see [Client.DescribeOptions].
	Others wire.Options
}

// TopicOptionsOf returns the settings that a topic has, those that somebody made and those of the server.
func TopicOptionsOf(topic wire.Topic) TopicOptions {
	var o TopicOptions
	for _, of := range topic.Derived {
		if _, set := topic.Explicit.Find(of.Key); !set {
			o.read(of)
		}
	}
	for _, of := range topic.Explicit {
		o.read(of)
	}
	return o
}

// read takes an option in. One that is not known, or of another kind than usual, is one of the others.
func (o *TopicOptions) read(of wire.Option) {
	text, isText := of.Value.Text()
	number, isNumber := of.Value.Uint()
	flag, isFlag := of.Value.Bool()
	switch {
	case of.Key == wire.OptionMessageExpiry && isNumber:
		o.MessageExpiry = life(number)
	case of.Key == wire.OptionMaxTopicSize && isNumber:
		o.MaxSizeBytes = number
	case of.Key == wire.OptionCompression && isText:
		o.Compression = Compression(text)
	case of.Key == wire.OptionSegmentSize && isNumber:
		o.SegmentBytes = number
	case of.Key == wire.OptionDurability && isText:
		o.Durability = Durability(text)
	case of.Key == wire.OptionOffsetDurability && isText:
		o.OffsetDurability = Durability(text)
	case of.Key == wire.OptionResizePolicy && isText:
		o.ResizePolicy = ResizePolicy(text)
	case of.Key == wire.OptionMessagesToSave && isNumber && number <= math.MaxUint32:
		o.MessagesToSave = uint32(number)
	case of.Key == wire.OptionBytesToSave && isNumber:
		o.BytesToSave = number
	case of.Key == wire.OptionPreallocate && isFlag:
		o.Preallocate = flag
	case of.Key == wire.OptionReplicationFactor && isNumber && number <= math.MaxUint32:
		o.ReplicationFactor = uint32(number)
	default:
		o.Others = append(o.Others, of)
	}
}

// life is the time of microseconds, [Forever] for what never ends.
func life(micros uint64) time.Duration {
	switch {
	case micros == wire.NeverExpires:
		return Forever
	case micros > math.MaxInt64/1000:
		return math.MaxInt64
	}
	return time.Duration(micros) * time.Microsecond
}

// wire returns the options that are set, in the order of their names.
func (o *TopicOptions) wire() wire.Options {
	options := append(wire.Options(nil), o.Others...)
	add := func(set bool, key string, value wire.Value) {
		if set {
			options = append(options, wire.Option{Key: key, Value: value})
		}
	}
	add(o.MessageExpiry != 0, wire.OptionMessageExpiry, wire.Uint64Value(micros(o.MessageExpiry)))
	add(o.MaxSizeBytes != 0, wire.OptionMaxTopicSize, wire.Uint64Value(o.MaxSizeBytes))
	add(o.Compression != "", wire.OptionCompression, wire.StringValue(string(o.Compression)))
	add(o.SegmentBytes != 0, wire.OptionSegmentSize, wire.Uint64Value(o.SegmentBytes))
	add(o.Durability != "", wire.OptionDurability, wire.StringValue(string(o.Durability)))
	add(o.OffsetDurability != "", wire.OptionOffsetDurability, wire.StringValue(string(o.OffsetDurability)))
	add(o.ResizePolicy != "", wire.OptionResizePolicy, wire.StringValue(string(o.ResizePolicy)))
	add(o.MessagesToSave != 0, wire.OptionMessagesToSave, wire.Uint32Value(o.MessagesToSave))
	add(o.BytesToSave != 0, wire.OptionBytesToSave, wire.Uint64Value(o.BytesToSave))
	add(o.Preallocate, wire.OptionPreallocate, wire.BoolValue(true))
	add(o.ReplicationFactor != 0, wire.OptionReplicationFactor, wire.Uint32Value(o.ReplicationFactor))
	sortOptions(options)
	return options
}

// check returns the first fault.
func (o *TopicOptions) check(created bool) *fault {
	bad := func(format string, args ...any) *fault {
		return &fault{wire.CodeInvalidOptionValue, fmt.Sprintf(format, args...)}
	}
	const gib = 1 << 30
	segment := o.SegmentBytes
	switch {
	case segment != 0 && (segment < 1<<20 || segment > gib || segment%512 != 0):
		return bad("SegmentBytes is %d, not 1 MiB to 1 GiB and a multiple of 512", segment)
	case o.MaxSizeBytes != 0 && o.MaxSizeBytes < segment:
		return bad("MaxSizeBytes is %d, not at least SegmentBytes, %d", o.MaxSizeBytes, segment)
	case created && o.MaxSizeBytes != 0 && segment == 0 && o.MaxSizeBytes < gib:
		return bad("MaxSizeBytes is %d, not at least SegmentBytes, %d if it is not set", o.MaxSizeBytes, gib)
	case o.Compression != "" && o.Compression != CompressionNone && o.Compression != CompressionGzip:
		return bad("Compression is %q, not none or gzip", o.Compression)
	case !o.Durability.known():
		return bad("Durability is %q, not replicated or persisted", o.Durability)
	case !o.OffsetDurability.known():
		return bad("OffsetDurability is %q, not replicated or persisted", o.OffsetDurability)
	case o.ResizePolicy != "" && o.ResizePolicy != ResizeMutable && o.ResizePolicy != ResizeFixed:
		return bad("ResizePolicy is %q, not mutable or fixed", o.ResizePolicy)
	case o.MessagesToSave > 16<<20:
		return bad("MessagesToSave is %d, not 1 to 16 Mi", o.MessagesToSave)
	case o.BytesToSave > gib:
		return bad("BytesToSave is %d, not 1 to 1 GiB", o.BytesToSave)
	case o.ReplicationFactor > 32:
		return bad("ReplicationFactor is %d, not 1 to 32", o.ReplicationFactor)
	}
	return checkLife(wire.CodeInvalidOptionValue, "MessageExpiry", o.MessageExpiry)
}

// known says whether d is one of the durabilities, or left to the server.
func (d Durability) known() bool { return d == "" || d == Replicated || d == Persisted }

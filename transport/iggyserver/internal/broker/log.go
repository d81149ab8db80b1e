package broker

// Log keeps the messages of one partition: batches as they are stored, encoded, one behind the other. Reading may go on
// while a batch is appended; there is one append at a time. Other writes of the partition wait for Append, and all changes
// of metadata for DropSegments, Truncate, Close and Remove: they are not to take longer than they must.
type Log interface {
	// Append stores a batch that begins at the next offset. The log may keep batch; its bytes are not changed any more.
	// Once it returns, the batch counts as stored: its sender is told so.
	Append(batch []byte) error
	// Read appends to dst the batches with the messages from an offset on, within the limits, and returns the longer slice
	// and the number of messages. The first and the last batch may be parts. What was removed is left out; from an offset
	// at or beyond the end on there is nothing.
	Read(dst []byte, from uint64, limit ReadLimit) (longer []byte, count uint32, err error)
	// Since returns the offset of the first message that was stored at a time, in microseconds since 1970, or later; the
	// next offset if there is none.
	Since(micros uint64) (offset uint64, err error)
	// Span tells what there is.
	Span() Span
	// After tells how many bytes the messages from an offset on have, roughly: somewhat more than that, but 0 at the end.
	After(offset uint64) (bytes uint64)
	// DropSegments removes the oldest segments, at most so many. The next offset stays.
	DropSegments(count uint32) error
	// Truncate removes the messages from an offset on, which is then the next one.
	Truncate(next uint64) error
	// Close ends the use of the log. What it has stays, if it is kept anywhere.
	Close() error
	// Remove ends the use of the log and removes what it has: its partition was deleted.
	Remove() error
}

// ReadLimit says how much to read at most.
type ReadLimit struct {
	// Count is the number of messages.
	Count uint32
	// Bytes is the size of the batches.
	Bytes int
	// AtLeastOne allows the first message to be larger than Bytes.
	AtLeastOne bool
}

// Span is what a log has.
type Span struct {
	// First is the offset of the oldest message, or Next.
	First uint64
	// Next is the offset that the next message gets.
	Next uint64
	// Bytes is the size of the messages with their headers.
	Bytes uint64
	// Segments is the number of segments, at least 1: the last one is open.
	Segments uint32
	// OldestUntil is when the newest message of the oldest segment was stored, in microseconds since 1970.
	OldestUntil uint64
	// Latest is when the newest message was stored, in microseconds since 1970; 0 if there is none.
	Latest uint64
}

// messages is the number of messages: offsets have no gaps.
func (s Span) messages() uint64 { return s.Next - s.First }

// newest is the offset of the newest message, 0 if there never was one.
func (s Span) newest() uint64 {
	if s.Next == 0 {
		return 0
	}
	return s.Next - 1
}

// LogSpec says which partition a log is for, and how to keep it.
type LogSpec struct {
	// Stream, Topic and Partition are the numbers of the partition and of what it is in.
	Stream, Topic, Partition uint32
	// Incarnation is the life of the partition.
	Incarnation uint64
	// SegmentBytes is the size at which a segment ends.
	SegmentBytes uint64
}

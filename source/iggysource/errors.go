package iggysource

import (
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

var (
	// ErrClosed is returned by a consumer that was shut down, and for which Init was not called again.
	ErrClosed = errors.New("iggysource: the consumer is shut down")
	// ErrNotReady is returned by a consumer for which Init was not called.
	ErrNotReady = errors.New("iggysource: the consumer is not ready: call Init first")
	// ErrInPipeline is returned by the calls for using a consumer alone while a pipeline has it open.
	ErrInPipeline = errors.New("iggysource: a pipeline reads from the consumer, and commits what its markers cover")
	// ErrTruncated is the cause when a partition ends before what was read of it: the server has lost messages, whose offsets
	// others get now. The code is [wire.CodeHistoryUnavailable].
	ErrTruncated = errors.New("the partition ends before what was read of it")
	// ErrUndecodable is the cause when a message is not what the protocol says, so that it cannot be read.
	ErrUndecodable = errors.New("the message cannot be decoded")
)

// ReadError says that reading cannot go on by itself. Errors that pass are not told: those reads are done again.
//
// A partition whose message cannot be decoded or decrypted is read again from it after a while, with the same error, until
// [Consumer.Seek] goes elsewhere: with Skip, which leaves the message out, or with any other strategy. Any other error of a
// partition stops it until a Seek. Other partitions are read meanwhile.
type ReadError struct {
	// Partition is the partition; not present if the whole consumer is concerned, such as when the client was shut down.
	Partition wire.OptionalPartition
	// Err is the cause: mostly a [*client.Error], whose code errors.Is finds.
	Err error
	// Skip is where to go on behind a message that cannot be read; of no kind if that does not help or is not known.
	Skip wire.PollingStrategy
	// Offset is that of the message that cannot be read, if Skip is set.
	Offset uint64
	// Record is the message as it came, if it could be told from others: one that could not be decrypted. Else it is nil.
	Record *wire.Message
}

// Error names the partition, the message if there is one, and the cause.
func (e *ReadError) Error() string {
	switch {
	case !e.Partition.Present:
		return fmt.Sprintf("iggysource: %v", e.Err)
	case e.Skip.Kind != 0:
		return fmt.Sprintf("iggysource: partition %d at offset %d: %v", e.Partition.ID, e.Offset, e.Err)
	}
	return fmt.Sprintf("iggysource: partition %d: %v", e.Partition.ID, e.Err)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

func undecodable(why error) error { return fmt.Errorf("%w: %w", ErrUndecodable, why) }

// refusedCommand is the error of a call that makes no sense.
func refusedCommand(call, format string, args ...any) error {
	return &client.Error{Code: wire.CodeInvalidCommand, Call: call, Err: fmt.Errorf(format, args...)}
}

// severity says what is done about an error of a read.
type severity uint8

const (
	passing severity = iota // read again soon
	lasting                 // read again a few times, in ever longer intervals
	stopping
	ending // there will be no more reads at all
)

// severityOf says what is done about a code, of a read or of a look at an assignment.
func severityOf(code wire.Code) severity {
	switch code {
	case wire.CodeTransientNotCommitted, wire.CodeTransientNotAccepted, wire.CodeLifecycleBusy, wire.CodeNotPrimary,
		wire.CodeDeferredPollCapacityExceeded, wire.CodeDisconnected, wire.CodeCannotEstablishConnection,
		wire.CodeNotConnected, wire.CodeStaleClient:
		return passing
	case wire.CodeClientShutdown:
		return ending
	case wire.CodeHistoryUnavailable, wire.CodeLaneBlocked, wire.CodePartitionLaneBlocked, wire.CodeFetchProgressUncertain:
		return stopping
	}
	return lasting
}

// refusesOffset says whether a store was refused because the partition has another life or another owner: for good.
func refusesOffset(err error) bool {
	return errors.Is(err, wire.CodeHistoryUnavailable) || errors.Is(err, wire.CodeConsumerGroupPartitionNotOwned)
}

package iggysink

import (
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

var (
	// ErrNotInitialized is returned by sends before [Producer.Init].
	ErrNotInitialized = errors.New("iggy: the producer is not initialized: call Init")
	// ErrInPipeline is returned by sends while a pipeline has the producer open, and by Open if one has.
	ErrInPipeline = errors.New("iggy: the producer belongs to a pipeline that has it open")
)

// callSend and others name calls in errors.
const (
	callSend = "producer.send"
	callInit = "producer.init"
)

// SendFailedError says what a send did not write. errors.Is knows the code of the cause, and [wire.CodeProducerSendFailed].
type SendFailedError struct {
	// Cause is why.
	Cause error
	// Stream is the stream that was written to.
	Stream wire.Identifier
	// Topic is the topic.
	Topic wire.Identifier
	// Partitioning is how the partition was to be chosen.
	Partitioning wire.Partitioning
	// Failed are the messages that are not confirmed, from the first one of the request that failed on. They are as they were
	// given, not encrypted, with the ids and times that they got.
	Failed []wire.Message
	// Uncertain is how many of Failed, from the first one on, may have been written: those of the request whose outcome is not
	// known. It is 0 when it is known that none were.
	Uncertain int
	// Committed are the confirmations of the requests before, if the server said where.
	Committed []wire.Confirmation
}

// Error names the topic, how much failed, and the cause.
func (e *SendFailedError) Error() string {
	return fmt.Sprintf("iggy: send to %v/%v: %d messages are not confirmed, %d of them may have been written: %v",
		e.Stream, e.Topic, len(e.Failed), e.Uncertain, e.Cause)
}

// Unwrap returns the cause.
func (e *SendFailedError) Unwrap() error { return e.Cause }

// Is says whether target is the code for sends that failed.
func (e *SendFailedError) Is(target error) bool {
	code, ok := target.(wire.Code)
	return ok && code == wire.CodeProducerSendFailed
}

// sendFailed is the error of a request of sent messages, behind which there are others.
func sendFailed(cause error, t *topic, by wire.Partitioning, failed []wire.Message, sent int) *SendFailedError {
	e := &SendFailedError{Cause: cause, Stream: t.stream, Topic: t.topic, Partitioning: by, Failed: failed}
	if uncertain(cause) {
		e.Uncertain = sent
	}
	return e
}

// uncertain says whether a write with this error may have happened. A link without sessions has a code of its own for that.
func uncertain(err error) bool {
	return errors.Is(err, wire.CodeOperationUncertain) || errors.Is(err, wire.CodeTransientNotCommitted)
}

// closed is the error of a producer that is shut down.
func closed(call string) error { return &client.Error{Code: wire.CodeProducerClosed, Call: call} }

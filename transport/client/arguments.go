package client

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/runnel-go/runnel/transport/wire"
)

// ErrArgument is the cause when an argument of a call is not allowed. Nothing was sent then. The error says what is allowed.
var ErrArgument = errors.New("argument not allowed")

// fault is what is wrong with an argument.
type fault struct {
	code wire.Code
	why  string
}

// check returns the error for the first fault, or nil if there is none.
func check(command wire.Command, faults ...*fault) error {
	for _, f := range faults {
		if f != nil {
			return &Error{Code: f.code, Call: command.String(), Err: fmt.Errorf("%w: %s", ErrArgument, f.why)}
		}
	}
	return nil
}

// checkSessions refuses a command that is about a session where there is none: over HTTP.
func (c *Client) checkSessions(command wire.Command) error {
	if c.sessionless {
		return &Error{Code: wire.CodeFeatureUnavailable, Call: command.String(), Err: ErrNoSessions}
	}
	return nil
}

// checkText wants a text of so many bytes. The text is not shown: it may be a secret.
func checkText(code wire.Code, what, text string, least, most int) *fault {
	switch {
	case len(text) < least || len(text) > most:
		return &fault{code, fmt.Sprintf("%s has %d bytes, not %d to %d", what, len(text), least, most)}
	case !utf8.ValidString(text):
		return &fault{code, what + " is not UTF-8"}
	}
	return nil
}

// checkName wants a name as streams, topics and groups have.
func checkName(code wire.Code, what, name string) *fault {
	return checkText(code, what, name, 1, math.MaxUint8)
}

// checkID wants an identifier that is a number or a name.
func checkID(what string, id wire.Identifier) *fault {
	if id.IsZero() {
		return &fault{wire.CodeInvalidCommand, "the " + what + " has neither a name nor a number"}
	}
	return checkText(wire.CodeInvalidCommand, "the name of the "+what, id.Name, 0, math.MaxUint8)
}

// checkTopicID wants two identifiers.
func checkTopicID(stream, topic wire.Identifier) *fault {
	if f := checkID("stream", stream); f != nil {
		return f
	}
	return checkID("topic", topic)
}

// checkGroupID wants three identifiers.
func checkGroupID(of wire.GroupOf) *fault {
	if f := checkTopicID(of.Stream, of.Topic); f != nil {
		return f
	}
	return checkID("group", of.Group)
}

// badBody is the error for what cannot be encoded.
func badBody(command wire.Command, err error) error {
	var field *wire.FieldError
	if errors.As(err, &field) { // the place is one in a frame that nobody has seen
		err = fmt.Errorf("%s: %w", field.Field, field.Err)
	}
	return notAllowed(command.String(), err)
}

// notAllowed is the error of a call whose argument has a fault without a code of its own.
func notAllowed(call string, why error) error {
	return &Error{Code: wire.CodeInvalidCommand, Call: call, Err: fmt.Errorf("%w: %w", ErrArgument, why)}
}

// checkMessages says what is wrong with messages that could not be encoded, or nothing.
func checkMessages(messages []wire.Message) *fault {
	if len(messages) == 0 {
		return &fault{wire.CodeInvalidMessagesCount, "no messages"}
	}
	for i, m := range messages {
		if len(m.Payload) > wire.MaxPayloadSize {
			return &fault{
				wire.CodeTooBigMessagePayload,
				fmt.Sprintf("message %d has a payload of %d bytes, not 0 to %d", i, len(m.Payload), wire.MaxPayloadSize),
			}
		}
	}
	return nil
}

// checkRead wants to know who reads and where reading begins.
func checkRead(who wire.Consumer, strategy wire.PollingStrategy) *fault {
	switch {
	case who.Kind < wire.ConsumerSingle || who.Kind > wire.ConsumerExternal:
		return &fault{wire.CodeInvalidCommand, "the consumer has no kind: ConsumerSingle, ConsumerGroup or ConsumerExternal"}
	case strategy.Kind < wire.FromOffset || strategy.Kind > wire.FromNext:
		return &fault{wire.CodeInvalidCommand, "the strategy has no kind: FromOffset, FromTimestamp, FromFirst, FromLast or FromNext"}
	}
	return checkID("consumer", who.ID)
}

// checkPartitions wants a number of partitions that one request may name.
func checkPartitions(n, least uint32) *fault {
	switch {
	case n > wire.MaxPartitions:
		return &fault{wire.CodeTooManyPartitions, fmt.Sprintf("%d partitions, not %d to %d", n, least, wire.MaxPartitions)}
	case n < least:
		return &fault{wire.CodeInvalidPartitionsCount, fmt.Sprintf("%d partitions, not %d to %d", n, least, wire.MaxPartitions)}
	}
	return nil
}

// NotFound says whether the error is that there is no such thing: no stream, topic, partition, group, offset, user, token or
// client. What is not found, its code says; for a stream, a topic and a group there are two, as a server may tell apart
// whether it was asked for a number or a name.
//
// A call for one thing, such as [Client.GetStream], that is not there is an error with the code of what was asked for:
// [wire.CodeStreamIDNotFound], [wire.CodeTopicIDNotFound], also if there is no such stream, [wire.CodeConsumerGroupIDNotFound],
// [wire.CodeResourceNotFound] for a user, and [wire.CodeClientNotFound].
func NotFound(err error) bool {
	switch CodeOf(err) {
	case wire.CodeResourceNotFound, wire.CodeClientNotFound, wire.CodeStreamIDNotFound, wire.CodeStreamNameNotFound,
		wire.CodeTopicIDNotFound, wire.CodeTopicNameNotFound, wire.CodePartitionNotFound, wire.CodeConsumerOffsetNotFound,
		wire.CodeConsumerGroupIDNotFound, wire.CodeConsumerGroupNameNotFound:
		return true
	}
	return false
}

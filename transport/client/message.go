package client

import (
	"fmt"
	"iter"
	"math"

	"github.com/runnel-go/runnel/transport/wire"
)

// NewMessage makes a message of a payload of up to 64,000,000 bytes and user headers, for [Client.Send]. Its id, which may be
// set, is random if it is not. Keys and values of headers have 1 to 255 bytes, a key is there once, and all of them together
// have up to 100,000 bytes as they are encoded. What is not allowed is [ErrArgument].
//
//	client.NewMessage(payload, client.Header("trace", wire.Uint64Value(7)), client.Header("tenant", wire.StringValue("a")))
func NewMessage(payload []byte, headers ...wire.UserHeader) (wire.Message, error) {
	m := wire.Message{Payload: payload}
	if len(payload) > wire.MaxPayloadSize {
		return m, notAllowed("message.new", fmt.Errorf("a payload of %d bytes, not up to %d", len(payload), wire.MaxPayloadSize))
	}
	for i, h := range headers {
		if !fits(h.Key) || !fits(h.Value) {
			return m, notAllowed("message.new", fmt.Errorf("header %d has a key of %d bytes and a value of %d, not 1 to %d each",
				i+1, len(h.Key.Data), len(h.Value.Data), math.MaxUint8))
		}
	}
	if len(headers) == 0 {
		return m, nil
	}
	block, err := wire.AppendUserHeaders(nil, headers)
	if err != nil {
		return m, notAllowed("message.new", fmt.Errorf("headers, each key once and up to %d bytes together: %w", wire.MaxUserHeadersSize, err))
	}
	m.UserHeaders = block
	return m, nil
}

func fits(v wire.Value) bool { return len(v.Data) >= 1 && len(v.Data) <= math.MaxUint8 }

// Header makes a user header whose key is a text. Values of every kind are made by package wire, such as [wire.StringValue].
func Header(key string, value wire.Value) wire.UserHeader {
	return wire.UserHeader{Key: wire.StringValue(key), Value: value}
}

// Headers returns the user headers of a message, in the order of their keys. They are views of it. Methods of their values,
// such as [wire.Value.Uint], say what they are.
func Headers(m wire.Message) ([]wire.UserHeader, error) {
	headers, err := wire.DecodeUserHeaders(nil, m.UserHeaders)
	if err != nil {
		return nil, malformed("message.headers", "", err)
	}
	return headers, nil
}

// Messages walks over the records of a reply to [Client.Poll], or of a section of one to [Client.Fetch]:
//
//	for m, err := range c.Messages(polled.Records) { … }
//
// A client that encrypts gets them decrypted, see [Client.Open]: one that does not decrypt comes as it is, with an error, and
// the next ones come too. Other errors are of the reply, and end the walk. Without encryption messages are views of the
// records, and nothing is allocated for each.
func (c *Client) Messages(records []byte) iter.Seq2[wire.Message, error] {
	return func(yield func(wire.Message, error) bool) {
		r := wire.NewRecords(records)
		for r.Next() {
			if !yield(c.Open(uint32(r.Batch().PartitionID), r.Message())) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(wire.Message{}, malformed("message.read", c.Addr(), err))
		}
	}
}

package client

import (
	"iter"

	"github.com/runnel-go/runnel/transport/wire"
)

// NewMessage makes a message of a payload and user headers, for [Client.Send]. Its id, which may be set, is random if it is
// not. The error says which header is not allowed: keys and values have 1 to 255 bytes.
//
//	client.NewMessage(payload, client.Header("trace", wire.Uint64Value(7)), client.Header("tenant", wire.StringValue("a")))
func NewMessage(payload []byte, headers ...wire.UserHeader) (wire.Message, error) {
	m := wire.Message{Payload: payload}
	if len(headers) == 0 {
		return m, nil
	}
	block, err := wire.AppendUserHeaders(nil, headers)
	if err != nil {
		return m, malformed("message.new", "", err)
	}
	m.UserHeaders = block
	return m, nil
}

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
			if !yield(c.Open(r.Message())) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(wire.Message{}, malformed("message.read", c.Addr(), err))
		}
	}
}

package client

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// errCommitOnRead is the cause when a read is to store offsets of messages that may not decrypt.
var errCommitOnRead = errors.New("AutoCommit together with Encrypt: a message that does not decrypt would be stored as handled")

// Encrypt makes [Client.Send] and [Client.SendPartitioned] encrypt payloads and encoded user headers, each by itself, with AES-256-GCM, and
// [Client.Messages] and [Client.Open] decrypt them. The key has 32 bytes, and every client of a topic has to have the same.
// The server stores what it cannot read. The default is no encryption. Reads with AutoCommit are refused with it, as a message
// that does not decrypt would count as handled, and so is [Client.SendBatch]. Raw requests are sent as they are.
func Encrypt(key []byte) Option {
	sealer, err := wire.NewSealer(key)
	return option(func(c *config) {
		c.want(err == nil, "Encrypt has a key of %d bytes, not %d", len(key), wire.KeySize)
		c.sealer = sealer
	})
}

// checkSealed refuses messages that are too long once they are encrypted.
func checkSealed(messages []wire.Message) error {
	const payload, headers = wire.MaxPayloadSize - wire.SealedExtra, wire.MaxUserHeadersSize - wire.SealedExtra
	for i, m := range messages {
		if len(m.Payload) > payload || len(m.UserHeaders) > headers {
			return check(wire.CmdSendMessages, &fault{wire.CodeInvalidCommand, fmt.Sprintf(
				"message %d has a payload of %d bytes and headers of %d: with Encrypt there are up to %d and %d",
				i+1, len(m.Payload), len(m.UserHeaders), payload, headers)})
		}
	}
	return nil
}

// seal returns the messages encrypted, in memory of their own.
func (c *Client) seal(messages []wire.Message) []wire.Message {
	size := 0
	for i := range messages {
		size += len(messages[i].Payload) + len(messages[i].UserHeaders) + 2*wire.SealedExtra
	}
	memory := make([]byte, 0, size)
	piece := func(plain []byte) []byte {
		var nonce [wire.NonceSize]byte
		_, _ = rand.Read(nonce[:]) // it never fails
		begin := len(memory)
		memory = c.config.sealer.Seal(memory, nonce, plain)
		return memory[begin:]
	}
	sealed := make([]wire.Message, len(messages))
	for i, m := range messages {
		m.Payload = piece(m.Payload)
		if len(m.UserHeaders) > 0 {
			m.UserHeaders = piece(m.UserHeaders)
		}
		sealed[i] = m
	}
	return sealed
}

// Open decrypts a message of a partition, into memory of its own, if the client has a key: see [Encrypt]. Without one the
// message is returned as it is. The error is [wire.CodeCannotDecryptData] and names partition and offset; other messages can be
// read all the same.
func (c *Client) Open(partition uint32, m wire.Message) (wire.Message, error) {
	if c.config.sealer == nil {
		return m, nil
	}
	payload, err := c.config.sealer.Open(nil, m.Payload)
	if err != nil {
		return m, closed("payload", partition, m.Offset, err)
	}
	headers := m.UserHeaders
	if len(headers) > 0 {
		if headers, err = c.config.sealer.Open(nil, headers); err != nil {
			return m, closed("user headers", partition, m.Offset, err)
		}
	}
	m.Payload, m.UserHeaders = payload, headers
	return m, nil
}

func closed(what string, partition uint32, offset uint64, err error) error {
	return &Error{
		Code: wire.CodeCannotDecryptData, Call: "message.open", Partition: partition,
		Err: fmt.Errorf("%s at offset %d of partition %d: %w", what, offset, partition, err),
	}
}

// checkCommit refuses a read that stores offsets for a client that decrypts.
func (c *Client) checkCommit(call string, read *Read) error {
	if c.config.sealer == nil || !read.AutoCommit {
		return nil
	}
	return &Error{Code: wire.CodeInvalidConfiguration, Call: call, Err: fmt.Errorf("%w: %w", ErrArgument, errCommitOnRead)}
}

package client

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/runnel-go/runnel/transport/wire"
)

// Send stores messages in a partition, as one batch, and returns where they are; found is false if the server did not say.
// producer is nil unless the send is idempotent. The messages are encoded before Send waits for anything, and not looked at
// any more when it returns. One without an id gets a random one, which is put into messages too, so that a repeat has the
// same.
//
// A send whose partition has got a new life before it was done begins anew in that, once. An uncertain outcome is
// [wire.CodeOperationUncertain], see the package.
func (c *Client) Send(
	ctx context.Context, to Partition, producer *wire.Producer, messages []wire.Message,
) (at wire.Confirmation, found bool, err error) {
	at, found, err = c.sendMessages(ctx, to, wire.ToPartition(to.ID), producer, messages)
	if err != nil {
		err = named(wire.CmdSendMessages, to.String(), err)
	}
	return at, found, err
}

// sendMessages names, encrypts and encodes messages, and sends them.
func (c *Client) sendMessages(
	ctx context.Context, to Partition, by wire.Partitioning, producer *wire.Producer, messages []wire.Message,
) (at wire.Confirmation, found bool, err error) {
	if err := check(wire.CmdSendMessages, to.check()); err != nil {
		return at, false, err
	}
	frame, err := c.sendFrame(to, by, uint32(len(messages)))
	if err != nil {
		return at, false, err
	}
	name(messages)
	if c.config.sealer != nil {
		if err := checkSealed(messages); err != nil {
			c.freeFrame(frame)
			return at, false, err
		}
		messages = c.seal(messages)
	}
	longer, err := wire.AppendBatch(*frame, producer, messages)
	if err != nil {
		c.freeFrame(frame)
		return at, false, cmp.Or(check(wire.CmdSendMessages, checkMessages(messages)), badBody(wire.CmdSendMessages, err))
	}
	*frame = longer
	return c.send(ctx, to, frame)
}

// name gives an id to messages that have none: the protocol wants one.
func name(messages []wire.Message) {
	var random [16]byte
	for i := range messages {
		if messages[i].ID == (wire.Uint128{}) {
			binary.NativeEndian.PutUint64(random[:8], rand.Uint64())
			binary.NativeEndian.PutUint64(random[8:], rand.Uint64())
			messages[i].ID = wire.UUIDv4(random)
		}
	}
}

// SendBatch is [Client.Send] for a batch that [wire.AppendBatch] has made, with the number of its messages. The batch is
// copied. A client that encrypts refuses it with [ErrArgument]: it cannot tell whether the batch is encrypted.
func (c *Client) SendBatch(
	ctx context.Context, to Partition, count uint32, batch []byte,
) (at wire.Confirmation, found bool, err error) {
	if c.config.sealer != nil {
		return at, false, check(wire.CmdSendMessages,
			&fault{wire.CodeInvalidCommand, "a client with Encrypt sends with Send, which encrypts"})
	}
	if err := check(wire.CmdSendMessages, to.check()); err != nil {
		return at, false, err
	}
	frame, err := c.sendFrame(to, wire.ToPartition(to.ID), count)
	if err != nil {
		return at, false, err
	}
	*frame = append(*frame, batch...)
	at, found, err = c.send(ctx, to, frame)
	if err != nil {
		err = named(wire.CmdSendMessages, to.String(), err)
	}
	return at, found, err
}

// SendPartitioned is [Client.Send] over HTTP, where the server chooses the partition. Over other transports it is
// [wire.CodeFeatureUnavailable]: there the client names the partition.
func (c *Client) SendPartitioned(
	ctx context.Context, stream, topic wire.Identifier, by wire.Partitioning, messages []wire.Message,
) error {
	if !c.sessionless {
		return &Error{Code: wire.CodeFeatureUnavailable, Call: wire.CmdSendMessages.String(), Err: ErrHTTPOnly}
	}
	if _, _, err := c.sendMessages(ctx, Partition{Stream: stream, Topic: topic}, by, nil, messages); err != nil {
		return named(wire.CmdSendMessages, topicOf(stream, topic), err)
	}
	return nil
}

// sendFrame is a frame with all of a send but the batch.
func (c *Client) sendFrame(to Partition, by wire.Partitioning, count uint32) (*[]byte, error) {
	return c.encoded(wire.CmdSendMessages,
		&wire.SendMessages{Stream: to.Stream, Topic: to.Topic, Partitioning: by, MessagesCount: count}, nil)
}

func (c *Client) send(ctx context.Context, to Partition, frame *[]byte) (at wire.Confirmation, found bool, err error) {
	r, err := c.perform(ctx, &write{command: wire.CmdSendMessages, frame: frame, target: &to, restarts: true})
	if err != nil || len(r.payload) == 0 {
		return at, false, err
	}
	sent, err := wire.Decode[wire.SentMessages](r.payload)
	if err == nil && len(sent.Confirmations) != 1 {
		err = fmt.Errorf("%d confirmations for one partition: %w", len(sent.Confirmations), wire.ErrLength)
	}
	if err != nil {
		return at, false, malformed(wire.CmdSendMessages.String(), c.Addr(), err)
	}
	return sent.Confirmations[0], true, nil
}

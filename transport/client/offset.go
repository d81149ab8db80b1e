package client

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// StoreOffset stores where a consumer is in a partition: the offset of the last message that was handled. under is the
// context that the message was read with. If the partition has another life since, the error is
// [wire.CodeHistoryUnavailable], and nothing is stored: the offset means nothing there. If the group has given the partition
// to another member, it is [wire.CodeConsumerGroupPartitionNotOwned]. A zero context means the present life and owner.
func (c *Client) StoreOffset(
	ctx context.Context, who wire.Consumer, of Partition, offset uint64, under wire.PartitionContext,
) error {
	return c.writeOffset(ctx, wire.CmdStoreConsumerOffset, of, under, &wire.StoreConsumerOffset{
		Consumer: who, Stream: of.Stream, Topic: of.Topic, Partition: wire.Partition(of.ID), Offset: offset,
		Ack: wire.AckQuorum,
	})
}

// DeleteOffset forgets where a consumer is in a partition. The context is as in [Client.StoreOffset]. If nothing is stored
// the error is [wire.CodeConsumerOffsetNotFound].
func (c *Client) DeleteOffset(ctx context.Context, who wire.Consumer, of Partition, under wire.PartitionContext) error {
	return c.writeOffset(ctx, wire.CmdDeleteConsumerOffset, of, under, &wire.DeleteConsumerOffset{
		Consumer: who, Stream: of.Stream, Topic: of.Topic, Partition: wire.Partition(of.ID), Ack: wire.AckQuorum,
	})
}

func (c *Client) writeOffset(
	ctx context.Context, command wire.Command, of Partition, under wire.PartitionContext, body wire.Body,
) error {
	if err := check(command, of.check()); err != nil {
		return err
	}
	frame, err := c.encoded(command, body, nil)
	if err != nil {
		return err
	}
	w := &write{command: command, frame: frame, target: &of}
	if under != (wire.PartitionContext{}) {
		w.fixed, w.route.context = true, under
	}
	if _, err = c.perform(ctx, w); err != nil {
		return named(command, of.String(), err)
	}
	return nil
}

// GetOffset returns where a consumer is in a partition; found is false if nothing is stored. It looks past operations with
// an uncertain outcome.
func (c *Client) GetOffset(
	ctx context.Context, who wire.Consumer, of Partition,
) (offset wire.ConsumerOffset, found bool, err error) {
	const command = wire.CmdGetConsumerOffset
	if err := check(command, of.check()); err != nil {
		return offset, false, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	r, err := c.ask(ctx, &query{
		command: command, lineage: c.begin(), target: &of,
		body: &wire.GetConsumerOffset{
			Consumer: who, Stream: of.Stream, Topic: of.Topic, Partition: wire.Partition(of.ID),
		},
	})
	if err != nil {
		return offset, false, named(command, of.String(), err)
	}
	offset, found, err = wire.DecodeIfAny[wire.ConsumerOffset](r.payload)
	if err != nil {
		return offset, false, malformed(command.String(), c.Addr(), err)
	}
	return offset, found, nil
}

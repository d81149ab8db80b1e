package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// rawWrite makes a raw write of a partition.
func (c *Client) rawWrite(ctx context.Context, command wire.Command, payload []byte) ([]byte, error) {
	of, err := targetOf(command, payload)
	if err != nil {
		return nil, err
	}
	frame, err := c.encoded(command, nil, payload)
	if err != nil {
		return nil, err
	}
	r, err := c.perform(ctx, &write{
		command: command, frame: frame, target: &of, restarts: command == wire.CmdSendMessages,
	})
	return r.payload, err
}

// targetOf returns the partition that a raw write is of.
func targetOf(command wire.Command, payload []byte) (of Partition, err error) {
	var at wire.OptionalPartition
	switch command {
	case wire.CmdSendMessages:
		var b wire.SendMessages
		b, err = wire.Decode[wire.SendMessages](payload)
		of.Stream, of.Topic, at.ID = b.Stream, b.Topic, b.Partitioning.Partition
		at.Present = b.Partitioning.Kind == wire.PartitionByID
	case wire.CmdStoreConsumerOffset:
		var b wire.StoreConsumerOffset
		b, err = wire.Decode[wire.StoreConsumerOffset](payload)
		of.Stream, of.Topic, at = b.Stream, b.Topic, b.Partition
	default:
		var b wire.DeleteConsumerOffset
		b, err = wire.Decode[wire.DeleteConsumerOffset](payload)
		of.Stream, of.Topic, at = b.Stream, b.Topic, b.Partition
	}
	of.ID = at.ID
	return of, checkNamed(command, at, err)
}

// checkNamed wants a payload that could be read, and a partition in it.
func checkNamed(command wire.Command, at wire.OptionalPartition, err error) error {
	switch {
	case err != nil:
		return malformed(command.String(), "", err)
	case !at.Present:
		return &Error{Code: wire.CodeFeatureUnavailable, Call: command.String(), Err: ErrPartitionUnnamed}
	}
	return nil
}

// rawRead makes a raw read of a partition.
func (c *Client) rawRead(ctx context.Context, command wire.Command, payload []byte) ([]byte, error) {
	var p wire.PollMessagesDeferred // all that the three say
	var err error
	switch command {
	case wire.CmdGetConsumerOffset:
		var b wire.GetConsumerOffset
		b, err = wire.Decode[wire.GetConsumerOffset](payload)
		p.Stream, p.Topic, p.Partition = b.Stream, b.Topic, b.Partition
	case wire.CmdPollMessages:
		p.PollMessages, err = wire.Decode[wire.PollMessages](payload)
	default:
		p, err = wire.Decode[wire.PollMessagesDeferred](payload)
	}
	if err := checkNamed(command, p.Partition, err); err != nil {
		return nil, err
	}
	ctx, cancel := c.rawBounded(ctx, p.TimeoutMicros)
	defer cancel()
	q := &query{
		command: command, raw: payload, lineage: c.begin(), waits: p.WaitMicros > 0, stores: p.AutoCommit,
		target: &Partition{Stream: p.Stream, Topic: p.Topic, ID: p.Partition.ID},
	}
	r, err := c.poll(ctx, q, p.AutoCommit || p.Strategy.Kind == wire.FromNext)
	return r.payload, err
}

// rawFetch makes a raw fetch. Targets without an incarnation get the present one.
func (c *Client) rawFetch(ctx context.Context, payload []byte) ([]byte, error) {
	const command = wire.CmdFetchMessages
	body, err := wire.Decode[wire.FetchMessages](payload)
	if err != nil {
		return nil, malformed(command.String(), "", err)
	}
	ctx, cancel := c.rawBounded(ctx, body.TimeoutMicros)
	defer cancel()
	targets := make([]Target, 0, len(body.Targets))
	for _, t := range body.Targets {
		targets = append(targets, Target{
			Partition: t.Partition, Strategy: t.Strategy, MaxBytes: t.MaxBytes,
			Under: wire.PartitionContext{Incarnation: t.Incarnation, OwnerGeneration: t.OwnerGeneration},
		})
	}
	body.Targets = nil
	_, r, err := c.fetch(ctx, &body, targets, nil)
	return r.payload, err
}

// rawBounded is a context with the time that a read takes by its payload, or with that of a call.
func (c *Client) rawBounded(ctx context.Context, micros uint64) (context.Context, context.CancelFunc) {
	if micros == 0 || micros > wire.MaxTimeoutMicros {
		return c.bounded(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Duration(micros)*time.Microsecond, ErrDeadline)
}

// rawMembership joins or leaves a group, which the client has to know.
func (c *Client) rawMembership(ctx context.Context, command wire.Command, payload []byte) error {
	b, err := wire.Decode[wire.GroupOf](payload)
	switch {
	case err != nil:
		return malformed(command.String(), "", err)
	case command == wire.CmdJoinConsumerGroup:
		return c.JoinConsumerGroup(ctx, b)
	}
	return c.LeaveConsumerGroup(ctx, b)
}

package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// Target is a partition that [Client.Fetch] reads from.
type Target struct {
	// Partition is the partition.
	Partition uint32
	// Strategy says where to begin: FromOffset or FromNext.
	Strategy wire.PollingStrategy
	// MaxBytes bounds what is read of it; 0 means as much as the whole fetch may have.
	MaxBytes uint32
	// Under is the context of the last reply for the partition, or a zero one: see [Client.Poll].
	Under wire.PartitionContext
}

// Fetch reads messages of up to 1000 partitions of a topic at once. It is like [Client.Poll], but that each section of the
// reply has a status, and that all of them are asked of one node, the primary of the first: [Client.Primary] tells which
// partitions have the same. A status that is [wire.CodeHistoryUnavailable] or [wire.CodeConsumerGroupPartitionNotOwned] is of its
// partition only. There need not be a section for every target. A partition whose progress is in doubt is
// [wire.CodePartitionLaneBlocked].
func (c *Client) Fetch(
	ctx context.Context, who wire.Consumer, stream, topic wire.Identifier, targets []Target, read Read,
) (wire.FetchedMessages, error) {
	const command = wire.CmdFetchMessages
	read = read.withDefaults()
	err := cmp.Or(check(command, checkTopicID(stream, topic), checkTargets(who, targets), read.check()), c.checkCommit(command.String(), &read))
	if err != nil {
		return wire.FetchedMessages{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, read.timeout(), ErrDeadline)
	defer cancel()
	body := &wire.FetchMessages{
		Consumer: who, Stream: stream, Topic: topic, WaitMicros: uint64(read.Wait.Microseconds()),
		TimeoutMicros: uint64(read.timeout().Microseconds()), MinCount: read.MinCount, Count: read.Count,
		MaxBytes: read.MaxBytes, AutoCommit: read.AutoCommit,
	}
	q, r, err := c.fetch(ctx, body, targets, read.Into)
	if err != nil {
		return wire.FetchedMessages{}, named(command, topicOf(stream, topic), err)
	}
	fetched, err := wire.Decode[wire.FetchedMessages](r.payload)
	if err != nil {
		return fetched, malformed(command.String(), c.Addr(), err)
	}
	c.noteSections(stream, topic, fetched.Sections)
	if len(fetched.Sections) == 0 && ctx.Err() != nil {
		return fetched, named(command, topicOf(stream, topic), q.expired(ctx))
	}
	return fetched, nil
}

// checkTargets wants to know who reads, of which partitions, and where reading begins.
func checkTargets(who wire.Consumer, targets []Target) *fault {
	if len(targets) == 0 {
		return &fault{wire.CodeInvalidCommand, "no partitions to fetch from"}
	}
	for _, t := range targets {
		if f := checkRead(who, t.Strategy); f != nil {
			return f
		}
		if t.Strategy.Kind != wire.FromOffset && t.Strategy.Kind != wire.FromNext {
			return &fault{wire.CodeInvalidCommand, fmt.Sprintf("partition %d: a fetch begins FromOffset or FromNext; Poll takes the others", t.Partition)}
		}
	}
	return nil
}

// fetch asks for what body says of some targets, in the lanes that it takes.
func (c *Client) fetch(ctx context.Context, body *wire.FetchMessages, targets []Target, into *Buffer) (*query, reply, error) {
	q := &query{
		command: wire.CmdFetchMessages, body: body, lineage: c.begin(), waits: body.WaitMicros > 0, stores: body.AutoCommit,
		into: into,
	}
	keys, err := c.aim(ctx, q, body, targets)
	if err != nil {
		return q, reply{}, err
	}
	if err := c.lanes.take(ctx, keys); err != nil {
		return q, reply{}, fetchLaneError(q.command, err)
	}
	r, err := c.askIn(ctx, q, keys)
	if CodeOf(err) == wire.CodeNotPrimary { // all of them were asked for at the same node
		for _, t := range targets {
			c.routes.forget(Partition{body.Stream, body.Topic, t.Partition})
		}
	}
	return q, r, err
}

// aim fills in the targets, sends the fetch to the primary of the first one, and returns the lanes of those whose progress
// the fetch stores or begins at, in the order of the partitions.
func (c *Client) aim(ctx context.Context, q *query, body *wire.FetchMessages, targets []Target) ([]laneKey, error) {
	var keys []laneKey
	for i, t := range targets {
		r, err := c.findRoute(ctx, q.lineage, Partition{body.Stream, body.Topic, t.Partition}, 0)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			q.route, q.aimed = r, true
		}
		under := t.Under
		if under.Incarnation == 0 {
			under.Incarnation = r.context.Incarnation
		}
		if t.MaxBytes == 0 {
			t.MaxBytes = body.MaxBytes
		}
		body.Targets = append(body.Targets, wire.FetchTarget{
			Partition: t.Partition, Strategy: t.Strategy, MaxBytes: t.MaxBytes,
			Incarnation: under.Incarnation, OwnerGeneration: under.OwnerGeneration,
		})
		if !c.sessionless && (body.AutoCommit || t.Strategy.Kind == wire.FromNext) {
			keys = append(keys, laneKey{progressLane, under.Incarnation, t.Partition})
		}
	}
	slices.SortFunc(keys, func(a, b laneKey) int { return cmp.Compare(a.partition, b.partition) })
	return slices.Compact(keys), nil // a partition that is named twice is refused later
}

// noteSections forgets routes that sections have shown to be old.
func (c *Client) noteSections(stream, topic wire.Identifier, sections []wire.FetchSection) {
	for i := range sections {
		switch sections[i].Status {
		case wire.CodeHistoryUnavailable, wire.CodeNotPrimary:
			c.routes.forget(Partition{stream, topic, sections[i].Partition})
		}
	}
}

func fetchLaneError(command wire.Command, err error) error {
	var blocked *blockedError
	if errors.As(err, &blocked) {
		return &Error{
			Code: wire.CodePartitionLaneBlocked, Call: command.String(), Operation: blocked.operation,
			Partition: blocked.key.partition,
		}
	}
	return laneError(command, err)
}

package iggysink

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Balanced is the partitioning that gives each request to the next partition.
func Balanced() wire.Partitioning { return wire.Partitioning{Kind: wire.PartitionBalanced} }

// ByKey is the partitioning by a key of 1 to 255 bytes: the same key means the same partition, whichever client sends, as long
// as the topic has the same number of partitions.
func ByKey(key []byte) wire.Partitioning {
	return wire.Partitioning{Kind: wire.PartitionByKey, Key: key}
}

// ToPartition is the partitioning that names a partition.
func ToPartition(id uint32) wire.Partitioning { return wire.ToPartition(id) }

// checkPartitioning says what is wrong with a partitioning.
func checkPartitioning(by wire.Partitioning) error {
	switch {
	case by.Kind == wire.PartitionBalanced, by.Kind == wire.PartitionByID:
		return nil
	case by.Kind == wire.PartitionByKey && len(by.Key) >= 1 && len(by.Key) <= math.MaxUint8:
		return nil
	case by.Kind == wire.PartitionByKey:
		return notAllowed("a partition key of %d bytes, not 1 to %d", len(by.Key), math.MaxUint8)
	}
	return notAllowed("%d is no kind of partitioning", by.Kind)
}

func notAllowed(format string, args ...any) error {
	return &client.Error{
		Code: wire.CodeInvalidCommand, Call: callSend, Err: fmt.Errorf("%w: "+format, append([]any{client.ErrArgument}, args...)...),
	}
}

// topic is a topic that is written to, as the caller spells it.
type topic struct {
	stream, topic wire.Identifier
	turn          atomic.Uint32 // of balanced requests
	sequences     sequences     // of an idempotent producer
}

// partition names a partition of the topic.
func (t *topic) partition(id uint32) client.Partition {
	return client.Partition{Stream: t.stream, Topic: t.topic, ID: id}
}

// String names the topic.
func (t *topic) String() string { return t.stream.String() + "/" + t.topic.String() }

// choose returns the partition of a request. A fresh choice asks the server how many there are.
func (p *Producer) choose(ctx context.Context, t *topic, by wire.Partitioning, fresh bool) (uint32, error) {
	if by.Kind == wire.PartitionByID {
		return by.Partition, nil
	}
	n, err := p.partitions(ctx, t, fresh)
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, &client.Error{Code: wire.CodePartitionNotFound, Call: callSend, Err: fmt.Errorf("%v has no partitions", t)}
	case by.Kind == wire.PartitionByKey:
		return wire.PartitionOfKey(by.Key, n), nil
	}
	return (t.turn.Add(1) - 1) % n, nil
}

// partitions returns how many partitions a topic has: what the client has learned when it looked where they are, or else what the
// server says.
func (p *Producer) partitions(ctx context.Context, t *topic, fresh bool) (uint32, error) {
	if fresh || p.server.Sessionless() {
		details, err := p.server.GetTopic(ctx, t.stream, t.topic)
		return details.Topic.PartitionsCount, err
	}
	_, n, err := p.server.Primary(ctx, t.partition(0))
	return n, err
}

package client

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// CreatePartitions adds 1 to 1000 partitions to a topic. Their numbers go on behind those that are there. If there is no such
// topic see [NotFound].
func (c *Client) CreatePartitions(ctx context.Context, stream, topic wire.Identifier, count uint32) error {
	return c.do(ctx, wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: stream, Topic: topic, Count: count},
		checkTopicID(stream, topic), checkPartitions(count, 1))
}

// DeletePartitions removes the 1 to 1000 partitions of a topic that have the highest numbers, with their messages. If there is
// no such topic see [NotFound].
func (c *Client) DeletePartitions(ctx context.Context, stream, topic wire.Identifier, count uint32) error {
	return c.do(ctx, wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: stream, Topic: topic, Count: count},
		checkTopicID(stream, topic), checkPartitions(count, 1))
}

// DeleteSegments removes the oldest count segments of a partition, with their messages. That which is written to stays. If
// there is no such partition see [NotFound].
func (c *Client) DeleteSegments(ctx context.Context, of Partition, count uint32) error {
	const codeInvalidSegmentsCount wire.Code = 4030
	var wrong *fault
	if count == 0 {
		wrong = &fault{codeInvalidSegmentsCount, "0 segments, not 1 or more"}
	}
	return c.do(ctx, wire.CmdDeleteSegments, &wire.DeleteSegments{
		Stream: of.Stream, Topic: of.Topic, Partition: of.ID, Count: count,
	}, checkTopicID(of.Stream, of.Topic), wrong)
}

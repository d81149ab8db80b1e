package rest

import (
	"context"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// run carries out a command whose body is another one than that of the frame.
func (c *Conn) run(ctx context.Context, command wire.Command, at wire.PartitionContext, body wire.Body) (result, error) {
	b, err := wire.Append(nil, body)
	if err != nil {
		return result{code: wire.CodeInvalidCommand}, nil //nolint:nilerr // what the protocol does not allow is the answer
	}
	return c.command(ctx, command, at, b)
}

// poll reads what is there: without a wait, that is a read that may wait.
func (c *Conn) poll(ctx context.Context, h *wire.RequestHeader, body []byte) (result, error) {
	p, err := wire.Decode[wire.PollMessages](body)
	if err != nil || p.Count == 0 {
		return result{code: wire.CodeInvalidCommand}, nil //nolint:nilerr // as above
	}
	return c.run(ctx, wire.CmdPollMessagesDeferred, h.Context, &wire.PollMessagesDeferred{
		PollMessages: p, MinCount: 1, MaxBytes: uint32(min(c.limits.MaxReplyBytes, wire.MaxPollBodySize)), TimeoutMicros: defaultTimeout,
	})
}

// route asks for the topic, which has what requests for its partitions carry. (Iggy HTTP interface, message bodies.)
func (c *Conn) route(ctx context.Context, body []byte) (result, error) {
	of, err := wire.Decode[wire.GetPartitionRoute](body)
	if err != nil {
		return result{code: wire.CodeInvalidCommand}, nil //nolint:nilerr // as above
	}
	got, err := c.run(ctx, wire.CmdGetTopic, wire.PartitionContext{}, &wire.GetTopic{Stream: of.Stream, Topic: of.Topic})
	if err != nil || got.code != 0 {
		return got, err
	}
	topic, ok := got.payload.(*wire.TopicDetails)
	if !ok {
		return result{code: wire.CodeTopicIDNotFound}, nil
	}
	at := slices.IndexFunc(topic.Partitions, func(p wire.TopicPartition) bool { return p.ID == of.Partition })
	if at < 0 {
		return result{code: wire.CodePartitionNotFound}, nil
	}
	p := &topic.Partitions[at]
	route := &wire.PartitionRoute{
		Incarnation: p.Context.Incarnation, MetadataOp: p.Context.MetadataOp, PartitionsCount: topic.Topic.PartitionsCount,
	}
	if len(p.Members) > 0 {
		route.Primary = p.Members[0]
	}
	return result{payload: route}, nil
}

// fetch reads from one partition as a read that may wait. What is wrong with the partition is a status of its section.
func (c *Conn) fetch(ctx context.Context, body []byte) (result, error) {
	f, err := wire.Decode[wire.FetchMessages](body)
	switch {
	case err != nil:
		return result{code: wire.CodeInvalidCommand}, nil //nolint:nilerr // as above
	case len(f.Targets) != 1:
		return result{code: wire.CodeFeatureUnavailable}, nil
	}
	t := &f.Targets[0]
	at := wire.PartitionContext{Incarnation: t.Incarnation, OwnerGeneration: t.OwnerGeneration}
	got, err := c.run(ctx, wire.CmdPollMessagesDeferred, at, &wire.PollMessagesDeferred{
		PollMessages: wire.PollMessages{
			Consumer: f.Consumer, Stream: f.Stream, Topic: f.Topic, Partition: wire.Partition(t.Partition),
			Strategy: t.Strategy, Count: f.Count, AutoCommit: f.AutoCommit,
		},
		WaitMicros: f.WaitMicros, MinCount: f.MinCount, MaxBytes: t.MaxBytes, TimeoutMicros: f.TimeoutMicros,
	})
	if err != nil {
		return got, err
	}
	section := wire.FetchSection{Partition: t.Partition, Status: got.code}
	switch p, read := got.payload.(*wire.PolledMessages); {
	case read:
		section.CurrentOffset, section.Count, section.Context, section.Records = p.CurrentOffset, p.Count, p.Context, p.Records
		var code wire.Code
		section.NextOffset, code, err = c.nextOffset(ctx, &f, p.Records)
		if err != nil || code != 0 {
			return result{code: code}, err
		}
	case !ofPartition(got.code):
		return got, nil
	}
	return result{payload: &wire.FetchedMessages{Sections: []wire.FetchSection{section}}}, nil
}

// ofPartition says whether a code is about one partition.
func ofPartition(code wire.Code) bool {
	switch code {
	case wire.CodePartitionNotFound, wire.CodeHistoryUnavailable, wire.CodeNotPrimary, wire.CodeConsumerGroupPartitionNotOwned:
		return true
	}
	return false
}

// nextOffset returns where the next read of the partition begins. An answer over HTTP does not say it: if nothing was read
// behind the stored offset, that is asked for.
func (c *Conn) nextOffset(ctx context.Context, f *wire.FetchMessages, records []byte) (uint64, wire.Code, error) {
	t := &f.Targets[0]
	if len(records) > 0 {
		return wire.LastOffset(records) + 1, 0, nil
	}
	if t.Strategy.Kind != wire.FromNext {
		return t.Strategy.Value, 0, nil
	}
	got, err := c.run(ctx, wire.CmdGetConsumerOffset, wire.PartitionContext{}, &wire.GetConsumerOffset{
		Consumer: f.Consumer, Stream: f.Stream, Topic: f.Topic, Partition: wire.Partition(t.Partition),
	})
	if stored, ok := got.payload.(*wire.ConsumerOffset); ok {
		return stored.Stored + 1, 0, nil
	}
	return 0, got.code, err
}

package broker

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// pollMessages reads what is there. (Iggy binary protocol, polling.)
func pollMessages(ctx context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.PollMessages](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	return r.poll(ctx, &arguments, r.broker.config.Limits.ReadBytes, 1, 0)
}

// pollDeferred waits for messages.
func pollDeferred(ctx context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.PollMessagesDeferred](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	wait := within(arguments.WaitMicros, arguments.TimeoutMicros)
	return r.poll(ctx, &arguments.PollMessages, clamp(arguments.MaxBytes)-pollHead, arguments.MinCount, wait)
}

// Sizes of what stands in front of the messages in a reply.
const (
	pollHead     = 40
	fetchHead    = 4
	fetchSection = 56
)

// clamp returns a size as far as any reply goes.
func clamp(bytes uint32) int { return int(min(bytes, wire.MaxReplySize)) }

// within returns how long to wait so that the reply is there before the request times out.
func within(wait, timeout uint64) time.Duration {
	if timeout <= wire.FetchReplyMarginMicros {
		return 0
	}
	return time.Duration(min(wait, timeout-wire.FetchReplyMarginMicros)) * time.Microsecond
}

// poll is a read from one partition. What is wrong with it is the status of the reply.
func (r *request) poll(ctx context.Context, p *wire.PollMessages, bytes int, least uint32, wait time.Duration) outcome {
	if !p.Partition.Present {
		return refused(wire.CodeInvalidCommand) // a client names the partition
	}
	sections, code, ok := r.read(ctx, &query{
		consumer: p.Consumer, stream: p.Stream, topic: p.Topic,
		targets: []wire.FetchTarget{{
			Partition: p.Partition.ID, Strategy: p.Strategy, MaxBytes: uint32(bytes),
			Incarnation: r.header.Context.Incarnation, OwnerGeneration: r.header.Context.OwnerGeneration,
		}},
		least: least, most: p.Count, bytes: bytes, autoCommit: p.AutoCommit, wait: wait,
	})
	switch {
	case !ok:
		return outcome{abandoned: true}
	case code != 0:
		return refused(code)
	case sections[0].Status != 0:
		return refused(sections[0].Status)
	}
	s := &sections[0]
	head := wire.PolledMessages{Partition: s.Partition, CurrentOffset: s.CurrentOffset, Count: s.Count, Context: s.Context}
	return outcome{payload: &head, raw: s.Records}
}

// fetchMessages reads from several partitions. (Iggy binary protocol, fetching.)
func fetchMessages(ctx context.Context, r *request) outcome {
	f, err := wire.Decode[wire.FetchMessages](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	for i := range f.Targets {
		f.Targets[i].MaxBytes -= pollHead
	}
	sections, code, ok := r.read(ctx, &query{
		consumer: f.Consumer, stream: f.Stream, topic: f.Topic, targets: f.Targets,
		least: f.MinCount, most: f.Count, bytes: max(0, clamp(f.MaxBytes)-fetchHead-fetchSection*len(f.Targets)),
		autoCommit: f.AutoCommit, wait: within(f.WaitMicros, f.TimeoutMicros),
	})
	switch {
	case !ok:
		return outcome{abandoned: true}
	case code != 0:
		return refused(code)
	}
	return outcome{payload: &wire.FetchedMessages{Sections: sections}}
}

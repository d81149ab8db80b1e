package iggysink

import (
	"context"
	"math"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Send sends messages to the topic of the producer.
//
// In direct mode it returns when the server has stored them, with where each request went: at most one confirmation for a request,
// none where the server does not say, as over HTTP with [Balanced]. A request that fails ends the call with a *[SendFailedError];
// the ones before it are stored. Messages without an id or a time get them, in the slice that was given.
//
// In background mode it returns when the messages are buffered, and no confirmations. They are copied: slice, payloads and headers
// may be used again. The error then is that there is no room, see [Block], or the end of ctx, and nothing is buffered.
//
// No messages are no call. Before [Producer.Init] the error is [ErrNotInitialized], in a pipeline [ErrInPipeline], and behind
// [Producer.Shutdown] [wire.CodeProducerClosed].
func (p *Producer) Send(ctx context.Context, messages []wire.Message) ([]wire.Confirmation, error) {
	return p.send(ctx, p.home, wire.Partitioning{}, messages)
}

// SendOne is [Producer.Send] for one message. In background mode it allocates nothing.
func (p *Producer) SendOne(ctx context.Context, message wire.Message) ([]wire.Confirmation, error) {
	if p.usable() != nil || p.background == nil {
		return p.send(ctx, p.home, wire.Partitioning{}, []wire.Message{message})
	}
	return nil, p.background.sendOne(ctx, &message)
}

// SendWithPartitioning is [Producer.Send] with the way to choose the partition: [Balanced], [ByKey] or [ToPartition]. The function of
// [Partitioner] wins over it.
func (p *Producer) SendWithPartitioning(
	ctx context.Context, messages []wire.Message, by wire.Partitioning,
) ([]wire.Confirmation, error) {
	return p.send(ctx, p.home, by, messages)
}

// SendTo is [Producer.Send] to another topic, which has to be there. The zero partitioning is that of the producer.
func (p *Producer) SendTo(
	ctx context.Context, stream, topic wire.Identifier, messages []wire.Message, by wire.Partitioning,
) ([]wire.Confirmation, error) {
	return p.send(ctx, p.topicOf(stream, topic), by, messages)
}

func (p *Producer) send(
	ctx context.Context, to *topic, by wire.Partitioning, messages []wire.Message,
) ([]wire.Confirmation, error) {
	if err := p.usable(); err != nil || len(messages) == 0 {
		return nil, err
	}
	chosen, err := p.partitioning(to, by, messages)
	if err != nil {
		return nil, sendFailed(err, to, by, messages, 0)
	}
	if p.background != nil {
		return nil, p.background.send(ctx, to, chosen, messages)
	}
	return p.sendDirect(ctx, to, chosen, messages)
}

// partitioning returns how the partition of messages is chosen: by the function of the producer, as the send says, or by default.
func (p *Producer) partitioning(to *topic, by wire.Partitioning, messages []wire.Message) (wire.Partitioning, error) {
	switch {
	case p.cfg.partitioner != nil:
		id, err := p.cfg.partitioner(to.stream, to.topic, messages)
		return ToPartition(id), err
	case by.Kind == 0:
		return p.cfg.by, nil
	}
	return by, checkPartitioning(by)
}

// sendDirect sends messages request by request, each when the one before is stored.
func (p *Producer) sendDirect(
	ctx context.Context, to *topic, by wire.Partitioning, messages []wire.Message,
) ([]wire.Confirmation, error) {
	if err := p.pace(ctx); err != nil {
		return nil, sendFailed(err, to, by, messages, 0)
	}
	p.counts.sent.Add(int64(len(messages)))
	stamp(messages, time.Now())
	length := p.cfg.direct.length
	if length == 0 {
		length = unlimitedBatch
	}
	var committed []wire.Confirmation
	for rest := messages; len(rest) > 0; {
		n := fitting(rest, length)
		at, found, err := p.transmit(ctx, to, by, p.idempotentIn(false), rest[:n])
		if err != nil {
			failed := sendFailed(err, to, by, rest, n)
			failed.Committed = committed
			p.counts.lost(len(rest), failed.Uncertain)
			return committed, failed
		}
		if found {
			committed = append(committed, at)
		}
		p.counts.wrote(n)
		p.lastSent.Store(int64(time.Since(p.since)))
		rest = rest[n:]
	}
	return committed, nil
}

// pace waits until the linger time has passed since the last send.
func (p *Producer) pace(ctx context.Context) error {
	linger, last := p.cfg.direct.linger, p.lastSent.Load()
	if linger == 0 || last == 0 {
		return nil
	}
	wait := linger - (time.Since(p.since) - time.Duration(last))
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stamp gives a time to messages that have none: with others they would lie too far apart for a batch.
func stamp(messages []wire.Message, now time.Time) {
	for i := range messages {
		if messages[i].OriginTimestamp == 0 {
			messages[i].OriginTimestamp = uint64(now.UnixMicro())
		}
	}
}

// extent is how much of a request is used up.
type extent struct {
	bytes            int // as they are sent
	earliest, latest uint64
}

// requestBytes is the size of an empty batch, and what is left free for encryption is in frameBytes.
const (
	requestBytes = wire.BatchHeaderSize
	frameBytes   = wire.MessageHeaderSize + 2*wire.SealedExtra
)

// add adds a message if it fits; the first one always does: whether it may be sent is for the client to say.
func (e *extent) add(m *wire.Message) bool {
	size := frameBytes + len(m.Payload) + len(m.UserHeaders)
	if e.bytes == 0 {
		*e = extent{requestBytes + size, m.OriginTimestamp, m.OriginTimestamp}
		return true
	}
	earliest, latest := min(e.earliest, m.OriginTimestamp), max(e.latest, m.OriginTimestamp)
	if e.bytes+size > wire.MaxRecordSize || latest-earliest > math.MaxUint32 {
		return false
	}
	*e = extent{e.bytes + size, earliest, latest}
	return true
}

// fitting returns how many of the messages make a request: by their number, by its size, and by how far their times are apart.
func fitting(messages []wire.Message, length int) int {
	var e extent
	for i := range min(len(messages), length) {
		if !e.add(&messages[i]) {
			return i
		}
	}
	return min(len(messages), length)
}

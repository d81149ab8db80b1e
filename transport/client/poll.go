package client

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Defaults of reads, and the time that a reply has beyond the wait.
const (
	DefaultReadCount = 1000
	DefaultReadBytes = 1 << 20
	readMargin       = 10 * time.Second
)

// Read says how much a poll or a fetch reads, and how long it waits.
type Read struct {
	// Count is the largest number of messages, of all partitions. The default is 1000.
	Count uint32
	// MinCount is how many messages end the wait early, up to Count. The default is 1.
	MinCount uint32
	// MaxBytes is the largest reply, but for one message that is larger: 344 at least. The default is 1 MiB.
	MaxBytes uint32
	// Wait is how long the server waits for messages, up to 600 s; a server may have a lower bound. 0 means not at all.
	Wait time.Duration
	// AutoCommit makes the server store the offset of the last message of each partition that it serves.
	AutoCommit bool
	// Into is memory that the reply goes into, over TCP, WebSocket and QUIC. The records of the read that it was given to
	// before are not valid any more when this one begins: who keeps a message copies it. The default is new memory for each
	// reply, which stays valid; for replies near a megabyte that is most of what a client costs.
	Into *Buffer
}

// withDefaults fills in what is 0.
func (r Read) withDefaults() Read {
	if r.Count == 0 {
		r.Count = DefaultReadCount
	}
	if r.MinCount == 0 {
		r.MinCount = 1
	}
	if r.MaxBytes == 0 {
		r.MaxBytes = DefaultReadBytes
	}
	return r
}

// timeout is how long the reply may take.
func (r *Read) timeout() time.Duration { return r.Wait + readMargin }

// check refuses what no server would take.
func (r *Read) check() *fault {
	const longest = wire.MaxWaitMicros * time.Microsecond
	switch {
	case r.MinCount > r.Count:
		return &fault{wire.CodeInvalidMessagesCount, fmt.Sprintf("MinCount is %d, not 1 to Count, %d", r.MinCount, r.Count)}
	case r.Wait < 0, r.Wait > longest:
		return &fault{wire.CodeInvalidCommand, fmt.Sprintf("Wait is %v, not 0 to %v", r.Wait, longest)}
	case r.MaxBytes < wire.MinPollBytes:
		return &fault{wire.CodeInvalidCommand, fmt.Sprintf("MaxBytes is %d, not at least %d", r.MaxBytes, wire.MinPollBytes)}
	}
	return nil
}

// Poll reads messages of one partition. who reads, and strategy says where it begins. under is a zero context at first, and
// then that of the last reply: it has the life of the partition, and the ownership if a group reads. If the partition has
// another life than that, the error is [wire.CodeHistoryUnavailable]. A zero context means the present life.
//
// The records of the reply are views of memory that belongs to the caller, or of Into: see [wire.NewRecords]. The end of ctx ends the
// wait; messages that the server had read by then are returned even so. A poll has its wait and 10 s, and not the time of
// [Timeout].
//
// A poll that stores offsets and has no reply is [wire.CodeFetchProgressUncertain]: what it read may be stored as handled.
// Reads and stores of the offset are refused from then on, until [Client.AbandonOperation]; over HTTP nothing is.
func (c *Client) Poll(
	ctx context.Context, who wire.Consumer, of Partition, strategy wire.PollingStrategy, under wire.PartitionContext, read Read,
) (wire.PolledMessages, error) {
	const command = wire.CmdPollMessagesDeferred
	read = read.withDefaults()
	err := cmp.Or(check(command, of.check(), checkRead(who, strategy), read.check()), c.checkCommit(command.String(), &read))
	if err != nil {
		return wire.PolledMessages{}, err
	}
	q := &query{
		command: command, lineage: c.begin(), target: &of, given: under, waits: read.Wait > 0, stores: read.AutoCommit,
		into: read.Into,
		body: &wire.PollMessagesDeferred{
			PollMessages: wire.PollMessages{
				Consumer: who, Stream: of.Stream, Topic: of.Topic, Partition: wire.Partition(of.ID), Strategy: strategy,
				Count: read.Count, AutoCommit: read.AutoCommit,
			},
			WaitMicros: uint64(read.Wait.Microseconds()), MinCount: read.MinCount, MaxBytes: read.MaxBytes,
			TimeoutMicros: uint64(read.timeout().Microseconds()),
		},
	}
	ctx, cancel := context.WithTimeoutCause(ctx, read.timeout(), ErrDeadline)
	defer cancel()
	r, err := c.poll(ctx, q, read.AutoCommit || strategy.Kind == wire.FromNext)
	if err != nil {
		return wire.PolledMessages{}, named(command, of.String(), err)
	}
	polled, err := wire.Decode[wire.PolledMessages](r.payload)
	if err != nil {
		return polled, malformed(command.String(), c.Addr(), err)
	}
	if polled.Count == 0 && ctx.Err() != nil {
		return polled, named(command, of.String(), q.expired(ctx))
	}
	return polled, nil
}

// poll asks, in the lane of the progress of the partition if the read stores it or begins at it.
func (c *Client) poll(ctx context.Context, q *query, progress bool) (reply, error) {
	if !progress || c.sessionless {
		return c.askIn(ctx, q, nil)
	}
	incarnation := q.given.Incarnation
	if incarnation == 0 {
		r, err := c.findRoute(ctx, q.lineage, *q.target, 0)
		if err != nil {
			return reply{}, err
		}
		incarnation = r.context.Incarnation
	}
	keys := []laneKey{{progressLane, incarnation, q.target.ID}}
	if err := c.lanes.take(ctx, keys); err != nil {
		return reply{}, laneError(q.command, err)
	}
	return c.askIn(ctx, q, keys)
}

// askIn asks for who holds lanes, if there are any. If an offset may have been stored and nobody knows, they stay blocked.
func (c *Client) askIn(ctx context.Context, q *query, keys []laneKey) (reply, error) {
	r, err := c.ask(ctx, q)
	if err == nil || !q.sent || !q.stores {
		c.lanes.give(keys)
		return r, err
	}
	uncertain := &Error{Code: wire.CodeFetchProgressUncertain, Call: q.command.String(), Addr: c.Addr(), Err: err}
	if len(keys) > 0 {
		c.lanes.block(keys, q.request)
		uncertain.Operation = q.request
	}
	return r, uncertain
}

package rest

import (
	"errors"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// Words of queries, by the numbers that they stand for.
var (
	consumerKinds = []string{wire.ConsumerSingle: httpjson.ConsumerSingle, wire.ConsumerGroup: httpjson.ConsumerGroup}
	strategyKinds = []string{
		wire.FromOffset: "offset", wire.FromTimestamp: "timestamp", wire.FromFirst: "first", wire.FromLast: "last", wire.FromNext: "next",
	}
)

// What a read gets that does not say how much it wants, or for how long.
const (
	defaultCount   = 10
	defaultBytes   = 8 << 20
	defaultTimeout = 30_000_000 // µs, and the wait
)

func sendMessages(c *call, v *wire.SendMessages) {
	c.topic(&v.Stream, &v.Topic)
	var body httpjson.SendMessages
	if c.writing {
		body.Partitioning = httpjson.PartitioningOf(v.Partitioning)
		var err error
		if body.Messages, err = httpjson.NewMessagesOf(v.Batch); err != nil {
			c.fail("messages", batchCode(err), err)
		}
		if uint64(len(body.Messages)) != uint64(v.MessagesCount) {
			c.fail("messages", wire.CodeInvalidMessagesCount, errNumber)
		}
		if v.Partitioning.Kind == wire.PartitionByID {
			c.bodyContext(&body.Context)
		}
	}
	c.json(&body)
	take(c, "partitioning", &v.Partitioning, body.Partitioning.Wire)
	if c.writing || c.err != nil {
		return
	}
	c.bodyContext(&body.Context)
	v.MessagesCount = uint32(len(body.Messages))
	var err error
	if v.Batch, err = httpjson.AppendBatch(nil, body.Messages, c.now, c.newID); err != nil {
		c.fail("messages", wire.CodeInvalidMessagesCount, err)
	}
}

// batchCode is the code for a batch that cannot be written.
func batchCode(err error) wire.Code {
	if errors.Is(err, httpjson.ErrProducer) {
		return wire.CodeFeatureUnavailable
	}
	return wire.CodeInvalidCommand
}

// deferred makes the layout of a read that waits: one that commits what it has read is no request that a proxy may repeat.
func deferred(commits bool) func(c *call, v *wire.PollMessagesDeferred) {
	return func(c *call, v *wire.PollMessagesDeferred) {
		if c.writing && v.AutoCommit != commits {
			c.declined = true
			return
		}
		v.MinCount, v.MaxBytes = max(v.MinCount, 1), max(v.MaxBytes, defaultBytes*unset(c))
		poll(c, &v.PollMessages)
		c.number(keyWait, &v.WaitMicros)
		c.number32("min_count", &v.MinCount)
		c.number32("max_bytes", &v.MaxBytes)
		if !c.writing {
			v.TimeoutMicros = min(v.WaitMicros, wire.MaxWaitMicros) + defaultTimeout
		}
		c.number(keyTimeout, &v.TimeoutMicros)
		c.wait, c.timeout = micros(v.WaitMicros), micros(v.TimeoutMicros)
	}
}

// unset is 1 where a default counts: where a request is read.
func unset(c *call) uint32 {
	if c.writing {
		return 0
	}
	return 1
}

func micros(n uint64) time.Duration {
	return time.Duration(min(n, wire.MaxTimeoutMicros)) * time.Microsecond
}

// poll is a read that does not wait.
func poll(c *call, v *wire.PollMessages) {
	c.topic(&v.Stream, &v.Topic)
	v.Consumer.Kind = max(v.Consumer.Kind, wire.ConsumerSingle)
	if v.Consumer.Kind != wire.ConsumerSingle {
		c.fail("consumer_kind", wire.CodeFeatureUnavailable, ErrUnavailable)
		return
	}
	if !c.writing {
		v.Strategy.Kind, v.Count = wire.FromNext, defaultCount
	}
	c.consumer(&v.Consumer, &v.Partition)
	word(c, "kind", strategyKinds, &v.Strategy.Kind)
	c.number("value", &v.Strategy.Value)
	c.queryContext()
	c.number32("count", &v.Count)
	c.truth("auto_commit", &v.AutoCommit)
	if v.Consumer.Kind != wire.ConsumerSingle {
		c.fail("consumer_kind", wire.CodeFeatureUnavailable, ErrUnavailable)
	}
}

// consumer is who reads or stores, and where.
func (c *call) consumer(who *wire.Consumer, at *wire.OptionalPartition) {
	who.Kind = max(who.Kind, wire.ConsumerSingle)
	if who.Kind == wire.ConsumerExternal {
		c.fail("consumer_kind", wire.CodeFeatureUnavailable, ErrUnavailable)
		return
	}
	word(c, "consumer_kind", consumerKinds, &who.Kind)
	if c.writing {
		c.query.Set("consumer_id", c.identifierText(who.ID, "consumer_id"))
	} else {
		var id string
		c.text("consumer_id", &id)
		if len(id) > 255 {
			c.fail("consumer_id", codeInvalidIdentifier, errLength)
		}
		who.ID = readIdentifier(id)
	}
	c.partition(at)
}

func (c *call) partition(at *wire.OptionalPartition) {
	if c.writing && !at.Present || !c.writing && !c.query.Has("partition_id") {
		return
	}
	at.Present = true
	c.number32("partition_id", &at.ID)
}

// getOffset names no context where it is written: servers are not known to take one.
func getOffset(c *call, v *wire.GetConsumerOffset) {
	c.topic(&v.Stream, &v.Topic)
	c.consumer(&v.Consumer, &v.Partition)
}

func storeOffset(c *call, v *wire.StoreConsumerOffset) {
	c.topic(&v.Stream, &v.Topic)
	if v.Consumer.Kind == wire.ConsumerExternal {
		c.fail("consumer_kind", wire.CodeFeatureUnavailable, ErrUnavailable)
		return
	}
	body := httpjson.StoreOffset{ConsumerKind: consumerKinds[max(v.Consumer.Kind, wire.ConsumerSingle)], Offset: v.Offset}
	if c.writing {
		body.ConsumerID = c.identifierText(v.Consumer.ID, "consumer_id")
		c.bodyContext(&body.Context)
	}
	if c.writing && v.Partition.Present {
		body.PartitionID = &v.Partition.ID
	}
	c.json(&body)
	if c.writing || c.err != nil {
		return
	}
	c.bodyContext(&body.Context)
	v.Offset, v.Ack = body.Offset, wire.AckQuorum
	switch body.ConsumerKind {
	case httpjson.ConsumerSingle, "":
		v.Consumer.Kind = wire.ConsumerSingle
	case httpjson.ConsumerGroup:
		v.Consumer.Kind = wire.ConsumerGroup
	default:
		c.fail("consumer_kind", wire.CodeInvalidCommand, errWord)
	}
	if len(body.ConsumerID) < 1 || len(body.ConsumerID) > 255 {
		c.fail("consumer_id", codeInvalidIdentifier, errLength)
	}
	v.Consumer.ID = readIdentifier(body.ConsumerID)
	if body.PartitionID != nil {
		v.Partition = wire.Partition(*body.PartitionID)
	}
}

func deleteOffset(c *call, v *wire.DeleteConsumerOffset) {
	c.topic(&v.Stream, &v.Topic)
	v.Consumer.Kind, v.Ack = max(v.Consumer.Kind, wire.ConsumerSingle), wire.AckQuorum
	if v.Consumer.Kind == wire.ConsumerExternal {
		c.fail("consumer_kind", wire.CodeFeatureUnavailable, ErrUnavailable)
		return
	}
	c.identifier(&v.Consumer.ID, "consumer_id")
	word(c, "consumer_kind", consumerKinds, &v.Consumer.Kind)
	c.partition(&v.Partition)
}

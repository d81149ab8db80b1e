package iggysource

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// errSize is the code of a size that is not allowed.
const errSize wire.Code = 80

// fault is a mistake in how a consumer was made, with the code that the protocol has for it.
func fault(code wire.Code, format string, args ...any) error {
	return &client.Error{Code: code, Call: "consumer.new", Err: fmt.Errorf(format, args...)}
}

// check returns every mistake in the options.
func (c *config) check(api api) []error {
	errs := append(c.checkReads(), c.checkCommits(api)...)
	add := func(wrong bool, code wire.Code, format string, args ...any) {
		if wrong {
			errs = append(errs, fault(code, format, args...))
		}
	}
	add(len(c.name) < 1 || len(c.name) > math.MaxUint8, wire.CodeInvalidCommand, "the name has %d bytes, not 1 to 255", len(c.name))
	add(c.group == c.listed, wire.CodeInvalidConfiguration, "one of Group and Partitions has to be set")
	add(c.group && api.Sessionless(), wire.CodeFeatureUnavailable,
		"there are no groups over HTTP: read Partitions, or use another transport")
	add(c.listed && len(c.partitions) == 0, wire.CodeInvalidConfiguration, "Partitions has none")
	add(len(c.partitions) > mostPartitions, wire.CodeInvalidConfiguration, "Partitions has %d, not up to %d", len(c.partitions), mostPartitions)
	seen := map[uint32]bool{}
	for _, id := range c.partitions {
		add(seen[id], wire.CodeInvalidConfiguration, "partition %d is there twice", id)
		seen[id] = true
	}
	add(c.start.Kind < wire.FromOffset || c.start.Kind > wire.FromNext, wire.CodeInvalidCommand, "Start has no such strategy")
	add(c.initRetries < 0, wire.CodeInvalidConfiguration, "InitRetries is %d", c.initRetries)
	add(c.drainTimeout <= 0, wire.CodeInvalidConfiguration, "OffsetDrainTimeout is %v", c.drainTimeout)
	add(c.rebalanceTimeout <= 0, wire.CodeInvalidConfiguration, "RebalanceTimeout is %v", c.rebalanceTimeout)
	add(c.untilNow && !c.until.IsZero(), wire.CodeInvalidConfiguration, "one of UntilNow and Until can be set")
	return errs
}

// checkReads returns the mistakes in how much is read, with the codes of the protocol.
func (c *config) checkReads() (errs []error) {
	if c.count == 0 || c.minCount < 1 || c.minCount > c.count {
		errs = append(errs, fault(wire.CodeInvalidMessagesCount, "Count is %d and MinCount %d: 1 to Count", c.count, c.minCount))
	}
	if c.wait < 0 || c.wait > wire.MaxWaitMicros*time.Microsecond {
		errs = append(errs, fault(wire.CodeInvalidCommand, "Wait is %v, not 0 to 600 s", c.wait))
	}
	if c.maxBytes < wire.MinPollBytes {
		errs = append(errs, fault(errSize, "MaxBytes is %d, not %d at least", c.maxBytes, wire.MinPollBytes))
	}
	if c.prefetchBytes < 1 || c.prefetchMessages < 1 {
		errs = append(errs, fault(wire.CodeInvalidConfiguration, "PrefetchBytes is %d and PrefetchMessages %d: 1 at least",
			c.prefetchBytes, c.prefetchMessages))
	}
	return errs
}

func (c *config) checkCommits(api api) (errs []error) {
	a := &c.auto
	switch {
	case c.commits == commitOnRead && api.Encrypts():
		errs = append(errs, fault(wire.CodeInvalidConfiguration,
			"CommitOnRead with a client that encrypts: decrypting can fail behind the store"))
	case c.commits != commitAutomatically:
	case a.Interval < 0 || a.After > AfterMark:
		errs = append(errs, fault(wire.CodeInvalidConfiguration, "AutoCommit has an interval of %v and After %d", a.Interval, a.After))
	case a.Interval == 0 && a.Messages == 0 && !a.EachBatch:
		errs = append(errs, fault(wire.CodeInvalidConfiguration, "AutoCommit says neither an interval nor a number of messages"))
	}
	return errs
}

// checkPipeline returns the mistakes that are none for a consumer that is used alone.
func (c *config) checkPipeline() (errs []error) {
	if c.commits != commitManually {
		errs = append(errs, errors.New("a pipeline commits what its markers cover, so no other policy can be set"))
	}
	if c.replay {
		errs = append(errs, errors.New("AllowReplay is for a consumer that is used alone: a pipeline reads again what it has not committed"))
	}
	return errs
}

// slots is how many reads there are at most whose messages were not all handed out.
func (c *config) slots() int {
	if c.commits == commitOnRead {
		return 1
	}
	messages := max(c.prefetchMessages, int(c.count))
	return max(1, min(mostSlots, messages/int(c.count), c.prefetchBytes/int(c.maxBytes)))
}

// who is how the consumer is named in requests.
func (c *config) who() wire.Consumer {
	kind := wire.ConsumerSingle
	if c.group {
		kind = wire.ConsumerGroup
	}
	return wire.Consumer{Kind: kind, ID: wire.Named(c.name)}
}

func (c *config) groupOf() wire.GroupOf {
	return wire.GroupOf{Stream: c.stream, Topic: c.topic, Group: wire.Named(c.name)}
}

func (c *config) partition(id uint32) client.Partition {
	return client.Partition{Stream: c.stream, Topic: c.topic, ID: id}
}

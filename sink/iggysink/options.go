package iggysink

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// defaultPartitions is the default of [Partitions].
const defaultPartitions = 1

// Option sets how a [Producer] works.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options set.
type config struct {
	keepStream, keepTopic bool
	partitions            uint32
	topic                 client.TopicOptions
	by                    wire.Partitioning
	partitioner           PartitionerFunc
	idempotent            *bool // nil: off alone, and on in a pipeline where the transport has sessions
	keys                  bool
	log                   *slog.Logger
	direct                directConfig
	background            *backgroundConfig // nil: direct
	invalid               []error
}

func newConfig(options []Option) config {
	c := config{
		partitions: defaultPartitions, by: Balanced(), log: slog.New(slog.DiscardHandler), direct: defaultDirect(),
	}
	for _, o := range options {
		if o == nil {
			c.refuse(true, "an option is nil")
			continue
		}
		o.apply(&c)
	}
	c.refuse(c.log == nil, "Log has no logger")
	c.refuse(c.partitions > maxPartitions, "Partitions(%d) is above %d", c.partitions, maxPartitions)
	c.direct.check(&c)
	if c.background != nil {
		c.background.check(&c)
	}
	if err := checkPartitioning(c.by); err != nil {
		c.invalid = append(c.invalid, fmt.Errorf("PartitionBy: %w", err))
	}
	return c
}

// maxPartitions is how many partitions a server makes with a topic.
const maxPartitions = 1000

// refuse notes a mistake.
func (c *config) refuse(wrong bool, format string, args ...any) {
	if wrong {
		c.invalid = append(c.invalid, fmt.Errorf(format, args...))
	}
}

// sinkBackground returns how a sink buffers: as Background says, or by its defaults.
func (c *config) sinkBackground() backgroundConfig {
	if c.background != nil {
		return *c.background
	}
	return defaultBackground()
}

// mistakes returns what is wrong with the options, joined.
func (c *config) mistakes() error { return errors.Join(c.invalid...) }

// KeepStream leaves a stream that is missing as it is: [Producer.Init] is an error then. The default is to make it, which
// needs the right to. A stream that is given by its number is never made.
func KeepStream() Option { return option(func(c *config) { c.keepStream = true }) }

// KeepTopic leaves a topic that is missing as it is: [Producer.Init] is an error then. The default is to make it, which needs
// the right to. A topic that is given by its number is never made.
func KeepTopic() Option { return option(func(c *config) { c.keepTopic = true }) }

// Partitions sets how many partitions a topic gets that [Producer.Init] makes, up to 1000. The default is 1. A topic with
// none takes no messages until it gets some.
func Partitions(n uint32) Option { return option(func(c *config) { c.partitions = n }) }

// TopicDurability sets the durability of a topic that [Producer.Init] makes, and so what the confirmation of a send means. The
// default is [client.Replicated]. It wins over that of [TopicOptions].
func TopicDurability(d client.Durability) Option {
	return topicOption(func(t *client.TopicOptions) { t.Durability = d })
}

// TopicOptions sets the other settings of a topic that [Producer.Init] makes: how long messages are kept, how large the topic may
// become. The default leaves all of them to the server.
func TopicOptions(o client.TopicOptions) Option {
	return topicOption(func(t *client.TopicOptions) {
		durability := t.Durability
		*t = o
		if durability != "" {
			t.Durability = durability
		}
	})
}

func topicOption(set func(*client.TopicOptions)) Option {
	return option(func(c *config) { set(&c.topic) })
}

// PartitionBy sets which partition messages go to whose send does not say: [Balanced], [ByKey] or [ToPartition]. The default is
// Balanced.
func PartitionBy(by wire.Partitioning) Option { return option(func(c *config) { c.by = by }) }

// PartitionerFunc chooses the partition of the messages of one send, or of one record of a pipeline. It sees them before
// they are encrypted, keeps none of them, and may be called by many goroutines at once. An error refuses the messages.
type PartitionerFunc func(stream, topic wire.Identifier, messages []wire.Message) (partition uint32, err error)

// Partitioner sets a function that chooses partitions. It wins over [PartitionBy] and whatever a send says. The default is none.
func Partitioner(choose PartitionerFunc) Option {
	return option(func(c *config) {
		c.refuse(choose == nil, "Partitioner has no function")
		c.partitioner = choose
	})
}

// Idempotent makes the server store what is sent once, also when the producer sends it again because no answer came; see the
// package. It needs a transport with sessions: over HTTP it is an error of [Producer.Init] and [Producer.Validate]. The default
// is off for a producer that is used alone, and on in a pipeline where the transport allows it. Readers have to know batches
// with a producer: those of protocol 0.12 do, older ones refuse them.
func Idempotent() Option { return idempotent(true) }

// NotIdempotent switches off what [Idempotent] switches on: so that readers older than protocol 0.12 can read what a pipeline
// writes.
func NotIdempotent() Option { return idempotent(false) }

func idempotent(on bool) Option { return option(func(c *config) { c.idempotent = &on }) }

// KeysFromMetadata makes a pipeline partition by the key of a record's metadata if the encoder sets none. It has up to 255 bytes;
// a longer one is an error of the record. The default is not to look at it.
func KeysFromMetadata() Option { return option(func(c *config) { c.keys = true }) }

// Log sets where a producer that is used alone says what it does: what it makes, and with the default of [OnError] what could not
// be written. The default is nowhere. In a pipeline it is the pipeline's logger.
func Log(l *slog.Logger) Option { return option(func(c *config) { c.log = l }) }

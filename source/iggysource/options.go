package iggysource

import (
	"log/slog"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Defaults of the options, which say what they mean.
const (
	DefaultCount            = 1000
	DefaultMinCount         = 1
	DefaultMaxBytes         = 1 << 20
	DefaultWait             = 5 * time.Second
	DefaultPrefetchBytes    = 16 << 20
	DefaultPrefetchMessages = 16_000
	DefaultDrainTimeout     = 5 * time.Second
	DefaultRebalanceTimeout = 30 * time.Second
)

// Times and limits that are no options.
const (
	initInterval   = time.Second           // between two attempts of Init
	syncInterval   = time.Second           // between two looks at the assignment of a group
	retryInterval  = time.Second           // before a partition with a lasting error is read again: doubles up to
	retryFactor    = 32                    // so many times as long
	lastingErrors  = 6                     // in a row stop a partition
	shortestPause  = 50 * time.Millisecond // after an error that passes: doubles up to
	longestPause   = time.Second
	mostSlots      = 16
	mostPartitions = 1000 // of a fetch
	mostStores     = 16   // offsets that are stored at once
)

// Option sets how a [Consumer] works.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options set.
type config struct {
	name          string
	stream, topic wire.Identifier

	group      bool
	create     bool
	partitions []uint32
	listed     bool // partitions were given

	start            wire.PollingStrategy
	count, minCount  uint32
	maxBytes         uint32
	wait             time.Duration
	commits          commitPolicy
	auto             AutoCommit
	prefetchBytes    int
	prefetchMessages int
	initRetries      int
	replay           bool
	drainTimeout     time.Duration
	rebalanceTimeout time.Duration
	log              *slog.Logger

	untilNow bool
	until    time.Time
}

func defaultConfig() config {
	return config{
		create:           true,
		start:            FromNext(),
		count:            DefaultCount,
		minCount:         DefaultMinCount,
		maxBytes:         DefaultMaxBytes,
		wait:             DefaultWait,
		prefetchBytes:    DefaultPrefetchBytes,
		prefetchMessages: DefaultPrefetchMessages,
		drainTimeout:     DefaultDrainTimeout,
		rebalanceTimeout: DefaultRebalanceTimeout,
	}
}

// Group reads the partitions that a consumer group with the name of the consumer assigns to this member. A group that is not
// there is made, unless [ExistingGroup] is set. Groups need sessions: over HTTP they are refused. The members of a group have
// a client each, as a session is in a group once.
func Group() Option { return option(func(c *config) { c.group = true }) }

// ExistingGroup leaves it an error that the group is not there. The default is to make it.
func ExistingGroup() Option { return option(func(c *config) { c.create = false }) }

// Partitions reads the partitions with these numbers, whoever else does.
func Partitions(ids ...uint32) Option {
	return option(func(c *config) { c.partitions, c.listed = append(c.partitions, ids...), true })
}

// Start says where reading begins: [FromNext], [FromFirst], [FromLast], [FromOffset], [FromTime]. The default is FromNext. For a
// partition that has a position it does not count: one of a checkpoint in a pipeline, or the stored offset of a group.
func Start(s wire.PollingStrategy) Option { return option(func(c *config) { c.start = s }) }

// Count is the largest number of messages of a read, over all its partitions. The default is 1000, the least 1.
func Count(n uint32) Option { return option(func(c *config) { c.count = n }) }

// MinCount is how many messages, over all partitions of a read, end the wait of [Wait] early. The default is 1, the most that
// of [Count].
func MinCount(n uint32) Option { return option(func(c *config) { c.minCount = n }) }

// MaxBytes bounds the reply to a read, in bytes, with all that frames messages; a single first message that is larger comes
// alone. The default is 1 MiB, the least 344.
func MaxBytes(n uint32) Option { return option(func(c *config) { c.maxBytes = n }) }

// Wait is how long the server waits for messages before it answers with none. The default is 5 s, the most 600 s, and a server
// has a bound of its own. 0 does not wait, and asks again every 50 ms.
func Wait(d time.Duration) Option { return option(func(c *config) { c.wait = d }) }

// CommitManually stores no offset by itself: [Consumer.Commit] does. It is the default.
func CommitManually() Option { return option(func(c *config) { c.commits = commitManually }) }

// CommitAutomatically stores what counts as handled by itself, and again when a partition is taken away and at Shutdown. See
// [AutoCommit].
func CommitAutomatically(a AutoCommit) Option {
	return option(func(c *config) { c.commits, c.auto = commitAutomatically, a })
}

// CommitOnRead has the server store the offset of the last message of each read as part of it: at most once, as a message
// may be lost that was not handled. It reads only while the application asks. A client that encrypts refuses it, since
// decrypting can fail behind the store.
func CommitOnRead() Option { return option(func(c *config) { c.commits = commitOnRead }) }

// PrefetchBytes bounds what is read ahead, in bytes, in units of [MaxBytes]: one unit at least. The default is 16 MiB.
func PrefetchBytes(n int) Option { return option(func(c *config) { c.prefetchBytes = n }) }

// PrefetchMessages bounds the messages that are read ahead, in units of [Count]: one unit at least. The default is 16,000.
func PrefetchMessages(n int) Option { return option(func(c *config) { c.prefetchMessages = n }) }

// InitRetries is how often Init, or the Open of a pipeline, tries again each second if the stream, the topic or a partition is
// not there. The default is 0.
func InitRetries(n int) Option { return option(func(c *config) { c.initRetries = n }) }

// AllowReplay hands out again what was handed out before, when a partition comes back to a member that did not commit it. The
// default hands a message out once in the life of a consumer, unless [Consumer.Seek] goes back. A pipeline always reads
// again what it has not committed.
func AllowReplay() Option { return option(func(c *config) { c.replay = true }) }

// OffsetDrainTimeout is how long Shutdown waits for the last offsets to be stored and the group to be left. The default is 5 s.
func OffsetDrainTimeout(d time.Duration) Option {
	return option(func(c *config) { c.drainTimeout = d })
}

// RebalanceTimeout is how long a member keeps a partition that the group takes away, so that what was read of it can be
// handled and committed first. The default is 30 s, as long as a server waits.
func RebalanceTimeout(d time.Duration) Option {
	return option(func(c *config) { c.rebalanceTimeout = d })
}

// Log is where a consumer that is used alone tells of what it cannot return: retries, partitions that come and go, offsets
// that were refused. The default is nowhere; in a pipeline it is the pipeline's.
func Log(l *slog.Logger) Option { return option(func(c *config) { c.log = l }) }

// UntilNow ends a pipeline's source behind the messages that are there when it is opened. A member of a group ends behind those
// of the partitions that it has then. The default is not to end.
func UntilNow() Option { return option(func(c *config) { c.untilNow = true }) }

// Until ends a pipeline's source behind the last message that the server stored before t. If t is to come it is waited for. The
// default is not to end.
func Until(t time.Time) Option { return option(func(c *config) { c.until = t }) }

// FromNext begins behind the stored offset of the consumer or group, or at the oldest message if there is none.
func FromNext() wire.PollingStrategy { return wire.PollingStrategy{Kind: wire.FromNext} }

// FromFirst begins at the oldest message.
func FromFirst() wire.PollingStrategy { return wire.PollingStrategy{Kind: wire.FromFirst} }

// FromLast begins with the newest messages: as many as [Count] says.
func FromLast() wire.PollingStrategy { return wire.PollingStrategy{Kind: wire.FromLast} }

// FromOffset begins with the message that has the offset, or the oldest behind it.
func FromOffset(offset uint64) wire.PollingStrategy {
	return wire.PollingStrategy{Kind: wire.FromOffset, Value: offset}
}

// FromTime begins with the first message that the server stored at t or later.
func FromTime(t time.Time) wire.PollingStrategy {
	return wire.PollingStrategy{Kind: wire.FromTimestamp, Value: uint64(max(0, t.UnixMicro()))}
}

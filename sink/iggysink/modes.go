package iggysink

import (
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Defaults of the modes, whose options say what they mean.
const (
	defaultBatchLength    = 1000
	defaultLinger         = time.Millisecond
	defaultBatchBytes     = 1 << 20
	defaultShards         = 1
	defaultMaxBufferBytes = 32 << 20
	defaultMaxInFlight    = 1

	directLinger   = 0
	unlimitedBatch = 1_000_000 // messages in a request if BatchLength is 0
	maxShards      = 1024
)

// DirectOption sets how sends of the direct mode work.
type DirectOption interface{ applyDirect(*directConfig) }

// BackgroundOption sets how sends of the background mode, and those of a pipeline, work.
type BackgroundOption interface{ applyBackground(*backgroundConfig) }

// ModeOption is an option of both modes.
type ModeOption interface {
	DirectOption
	BackgroundOption
}

type directConfig struct {
	length int
	linger time.Duration
}

type backgroundConfig struct {
	length, bytes    int
	linger           time.Duration
	shards, inFlight int
	buffer           int64
	mode             failureMode
	patience         time.Duration // of modeTimeout
	sharding         ShardingFunc  // nil: ordered
	rotate           bool          // balanced sharding
	onError          func(*SendFailedError)
	noFunction       []string // options without their function
}

// failureMode is what a send does that finds no room.
type failureMode uint8

const (
	modeBlock failureMode = iota
	modeTimeout
	modeFail
)

func defaultDirect() directConfig {
	return directConfig{length: defaultBatchLength, linger: directLinger}
}

func defaultBackground() backgroundConfig {
	return backgroundConfig{
		length: defaultBatchLength, bytes: defaultBatchBytes, linger: defaultLinger,
		shards: defaultShards, inFlight: defaultMaxInFlight, buffer: defaultMaxBufferBytes,
	}
}

func (d *directConfig) check(c *config) {
	c.refuse(d.length < 0, "BatchLength(%d) is below 0", d.length)
	c.refuse(d.linger < 0, "Linger(%v) is below 0", d.linger)
}

func (b *backgroundConfig) check(c *config) {
	c.refuse(b.length < 0, "BatchLength(%d) is below 0", b.length)
	c.refuse(b.bytes < 0, "BatchBytes(%d) is below 0", b.bytes)
	c.refuse(b.linger < 0, "Linger(%v) is below 0", b.linger)
	c.refuse(b.shards < 0 || b.shards > maxShards, "Shards(%d) is not from 0 to %d", b.shards, maxShards)
	c.refuse(b.inFlight < 0, "MaxInFlight(%d) is below 0", b.inFlight)
	c.refuse(b.buffer < 0, "MaxBufferBytes(%d) is below 0", b.buffer)
	c.refuse(b.mode == modeTimeout && b.patience <= 0, "BlockWithTimeout(%v) is not above 0", b.patience)
	for _, name := range b.noFunction {
		c.refuse(true, "%s has no function", name)
	}
}

// Direct sets how sends work that wait for the answer of the server. It is the default mode, and excludes [Background]: the last
// of them counts.
func Direct(options ...DirectOption) Option {
	return option(func(c *config) {
		c.direct, c.background = defaultDirect(), nil
		for _, o := range options {
			o.applyDirect(&c.direct)
		}
	})
}

// Background makes sends return as soon as their messages are buffered; workers write them. What cannot be written goes to
// [OnError]. In a pipeline the options say how it buffers; shards, what a send does without room and OnError have no effect there:
// it has one worker, waits for room, and goes by the error policy of the sink. The default is [Direct].
func Background(options ...BackgroundOption) Option {
	return option(func(c *config) {
		b := defaultBackground()
		for _, o := range options {
			o.applyBackground(&b)
		}
		c.background = &b
	})
}

type modeOption struct {
	direct     func(*directConfig)
	background func(*backgroundConfig)
}

func (o modeOption) applyDirect(d *directConfig)         { o.direct(d) }
func (o modeOption) applyBackground(b *backgroundConfig) { o.background(b) }

type backgroundOption func(*backgroundConfig)

func (o backgroundOption) applyBackground(b *backgroundConfig) { o(b) }

// BatchLength sets, for the direct mode, how many messages a request has at most: a longer send is cut, and 0 stands for
// 1,000,000. For the background mode it sets after how many sends the buffer is written, and 0 for no such number. The default
// is 1000. Requests are cut at the largest size of the protocol, 64 MB, in any case.
func BatchLength(n int) ModeOption {
	return modeOption{
		direct:     func(d *directConfig) { d.length = n },
		background: func(b *backgroundConfig) { b.length = n },
	}
}

// Linger sets, for the background mode, how long messages wait for others: the time begins when a send finds the buffer empty, and
// 0 writes at once. The default is 1ms. For the direct mode it sets the least time between the last send that was done and the
// next call, which waits so long; it gathers nothing, and calls at the same time do not wait for each other. The default is 0.
func Linger(d time.Duration) ModeOption {
	return modeOption{
		direct:     func(c *directConfig) { c.linger = d },
		background: func(c *backgroundConfig) { c.linger = d },
	}
}

// BatchBytes sets after how many bytes the buffer is written, as [MaxBufferBytes] counts them. The send that reaches the number
// is written with it, so that there may be more. 0 means no such number. The default is 1,048,576.
func BatchBytes(n int) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.bytes = n })
}

// Shards sets how many workers there are, each with a buffer of its own: up to 1024, and 0 is read as 1. The default is 1. With
// the default of sharding, the sends to one topic have one worker however many there are.
func Shards(n int) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.shards = n })
}

// MaxBufferBytes bounds the memory of what is buffered or being written, over all workers: payloads, headers, and 96 bytes for each
// message. 0 means no bound. The default is 33,554,432. A send without room waits or is refused, see [Block]; one that is larger
// than all of it is refused in any case, with [wire.CodeBackgroundSendBufferOverflow].
func MaxBufferBytes(n int64) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.buffer = n })
}

// MaxInFlight bounds how many requests are written at the same time, over all workers. 0 means no bound. The default is 1. A
// worker writes one request after the other.
func MaxInFlight(n int) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.inFlight = n })
}

// Block makes a send without room wait for it, until its context ends. It is the default.
func Block() BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.mode = modeBlock })
}

// BlockWithTimeout makes a send without room wait for it for so long, and fail then with [wire.CodeBackgroundSendTimeout]. The
// default is [Block].
func BlockWithTimeout(d time.Duration) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.mode, b.patience = modeTimeout, d })
}

// FailImmediately makes a send without room fail with [wire.CodeBackgroundSendBufferOverflow]. The default is [Block].
func FailImmediately() BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.mode = modeFail })
}

// ShardingFunc chooses the worker of a send, from 0 to shards-1; any other number refuses the send. It keeps no message, and may
// be called by many goroutines at once.
type ShardingFunc func(shards int, stream, topic wire.Identifier, messages []wire.Message) int

// Ordered gives all sends to a topic to one worker, so that they are written in the order of the calls. It is the default.
func Ordered() BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.sharding, b.rotate = nil, false })
}

// BalancedShards gives each send to the next worker. Sends to one topic may overtake each other. The default is [Ordered].
func BalancedShards() BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) { b.sharding, b.rotate = nil, true })
}

// Sharding gives each send to the worker that a function chooses. The default is [Ordered].
func Sharding(choose ShardingFunc) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) {
		b.sharding, b.rotate = choose, false
		if choose == nil {
			b.noFunction = append(b.noFunction, "Sharding")
		}
	})
}

// OnError sets what gets everything that could not be written: the messages of the request, as they were given, and why. It is
// called for one request after the other, from a goroutine of the producer; a panic in it is caught and logged. The memory of the
// messages is its own. While it does not return, failures wait and with them, in the end, the workers: a function that sends the
// messages again does that from another goroutine. The default logs the cause and drops the messages.
func OnError(handle func(failed *SendFailedError)) BackgroundOption {
	return backgroundOption(func(b *backgroundConfig) {
		b.onError = handle
		if handle == nil {
			b.noFunction = append(b.noFunction, "OnError")
		}
	})
}

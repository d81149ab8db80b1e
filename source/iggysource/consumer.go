package iggysource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Consumer reads messages of a topic: the partitions that a group assigns to it, or those that it is told. It is used alone
// (Init, Next, Shutdown), or as the source of a pipeline, but not both at a time. See the package for how.
type Consumer struct {
	api  api
	cfg  config
	errs []error // mistakes in how it was made

	alone atomic.Pointer[feed] // feed, if the consumer is used alone: what Next looks at

	mu       sync.Mutex
	feed     *feed // from Init to Shutdown, or of the pipeline; guarded by mu
	pipeline bool  // guarded by mu
	closed   bool  // guarded by mu
}

// NewConsumer returns a consumer with a name, which is that of its offsets, or of its group. The client is the caller's: it is
// connected and logged in if it is not, and never shut down. Mistakes are returned by Init, or by Validate in a pipeline.
func NewConsumer(c *client.Client, name string, stream, topic wire.Identifier, opts ...Option) *Consumer {
	if c == nil {
		consumer := newConsumer(nil, name, stream, topic, opts)
		consumer.errs = append(consumer.errs, fault(wire.CodeInvalidConfiguration, "the client is nil"))
		return consumer
	}
	return newConsumer(c, name, stream, topic, opts)
}

func newConsumer(api api, name string, stream, topic wire.Identifier, opts []Option) *Consumer {
	c := &Consumer{api: api, cfg: defaultConfig()}
	c.cfg.name, c.cfg.stream, c.cfg.topic = name, stream, topic
	for _, o := range opts {
		if o == nil {
			c.errs = append(c.errs, fault(wire.CodeInvalidConfiguration, "an option is nil"))
			continue
		}
		o.apply(&c.cfg)
	}
	return c
}

// faults returns all mistakes in how the consumer was made.
func (c *Consumer) faults() []error {
	if c.api == nil {
		return c.errs
	}
	return append(c.errs[:len(c.errs):len(c.errs)], c.cfg.check(c.api)...)
}

// Init makes the consumer ready: it logs the client in if that is not done, looks whether what it reads is there, and joins
// the group. Nothing is read before the first Next. It has to be called once, and may be called again after Shutdown. See
// [InitRetries] for what is not there yet.
func (c *Consumer) Init(ctx context.Context) error {
	errs := c.faults()
	if c.cfg.untilNow || !c.cfg.until.IsZero() {
		errs = append(errs, fault(wire.CodeInvalidConfiguration, "UntilNow and Until end the source of a pipeline only"))
	}
	if err := errors.Join(errs...); err != nil {
		return c.wrap("init", err)
	}
	f, err := c.claim(false, newFeed(c.api, c.cfg, orDiscard(c.cfg.log), ""))
	if err != nil || f == nil {
		return err
	}
	if err := f.open(ctx); err != nil {
		err = errors.Join(err, f.leaveGroup(context.WithoutCancel(ctx)))
		c.giveBack(false)
		return c.wrap("init", err)
	}
	f.begin(ctx)
	return nil
}

func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

func (c *Consumer) wrap(what string, err error) error {
	return fmt.Errorf("iggysource: %s/%s: %s: %w", c.cfg.stream, c.cfg.topic, what, err)
}

// claim takes the consumer for a feed. It returns none if it is ready already.
func (c *Consumer) claim(pipeline bool, f *feed) (*feed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.feed == nil:
		c.feed, c.pipeline, c.closed = f, pipeline, false
		if !pipeline {
			c.alone.Store(f)
		}
		return f, nil
	case c.pipeline:
		return nil, ErrInPipeline
	case pipeline:
		return nil, c.wrap("open", errors.New("the consumer is used alone: shut it down first"))
	}
	return nil, nil //nolint:nilnil // there is nothing to do
}

// giveBack leaves the consumer without a feed; closed says whether it was used.
func (c *Consumer) giveBack(closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feed, c.pipeline, c.closed = nil, false, closed
	c.alone.Store(nil)
}

// feedOf returns what reads for the consumer, or nil.
func (c *Consumer) feedOf() *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.feed
}

// ready returns what reads for a consumer that is used alone.
func (c *Consumer) ready() (*feed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.pipeline:
		return nil, ErrInPipeline
	case c.feed != nil:
		return c.feed, nil
	case c.closed:
		return nil, ErrClosed
	}
	return nil, ErrNotReady
}

// Shutdown ends reading, stores what counts as handled, moves an offset that a read has stored back to the last message that
// was handed out, and leaves the group. It waits for the offsets as long as [OffsetDrainTimeout] says, and until ctx ends. Next
// returns [ErrClosed] from then on. It may be called more than once.
func (c *Consumer) Shutdown(ctx context.Context) error {
	f, err := c.ready()
	if errors.Is(err, ErrInPipeline) {
		return err
	}
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		if err = f.shutdown(ctx); err != nil {
			err = c.wrap("shutdown", err)
		}
		c.giveBack(true)
	})
	return err
}

func (f *feed) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.drainTimeout, errDrain)
	defer cancel()
	f.close()
	var errs []error
	switch f.cfg.commits {
	case commitAutomatically:
		f.countHandedOut()
		errs = append(errs, f.flush(ctx))
	case commitOnRead:
		f.mu.Lock()
		for _, c := range f.order {
			c.readUpTo()
		}
		f.mu.Unlock()
		errs = append(errs, f.flush(ctx))
	case commitManually:
	}
	return errors.Join(append(errs, f.leave(ctx))...)
}

var errDrain = errors.New("the offset drain time-out passed")

// leave leaves the group, if it was joined. One that does not know the member any more is left.
func (f *feed) leave(ctx context.Context) error {
	f.mu.Lock()
	joined := f.joined
	f.mu.Unlock()
	if !joined {
		return nil
	}
	if err := f.resolveMembership(ctx); err != nil {
		return err
	}
	err := f.api.LeaveConsumerGroup(ctx, f.cfg.groupOf())
	if errors.Is(err, wire.CodeConsumerGroupMemberNotFound) || noGroup(err) {
		return nil
	}
	return err
}

// open makes a feed ready.
func (f *feed) open(ctx context.Context) error {
	if err := f.api.SignIn(ctx); err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		err := f.find(ctx)
		if err == nil || !client.NotFound(err) || attempt >= f.cfg.initRetries {
			return err
		}
		retry := time.NewTimer(initInterval)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return context.Cause(ctx)
		}
	}
}

// find looks whether there is what is to be read, and makes the cursors.
func (f *feed) find(ctx context.Context) error {
	if f.cfg.group {
		if err := f.join(ctx); err != nil {
			return err
		}
		return f.sync(ctx)
	}
	primaries := make([]int, len(f.cfg.partitions))
	if err := f.locate(ctx, primaries); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, id := range f.cfg.partitions {
		c := f.newCursor(id, f.cfg.start)
		c.primary = primaries[i]
		f.add(c)
	}
	return nil
}

// locate finds out which replica serves each of the listed partitions.
func (f *feed) locate(ctx context.Context, primaries []int) error {
	if f.api.Sessionless() {
		topic, err := f.api.GetTopic(ctx, f.cfg.stream, f.cfg.topic)
		if err != nil {
			return err
		}
		for _, id := range f.cfg.partitions {
			if id >= topic.Topic.PartitionsCount {
				return &client.Error{Code: wire.CodePartitionNotFound, Call: "consumer.init", Partition: id}
			}
		}
		return nil
	}
	for i, id := range f.cfg.partitions {
		replica, _, err := f.api.Primary(ctx, f.cfg.partition(id))
		if err != nil {
			return err
		}
		primaries[i] = int(replica)
	}
	return nil
}

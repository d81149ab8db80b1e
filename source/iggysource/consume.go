package iggysource

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel/transport/wire"
)

// Consume gives each message to a handler, until the handler fails, reading cannot go on by itself, or ctx ends; the error says
// which. It returns nil when the consumer is shut down. With AfterProcessing the message counts as handled once the handler has
// returned nil; one whose handler failed does not count, also not at Shutdown, and comes again to who reads next. With
// CommitManually the handler commits.
func (c *Consumer) Consume(ctx context.Context, handle func(ctx context.Context, m Message) error) error {
	f, err := c.ready()
	if err != nil {
		return err
	}
	if f.cfg.commits == commitManually && f.cfg.start.Kind == wire.FromNext {
		f.log.Warn("iggy: nothing is committed by itself: unless the handler does, the next start reads the same again",
			"consumer", f.cfg.name)
	}
	for {
		var m Message
		err := f.next(ctx, &m)
		if errors.Is(err, ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := handle(ctx, m); err != nil {
			f.uncount()
			return err
		}
		f.countLast()
	}
}

// uncount leaves the last message out of those that count.
func (f *feed) uncount() {
	f.hand.lease = nil
	f.failed.Store(true)
}

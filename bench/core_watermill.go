package main

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
)

// watermillCore is the chain of core as three handlers of a watermill router, joined by topics of a GoChannel. Publishing waits for
// the acknowledgement, as whoever wants order and a bound on memory must have it. Message ids are empty: making them costs more than
// the hops.
func watermillCore(ctx context.Context, n int) (count int64, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	bus := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: batchSize, BlockPublishUntilSubscriberAck: true}, watermill.NopLogger{})
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		return 0, err
	}
	c := userChain
	router.AddHandler("first", "in", bus, "first", bus, onPayload(func(x int) (int, bool) { return c.first(x), true }))
	router.AddHandler("keep", "first", bus, "kept", bus, onPayload(func(x int) (int, bool) { return x, c.keep(x) }))
	router.AddConsumerHandler("last", "kept", bus, func(m *message.Message) error {
		_ = c.last(int(binary.LittleEndian.Uint64(m.Payload)))
		count++ // one message at a time is under way
		return nil
	})
	var wg sync.WaitGroup
	var routerErr error
	wg.Go(func() { routerErr = router.Run(ctx) })
	<-router.Running()
	for i := range n {
		if err = bus.Publish("in", message.NewMessage("", binary.LittleEndian.AppendUint64(nil, uint64(i)))); err != nil {
			break
		}
	}
	if closeErr := router.Close(); err == nil {
		err = closeErr
	}
	wg.Wait()
	if err == nil {
		err = routerErr
	}
	return count, err
}

// onPayload makes a handler of a function that changes or drops a number.
func onPayload(f func(int) (int, bool)) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		x, keep := f(int(binary.LittleEndian.Uint64(m.Payload)))
		if !keep {
			return nil, nil
		}
		return []*message.Message{message.NewMessage("", binary.LittleEndian.AppendUint64(nil, uint64(x)))}, nil
	}
}

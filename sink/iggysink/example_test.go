package iggysink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// withClient runs a part of an example with a client of a server of its own.
func withClient(do func(ctx context.Context, c *client.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := iggyserver.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	c, err := dial.Client(server.ConnectionString(dial.TCP))
	if err == nil {
		defer func() { _ = c.Shutdown(ctx) }()
		err = do(ctx, c)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// A direct producer sends in requests of up to 1000 messages, and returns when the server has stored them.
func ExampleProducer_Send() {
	withClient(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"),
			iggysink.Direct(iggysink.BatchLength(1000), iggysink.Linger(5*time.Millisecond)),
			iggysink.PartitionBy(iggysink.Balanced()))
		if err := p.Init(ctx); err != nil {
			return err
		}
		at, err := p.Send(ctx, []wire.Message{{Payload: []byte("hello")}, {Payload: []byte("world")}})
		var failed *iggysink.SendFailedError
		if errors.As(err, &failed) {
			return fmt.Errorf("%d messages are not confirmed, %d of them may be stored: %w", len(failed.Failed), failed.Uncertain, err)
		}
		for _, confirmed := range at { // none where the server does not say
			fmt.Println("partition", confirmed.PartitionID, "from offset", confirmed.BaseOffset)
		}
		return errors.Join(err, p.Shutdown(ctx))
	})
	// Output:
	// partition 0 from offset 0
}

// A background producer returns when messages are buffered. Shutdown writes what is left, and waits for the error callback.
func ExampleBackground() {
	withClient(func(ctx context.Context, c *client.Client) error {
		var lost atomic.Int64
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"), iggysink.Background(
			iggysink.BatchLength(500), iggysink.Linger(2*time.Millisecond), iggysink.MaxBufferBytes(8<<20),
			iggysink.BlockWithTimeout(time.Second),
			iggysink.OnError(func(failed *iggysink.SendFailedError) { lost.Add(int64(len(failed.Failed))) })))
		if err := p.Init(ctx); err != nil {
			return err
		}
		for i := range 1000 {
			if _, err := p.SendOne(ctx, wire.Message{Payload: fmt.Appendf(nil, "message %d", i)}); err != nil {
				return err
			}
		}
		if err := p.Shutdown(ctx); err != nil {
			return err
		}
		fmt.Println(p.Stats().Confirmed, "confirmed,", lost.Load(), "lost")
		return nil
	})
	// Output:
	// 1000 confirmed, 0 lost
}

// An idempotent producer sends again what got no answer, and it is stored once.
func ExampleIdempotent() {
	withClient(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"), iggysink.Idempotent())
		if err := p.Init(ctx); err != nil {
			return err
		}
		if _, err := p.SendOne(ctx, wire.Message{Payload: []byte("hello")}); err != nil {
			return err
		}
		fmt.Println(p.Stats().Confirmed, "confirmed")
		return p.Shutdown(ctx)
	})
	// Output:
	// 1 confirmed
}

// In a pipeline a producer is a sink. The encoder says what a message is made of; the key chooses its partition.
func ExampleEncode() {
	withClient(func(ctx context.Context, c *client.Client) error {
		producer := iggysink.NewProducer(c, wire.Named("shop"), wire.Named("orders"), iggysink.Partitions(4))
		p := runnel.New("orders")
		orders := flow.Map(runnel.From(p, source.Slice([]string{"acme 3", "acme 4", "zeta 1"})), strings.ToUpper)
		orders.To(iggysink.Encode(producer, func(r runnel.Record[string]) (iggysink.Message, error) {
			customer, _, _ := strings.Cut(r.Value, " ")
			return iggysink.Message{Payload: []byte(r.Value), Key: []byte(customer)}, nil
		}))
		if err := p.Run(ctx); err != nil {
			return err
		}
		fmt.Println(producer.Stats().Confirmed, "confirmed")
		return nil
	})
	// Output:
	// 3 confirmed
}

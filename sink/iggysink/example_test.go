package iggysink_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// served runs an example with a client of a server in this process.
func served(do func(ctx context.Context, c *client.Client) error) {
	ctx := context.Background()
	server, err := iggyserver.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	c, err := dial.Client(server.ConnectionString(dial.TCP))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Shutdown(ctx) }()
	if err := do(ctx, c); err != nil {
		fmt.Println(err)
	}
}

// hello are two messages.
func hello() []wire.Message {
	return []wire.Message{{Payload: []byte("hello")}, {Payload: []byte("world")}}
}

// A direct producer cuts each send into requests of up to 1000 messages, and returns when they are stored.
func ExampleNewProducer() {
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"),
			iggysink.Direct(iggysink.BatchLength(1000), iggysink.Linger(5*time.Millisecond)),
			iggysink.PartitionBy(iggysink.Balanced()))
		if err := p.Init(ctx); err != nil {
			return err
		}
		defer func() { _ = p.Shutdown(ctx) }()
		at, err := p.Send(ctx, hello())
		if err != nil {
			return err
		}
		for _, where := range at { // there may be none
			fmt.Println("partition", where.PartitionID, "from offset", where.BaseOffset)
		}
		return nil
	})
	// Output: partition 0 from offset 0
}

// In the background sends return when the messages are buffered. What cannot be written is told to a function.
func ExampleBackground() {
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"), iggysink.Background(
			iggysink.Linger(time.Second),
			iggysink.BatchBytes(64<<10),
			iggysink.OnError(func(failed *iggysink.SendFailedError) { fmt.Println(failed) })))
		if err := p.Init(ctx); err != nil {
			return err
		}
		for i := range 1500 {
			if _, err := p.SendOne(ctx, wire.Message{Payload: fmt.Append(nil, i)}); err != nil {
				return err
			}
		}
		if err := p.Shutdown(ctx); err != nil { // writes what is buffered
			return err
		}
		fmt.Println(p.Stats().Confirmed, "messages are stored")
		return nil
	})
	// Output: 1500 messages are stored
}

// An idempotent producer sends a request again whose answer was lost, and the server stores it once.
func ExampleIdempotent() {
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"), iggysink.Idempotent())
		if err := p.Init(ctx); err != nil {
			return err
		}
		if _, err := p.SendOne(ctx, wire.Message{Payload: []byte("hello")}); err != nil {
			return err
		}
		fmt.Println(p.Stats().Confirmed, "message is stored")
		return p.Shutdown(ctx)
	})
	// Output: 1 message is stored
}

// The partition can be chosen for each send, and messages can go to another topic.
func ExampleProducer_SendWithPartitioning() {
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("my-stream"), wire.Named("my-topic"), iggysink.Partitions(4))
		if err := p.Init(ctx); err != nil {
			return err
		}
		defer func() { _ = p.Shutdown(ctx) }()
		at, err := p.SendWithPartitioning(ctx, hello(), iggysink.ByKey([]byte("customer 7")))
		if err != nil {
			return err
		}
		again, err := p.SendTo(ctx, wire.Named("my-stream"), wire.Named("my-topic"), hello(), iggysink.ByKey([]byte("customer 7")))
		if err != nil {
			return err
		}
		fmt.Println("the same partition:", at[0].PartitionID == again[0].PartitionID, "behind it:", again[0].BaseOffset)
		return nil
	})
	// Output: the same partition: true behind it: 2
}

// A pipeline writes the JSON of its records.
func ExampleJSON() {
	type order struct {
		ID int `json:"id"`
	}
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("shop"), wire.Named("orders"))
		job := runnel.New("orders")
		runnel.From(job, source.Slice([]order{{1}, {2}, {3}})).To(iggysink.JSON[order](p))
		if err := job.Run(ctx); err != nil {
			return err
		}
		fmt.Println(p.Stats().Confirmed, "orders are stored")
		return nil
	})
	// Output: 3 orders are stored
}

// An encoder makes the messages of a pipeline.
func ExampleEncode() {
	served(func(ctx context.Context, c *client.Client) error {
		p := iggysink.NewProducer(c, wire.Named("shop"), wire.Named("words"), iggysink.Partitions(3))
		job := runnel.New("words")
		words := runnel.From(job, source.Slice([]string{"late", "delayed", "gone"}))
		words.To(iggysink.Encode(p, func(r runnel.Record[string]) (iggysink.Message, error) {
			return iggysink.Message{
				Payload: []byte(strings.ToUpper(r.Value)),
				Key:     []byte(r.Value),
				Headers: []wire.UserHeader{client.Header("letters", wire.Uint64Value(uint64(len(r.Value))))},
			}, nil
		}))
		if err := job.Run(ctx); err != nil {
			return err
		}
		fmt.Println(p.Stats().Confirmed, "words are stored")
		return nil
	})
	// Output: 3 words are stored
}

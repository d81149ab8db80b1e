package iggysource_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// withShop starts a server with a topic shop/orders of one partition, and gives its address and a client to f. A program
// connects to a server of its own: dial.Client("iggy://iggy:iggy@127.0.0.1:8090").
func withShop(f func(ctx context.Context, address string, c *client.Client) error, orders ...string) {
	run := func(ctx context.Context) error {
		server, err := iggyserver.Start(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }()
		c, err := dial.Client(server.ConnectionString(dial.TCP))
		if err != nil {
			return err
		}
		defer func() { _ = c.Shutdown(ctx) }()
		if err := fill(ctx, c, orders); err != nil {
			return err
		}
		return f(ctx, server.ConnectionString(dial.TCP), c)
	}
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

func fill(ctx context.Context, c *client.Client, orders []string) error {
	if err := c.Connect(ctx); err != nil {
		return err
	}
	if _, err := c.CreateStream(ctx, "shop", client.StreamOptions{}); err != nil {
		return err
	}
	if _, err := c.CreateTopic(ctx, wire.Named("shop"), "orders", 1, client.TopicOptions{}); err != nil {
		return err
	}
	messages := make([]wire.Message, len(orders))
	for i, o := range orders {
		messages[i].Payload = []byte(o)
	}
	to := client.Partition{Stream: wire.Named("shop"), Topic: wire.Named("orders")}
	_, _, err := c.Send(ctx, to, nil, messages)
	return err
}

// A member of a group commits each message once it is handled. What it did not commit when it ends comes again, to it or to
// another member.
func ExampleConsumer_manualCommits() {
	withShop(func(ctx context.Context, _ string, c *client.Client) error {
		consumer := iggysource.NewConsumer(c, "billing", wire.Named("shop"), wire.Named("orders"),
			iggysource.Group(), iggysource.Count(1000), iggysource.CommitManually())
		if err := consumer.Init(ctx); err != nil {
			return err
		}
		handled := 0
		for m, err := range consumer.Messages(ctx) {
			if err != nil {
				return err
			}
			fmt.Printf("%s at offset %d\n", m.Payload, m.Offset)
			if err := consumer.Commit(ctx, m.Checkpoint()); err != nil {
				return err
			}
			if handled++; handled == 2 {
				break
			}
		}
		stored, _, err := consumer.GetOffset(ctx, 0)
		if err != nil {
			return err
		}
		fmt.Println("stored offset:", stored.Stored)
		return consumer.Shutdown(ctx)
	}, "an apple", "a pear", "a plum")
	// Output:
	// an apple at offset 0
	// a pear at offset 1
	// stored offset: 1
}

// Offsets are stored by themselves, every 10,000 messages or 5 s and at Shutdown, once the handler has returned.
func ExampleConsumer_Consume() {
	withShop(func(ctx context.Context, _ string, c *client.Client) error {
		consumer := iggysource.NewConsumer(c, "billing", wire.Named("shop"), wire.Named("orders"),
			iggysource.Group(), iggysource.CommitAutomatically(iggysource.DefaultAutoCommit()))
		if err := consumer.Init(ctx); err != nil {
			return err
		}
		bad := errors.New("no price for it")
		err := consumer.Consume(ctx, func(_ context.Context, m iggysource.Message) error {
			if string(m.Payload) == "a plum" {
				return bad
			}
			fmt.Printf("%s\n", m.Payload)
			return nil
		})
		fmt.Println("ended:", err)
		if err := consumer.Shutdown(ctx); err != nil {
			return err
		}
		group := wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("billing")}
		stored, _, err := c.GetOffset(ctx, group, client.Partition{Stream: wire.Named("shop"), Topic: wire.Named("orders")})
		fmt.Println("stored offset:", stored.Stored) // the plum comes again
		return err
	}, "an apple", "a pear", "a plum")
	// Output:
	// an apple
	// a pear
	// ended: no price for it
	// stored offset: 1
}

// The second message was sent by a client without the key, so it cannot be decrypted. The application looks at the error, and
// leaves the message out.
func ExampleConsumer_Seek() {
	withShop(func(ctx context.Context, address string, _ *client.Client) error {
		key := client.Encrypt(make([]byte, wire.KeySize)) // of a key store, in a program
		c, err := dial.Client(address, key)
		if err != nil {
			return err
		}
		defer func() { _ = c.Shutdown(ctx) }()
		consumer := iggysource.NewConsumer(c, "billing", wire.Named("shop"), wire.Named("orders"), iggysource.Partitions(0))
		if err := consumer.Init(ctx); err != nil {
			return err
		}
		to := client.Partition{Stream: wire.Named("shop"), Topic: wire.Named("orders")}
		if _, _, err := c.Send(ctx, to, nil, []wire.Message{{Payload: []byte("a pear")}}); err != nil {
			return err
		}
		for m, err := range consumer.Messages(ctx) {
			var failed *iggysource.ReadError
			switch {
			case err == nil:
				fmt.Printf("%s at offset %d\n", m.Payload, m.Offset)
				return consumer.Shutdown(ctx)
			case errors.As(err, &failed) && errors.Is(err, wire.CodeCannotDecryptData):
				fmt.Printf("left out: %q\n", failed.Record.Payload)
				if err := consumer.Seek(ctx, failed.Partition.ID, failed.Skip); err != nil {
					return err
				}
			default:
				return err
			}
		}
		return nil
	}, "an apple")
	// Output:
	// left out: "an apple"
	// a pear at offset 1
}

// Offsets are stored, looked at and deleted as they are.
func ExampleConsumer_StoreOffset() {
	withShop(func(ctx context.Context, _ string, c *client.Client) error {
		consumer := iggysource.NewConsumer(c, "billing", wire.Named("shop"), wire.Named("orders"), iggysource.Partitions(0))
		if err := consumer.Init(ctx); err != nil {
			return err
		}
		if err := consumer.StoreOffset(ctx, 0, 1); err != nil {
			return err
		}
		stored, found, err := consumer.GetOffset(ctx, 0)
		if err != nil {
			return err
		}
		fmt.Println(found, stored.Stored, "of", stored.Current)
		m, err := consumer.Next(ctx) // behind it
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", m.Payload)
		if err := consumer.DeleteOffset(ctx, 0); err != nil {
			return err
		}
		_, found, err = consumer.GetOffset(ctx, 0)
		fmt.Println(found)
		return errors.Join(err, consumer.Shutdown(ctx))
	}, "an apple", "a pear", "a plum")
	// Output:
	// true 1 of 2
	// a plum
	// false
}

// A pipeline reads what is there and ends. What cannot be decoded goes to a sink of dead letters.
func ExampleJSON() {
	type order struct {
		Fruit string
		Price int
	}
	withShop(func(ctx context.Context, _ string, c *client.Client) error {
		consumer := iggysource.NewConsumer(c, "billing", wire.Named("shop"), wire.Named("orders"),
			iggysource.Group(), iggysource.UntilNow())
		p := runnel.New("bills")
		dead := sink.Func(func(_ context.Context, f runnel.Failed) error {
			fmt.Printf("not an order: %s\n", f.Value)
			return nil
		})
		orders := runnel.From(p, iggysource.JSON[order](consumer), runnel.DeadLetter(dead))
		orders.To(sink.Func(func(_ context.Context, o order) error {
			fmt.Printf("%s for %d\n", o.Fruit, o.Price)
			return nil
		}))
		return p.Run(ctx)
	}, `{"fruit":"apple","price":3}`, `nothing`, `{"fruit":"pear","price":5}`)
	// Unordered output:
	// apple for 3
	// not an order: nothing
	// pear for 5
}

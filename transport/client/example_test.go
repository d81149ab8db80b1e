package client_test

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// withServer runs an example with a server of its own and a client that is connected to it.
func withServer(
	do func(ctx context.Context, server *iggyserver.Server, c *client.Client) error, options ...client.Option,
) {
	if err := connectAnd(context.Background(), do, options); err != nil {
		fmt.Println(err)
	}
}

func connectAnd(
	ctx context.Context, do func(ctx context.Context, server *iggyserver.Server, c *client.Client) error, options []client.Option,
) error {
	server, err := iggyserver.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	c, err := dial.Client(server.ConnectionString(dial.TCP), options...)
	if err != nil {
		return err
	}
	if err := c.Connect(ctx); err != nil {
		return err
	}
	defer func() { _ = c.Shutdown(ctx) }()
	return do(ctx, server, c)
}

// A message with headers is sent, encrypted, and read back. Without [client.Encrypt] the program is the same.
func ExampleNewMessage() {
	key := make([]byte, wire.KeySize) // of a key store, in a program
	withServer(sendAndRead, client.Encrypt(key))
	// Output:
	// one order at offset 0
	// attempt: 7
	// tenant: acme
}

func sendAndRead(ctx context.Context, _ *iggyserver.Server, c *client.Client) error {
	if _, err := c.CreateStream(ctx, "shop", client.StreamOptions{}); err != nil {
		return err
	}
	if _, err := c.CreateTopic(ctx, wire.Named("shop"), "orders", 1, client.TopicOptions{}); err != nil {
		return err
	}

	orders := client.Partition{Stream: wire.Named("shop"), Topic: wire.Named("orders")}
	m, err := client.NewMessage([]byte("one order"),
		client.Header("tenant", wire.StringValue("acme")), client.Header("attempt", wire.Uint32Value(7)))
	if err != nil {
		return err
	}
	if _, _, err := c.Send(ctx, orders, nil, []wire.Message{m}); err != nil {
		return err
	}
	return readOrders(ctx, c, orders)
}

func readOrders(ctx context.Context, c *client.Client, orders client.Partition) error {
	reader := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}
	first := wire.PollingStrategy{Kind: wire.FromFirst}
	polled, err := c.Poll(ctx, reader, orders, first, wire.PartitionContext{}, client.Read{})
	if err != nil {
		return err
	}
	for m, err := range c.Messages(polled.Records) {
		if err != nil {
			fmt.Println(err) // the next message can be read all the same
			continue
		}
		fmt.Printf("%s at offset %d\n", m.Payload, m.Offset)
		headers, err := client.Headers(m)
		if err != nil {
			return err
		}
		for _, h := range headers {
			name, _ := h.Key.Text()
			if n, ok := h.Value.Uint(); ok {
				fmt.Printf("%s: %d\n", name, n)
			} else if text, ok := h.Value.Text(); ok {
				fmt.Printf("%s: %s\n", name, text)
			}
		}
	}
	return nil
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// A stream and a topic are made if they are not there yet, and their settings are looked at.
func ExampleClient_CreateTopic() {
	if err := makeTopic(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 3 partitions, messages are kept for 24h0m0s, up to 1073741824 bytes
	// no such topic: true
}

func makeTopic(ctx context.Context) error {
	server, err := iggyserver.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	config, err := dial.Parse(server.ConnectionString(dial.TCP))
	if err != nil {
		return err
	}
	dialer, err := config.Dialer()
	if err != nil {
		return err
	}
	c, err := client.New(dialer, client.Password("iggy", "iggy"))
	if err != nil {
		return err
	}
	if err := c.Connect(ctx); err != nil {
		return err
	}
	defer func() { _ = c.Shutdown(ctx) }()

	orders := wire.Named("orders")
	_, err = c.CreateStream(ctx, "orders", client.StreamOptions{})
	if err != nil && !errors.Is(err, wire.CodeStreamNameAlreadyExists) {
		return err
	}
	made, err := c.CreateTopic(ctx, orders, "new", 3, client.TopicOptions{MessageExpiry: 24 * time.Hour, MaxSizeBytes: 1 << 30})
	if err != nil {
		return err
	}
	options := client.TopicOptionsOf(made.Topic)
	fmt.Printf("%d partitions, messages are kept for %v, up to %d bytes\n",
		made.Topic.PartitionsCount, options.MessageExpiry, options.MaxSizeBytes)
	_, err = c.GetTopic(ctx, orders, wire.Named("other"))
	fmt.Println("no such topic:", client.NotFound(err))
	return nil
}

package client_test

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// A member of a group asks which partitions are its own, reads them, and stores how far it came. A program that runs for
// long asks again every second, and when an answer is [wire.CodeConsumerGroupPartitionNotOwned].
func ExampleClient_Fetch() {
	withServer(readAsMember)
	// Output:
	// 2 partitions are mine
	// partition 0: one order
	// partition 1: another order
	// partition 0 is read up to offset 0
}

func readAsMember(ctx context.Context, _ *iggyserver.Server, c *client.Client) error {
	if err := makeOrders(ctx, c); err != nil {
		return err
	}

	stream, topic := wire.Named("shop"), wire.Named("orders")
	group := wire.GroupOf{Stream: stream, Topic: topic, Group: wire.Named("billing")}
	if _, err := c.CreateConsumerGroup(ctx, stream, topic, "billing"); err != nil {
		return err
	}
	if err := c.JoinConsumerGroup(ctx, group); err != nil {
		return err
	}
	assigned, err := c.SyncConsumerGroup(ctx, group)
	if err != nil {
		return err
	}
	fmt.Println(len(assigned.Partitions), "partitions are mine")

	member := wire.Consumer{Kind: wire.ConsumerGroup, ID: group.Group}
	var targets []client.Target
	for _, p := range assigned.Partitions { // from where the group is
		targets = append(targets, client.Target{Partition: p, Strategy: wire.PollingStrategy{Kind: wire.FromNext}})
	}
	fetched, err := c.Fetch(ctx, member, stream, topic, targets, client.Read{})
	if err != nil {
		return err
	}
	for _, section := range fetched.Sections {
		if section.Status != 0 {
			return section.Status // of this partition only
		}
		var last uint64
		for m, err := range c.Messages(section.Records) {
			if err != nil {
				return err
			}
			fmt.Printf("partition %d: %s\n", section.Partition, m.Payload)
			last = m.Offset
		}
		// With the context of the reply nothing is stored for a partition that is another member's by now.
		of := client.Partition{Stream: stream, Topic: topic, ID: section.Partition}
		if err := c.StoreOffset(ctx, member, of, last, section.Context); err != nil {
			return err
		}
	}
	stored, _, err := c.GetOffset(ctx, member, client.Partition{Stream: stream, Topic: topic, ID: 0})
	if err != nil {
		return err
	}
	fmt.Println("partition 0 is read up to offset", stored.Stored)
	return c.LeaveConsumerGroup(ctx, group)
}

// makeOrders makes a topic of two partitions with a message in each.
func makeOrders(ctx context.Context, c *client.Client) error {
	if _, err := c.CreateStream(ctx, "shop", client.StreamOptions{}); err != nil {
		return err
	}
	if _, err := c.CreateTopic(ctx, wire.Named("shop"), "orders", 2, client.TopicOptions{}); err != nil {
		return err
	}
	for partition, text := range []string{"one order", "another order"} {
		to := client.Partition{Stream: wire.Named("shop"), Topic: wire.Named("orders"), ID: uint32(partition)}
		if _, _, err := c.Send(ctx, to, nil, []wire.Message{{Payload: []byte(text)}}); err != nil {
			return err
		}
	}
	return nil
}

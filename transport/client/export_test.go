package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Setup makes a stream s with a topic t of some partitions, and a group g.
func (c *Client) Setup(ctx context.Context, partitions uint32) error {
	if err := c.MakeStream(ctx, "s"); err != nil {
		return err
	}
	s, t := wire.Named("s"), wire.Named("t")
	if _, err := c.CreateTopic(ctx, s, "t", partitions, TopicOptions{}); err != nil {
		return err
	}
	_, err := c.CreateConsumerGroup(ctx, s, t, "g")
	return err
}

// MakeStream is a change of metadata.
func (c *Client) MakeStream(ctx context.Context, name string) error {
	_, err := c.CreateStream(ctx, name, StreamOptions{})
	return err
}

// MaxRoutes is how many routes are kept.
const MaxRoutes = maxRoutes

// KnownRoutes is how many routes are kept right now.
func (c *Client) KnownRoutes() int {
	c.routes.mu.Lock()
	defer c.routes.mu.Unlock()
	return len(c.routes.known)
}

// Jitter sets the random part of pauses.
func Jitter(f func(limit time.Duration) time.Duration) Option {
	return option(func(c *config) { c.jitter = f })
}

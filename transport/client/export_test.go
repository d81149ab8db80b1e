package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Setup makes a stream s with a topic t of some partitions, and a group g.
func (c *Client) Setup(ctx context.Context, partitions uint32) error {
	if _, err := call[wire.StreamDetails](ctx, c, wire.CmdCreateStream, &wire.CreateStream{Name: "s"}); err != nil {
		return err
	}
	s, t := wire.Named("s"), wire.Named("t")
	topic := &wire.CreateTopic{Stream: s, Name: "t", PartitionsCount: partitions}
	if _, err := call[wire.TopicDetails](ctx, c, wire.CmdCreateTopic, topic); err != nil {
		return err
	}
	group := &wire.CreateConsumerGroup{Stream: s, Topic: t, Name: "g"}
	_, err := call[wire.GroupDetails](ctx, c, wire.CmdCreateConsumerGroup, group)
	return err
}

// MakeStream is a change of metadata.
func (c *Client) MakeStream(ctx context.Context, name string) error {
	_, err := call[wire.StreamDetails](ctx, c, wire.CmdCreateStream, &wire.CreateStream{Name: name})
	return err
}

// ListStreams is a read.
func (c *Client) ListStreams(ctx context.Context) ([]wire.Stream, error) {
	streams, err := call[wire.Streams](ctx, c, wire.CmdGetStreams, nil)
	return streams.Streams, err
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

// SyncGroup returns the partitions that the session has in a group.
func (c *Client) SyncGroup(ctx context.Context, of wire.GroupOf) (wire.Assignment, bool, error) {
	body := &wire.SyncConsumerGroup{GroupOf: of}
	return callIfAny[wire.Assignment](ctx, c, wire.CmdSyncConsumerGroup, body)
}

// Raw makes a request with the bytes of a body.
func (c *Client) Raw(ctx context.Context, command wire.Command, raw []byte) ([]byte, error) {
	return c.requestRaw(ctx, command, nil, raw)
}

// Bytes makes a request whose reply is no body.
func (c *Client) Bytes(ctx context.Context, command wire.Command, body wire.Body) ([]byte, error) {
	return callBytes(ctx, c, command, body)
}

package client

import (
	"cmp"
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// GetConsumerGroup returns a group with its members. If there is none the error is [wire.CodeConsumerGroupIDNotFound], also if
// there is no such topic.
func (c *Client) GetConsumerGroup(ctx context.Context, of wire.GroupOf) (wire.GroupDetails, error) {
	const command = wire.CmdGetConsumerGroup
	if err := check(command, checkGroupID(of)); err != nil {
		return wire.GroupDetails{}, err
	}
	return callOne[wire.GroupDetails](ctx, c, command, &wire.GetConsumerGroup{GroupOf: of}, wire.CodeConsumerGroupIDNotFound)
}

// GetConsumerGroups returns the groups of a topic, without their members. If there is no such topic see [NotFound].
func (c *Client) GetConsumerGroups(ctx context.Context, stream, topic wire.Identifier) ([]wire.Group, error) {
	const command = wire.CmdGetConsumerGroups
	if err := check(command, checkTopicID(stream, topic)); err != nil {
		return nil, err
	}
	r, err := call[wire.Groups](ctx, c, command, &wire.GetConsumerGroups{Stream: stream, Topic: topic})
	return r.Groups, err
}

// CreateConsumerGroup makes a group of a topic with a name of 1 to 255 bytes, and returns it. If the name is taken the error is
// [wire.CodeConsumerGroupNameAlreadyExists].
func (c *Client) CreateConsumerGroup(
	ctx context.Context, stream, topic wire.Identifier, name string,
) (wire.GroupDetails, error) {
	const command = wire.CmdCreateConsumerGroup
	err := check(command, checkTopicID(stream, topic),
		checkName(wire.CodeInvalidConsumerGroupName, "the name of the group", name))
	if err != nil {
		return wire.GroupDetails{}, err
	}
	return call[wire.GroupDetails](ctx, c, command, &wire.CreateConsumerGroup{Stream: stream, Topic: topic, Name: name})
}

// DeleteConsumerGroup deletes a group with its offsets. If there is none see [NotFound].
func (c *Client) DeleteConsumerGroup(ctx context.Context, of wire.GroupOf) error {
	err := c.do(ctx, wire.CmdDeleteConsumerGroup, &wire.DeleteConsumerGroup{GroupOf: of}, checkGroupID(of))
	if err == nil {
		c.groups.set(of, false)
	}
	return err
}

// SyncConsumerGroup returns which partitions of the topic are those of the session, as a member of the group. If it is none
// the error is [wire.CodeConsumerGroupMemberNotFound]. Over HTTP it is [wire.CodeFeatureUnavailable].
func (c *Client) SyncConsumerGroup(ctx context.Context, of wire.GroupOf) (wire.Assignment, error) {
	const command = wire.CmdSyncConsumerGroup
	if err := cmp.Or(c.checkSessions(command), check(command, checkGroupID(of))); err != nil {
		return wire.Assignment{}, err
	}
	body := &wire.SyncConsumerGroup{GroupOf: of}
	return callOne[wire.Assignment](ctx, c, command, body, wire.CodeConsumerGroupMemberNotFound)
}

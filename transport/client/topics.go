package client

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// GetTopic returns a topic with its partitions. If there is none the error is [wire.CodeTopicIDNotFound], also if there is no
// such stream. [TopicOptionsOf] reads its settings.
func (c *Client) GetTopic(ctx context.Context, stream, topic wire.Identifier) (wire.TopicDetails, error) {
	const command = wire.CmdGetTopic
	if err := check(command, checkTopicID(stream, topic)); err != nil {
		return wire.TopicDetails{}, err
	}
	body := &wire.GetTopic{Stream: stream, Topic: topic}
	return callOne[wire.TopicDetails](ctx, c, command, body, wire.CodeTopicIDNotFound)
}

// GetTopics returns the topics of a stream, without their partitions. If there is no such stream see [NotFound].
func (c *Client) GetTopics(ctx context.Context, stream wire.Identifier) ([]wire.Topic, error) {
	const command = wire.CmdGetTopics
	if err := check(command, checkID("stream", stream)); err != nil {
		return nil, err
	}
	r, err := call[wire.Topics](ctx, c, command, &wire.GetTopics{Stream: stream})
	return r.Topics, err
}

// CreateTopic makes a topic with a name of 1 to 255 bytes and up to 1000 partitions, and returns it. One without partitions
// takes no messages until [Client.CreatePartitions] gives it some. If the name is taken the error is
// [wire.CodeTopicNameAlreadyExists]; if there is no such stream see [NotFound].
func (c *Client) CreateTopic(
	ctx context.Context, stream wire.Identifier, name string, partitions uint32, options TopicOptions,
) (wire.TopicDetails, error) {
	const command = wire.CmdCreateTopic
	set := options.wire()
	err := check(command, checkID("stream", stream), checkTopicName(name), checkPartitions(partitions, 0),
		options.check(true), checkOptions(set))
	if err != nil {
		return wire.TopicDetails{}, err
	}
	return call[wire.TopicDetails](ctx, c, command, &wire.CreateTopic{
		Stream: stream, Name: name, PartitionsCount: partitions, Options: set,
	})
}

// TopicUpdate is what [Client.UpdateTopic] changes: what is set.
type TopicUpdate struct {
	// Name is the new name, 1 to 255 bytes; empty to leave it.
	Name string
	// MessageExpiry is for how long messages are kept from now on, or [Forever]; 0 to leave it.
	MessageExpiry time.Duration
	// MaxSizeBytes is what is kept at most from now on, or [wire.Unlimited]; 0 to leave it.
	MaxSizeBytes uint64
	// Set are further options that get a value.
	Set wire.Options
	// Reset are options that get back their default, at most 255: such as [wire.OptionMessageExpiry].
	Reset []string
}

// UpdateTopic changes a topic. There has to be something to change. If there is no such topic see [NotFound]. An option that
// cannot be changed is [wire.CodeOptionNotUpdatable] or [wire.CodeOptionNotResettable].
func (c *Client) UpdateTopic(ctx context.Context, stream, topic wire.Identifier, update TopicUpdate) error {
	options := TopicOptions{MessageExpiry: update.MessageExpiry, MaxSizeBytes: update.MaxSizeBytes, Others: update.Set}
	body := &wire.UpdateResource{
		Scope: wire.ScopeTopic, Stream: stream, Topic: topic, Set: options.wire(), Reset: update.Reset,
	}
	faults := []*fault{checkTopicID(stream, topic), options.check(false)}
	if update.Name != "" {
		faults = append(faults, checkTopicName(update.Name))
		body.Set = append(body.Set, wire.Option{Key: wire.OptionName, Value: wire.StringValue(update.Name)})
	}
	return c.update(ctx, body, append(faults, checkUpdate(body))...)
}

// DeleteTopic deletes a topic with all that is in it. If there is none see [NotFound].
func (c *Client) DeleteTopic(ctx context.Context, stream, topic wire.Identifier) error {
	return c.do(ctx, wire.CmdDeleteTopic, &wire.DeleteTopic{Stream: stream, Topic: topic}, checkTopicID(stream, topic))
}

func checkTopicName(name string) *fault {
	return checkName(wire.CodeInvalidTopicName, "the name of the topic", name)
}

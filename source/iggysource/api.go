package iggysource

import (
	"context"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// api is what a consumer needs of a client.
type api interface {
	sessionAPI
	messageAPI
	offsetAPI
	groupAPI
	outcomeAPI
}

var _ api = (*client.Client)(nil)

type sessionAPI interface {
	SignIn(ctx context.Context) error
	Sessionless() bool
	Encrypts() bool
}

type messageAPI interface {
	Primary(ctx context.Context, p client.Partition) (replica uint8, partitions uint32, err error)
	GetTopic(ctx context.Context, stream, topic wire.Identifier) (wire.TopicDetails, error)
	Poll(
		ctx context.Context, who wire.Consumer, of client.Partition, strategy wire.PollingStrategy, under wire.PartitionContext, read client.Read,
	) (wire.PolledMessages, error)
	Fetch(
		ctx context.Context, who wire.Consumer, stream, topic wire.Identifier, targets []client.Target, read client.Read,
	) (wire.FetchedMessages, error)
	Open(partition uint32, m wire.Message) (wire.Message, error)
}

type offsetAPI interface {
	StoreOffset(ctx context.Context, who wire.Consumer, of client.Partition, offset uint64, under wire.PartitionContext) error
	DeleteOffset(ctx context.Context, who wire.Consumer, of client.Partition, under wire.PartitionContext) error
	GetOffset(ctx context.Context, who wire.Consumer, of client.Partition) (wire.ConsumerOffset, bool, error)
}

type groupAPI interface {
	CreateConsumerGroup(ctx context.Context, stream, topic wire.Identifier, name string) (wire.GroupDetails, error)
	JoinConsumerGroup(ctx context.Context, of wire.GroupOf) error
	LeaveConsumerGroup(ctx context.Context, of wire.GroupOf) error
	SyncConsumerGroup(ctx context.Context, of wire.GroupOf) (wire.Assignment, error)
}

type outcomeAPI interface {
	ResolveOperation(ctx context.Context, operation uint64) ([]byte, error)
	AbandonOperation(operation uint64) error
}

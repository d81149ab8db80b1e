package wire

// GroupOf names a group. (Iggy binary protocol, consumer groups.)
type GroupOf struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic of the group.
	Topic Identifier
	// Group is the group.
	Group Identifier
}

func (v *GroupOf) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.identifier(&v.Group, "group")
}

// What names a group is all that these commands say.
type (
	// GetConsumerGroup is the request of get_consumer_group.
	GetConsumerGroup struct{ GroupOf }
	// DeleteConsumerGroup is the request of delete_consumer_group.
	DeleteConsumerGroup struct{ GroupOf }
	// JoinConsumerGroup is the request of join_consumer_group.
	JoinConsumerGroup struct{ GroupOf }
	// LeaveConsumerGroup is the request of leave_consumer_group.
	LeaveConsumerGroup struct{ GroupOf }
	// SyncConsumerGroup is the request of sync_consumer_group: which partitions are those of the session?
	SyncConsumerGroup struct{ GroupOf }
)

// GetConsumerGroups is the request of get_consumer_groups.
type GetConsumerGroups struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic of the groups.
	Topic Identifier
}

func (v *GetConsumerGroups) layout(c *coder) { c.topic(&v.Stream, &v.Topic) }

// CreateConsumerGroup is the request of create_consumer_group.
type CreateConsumerGroup struct {
	// Stream is the stream of the topic.
	Stream Identifier
	// Topic is the topic of the group.
	Topic Identifier
	// Name is the name, 1 to 255 bytes.
	Name string
}

func (v *CreateConsumerGroup) layout(c *coder) {
	c.topic(&v.Stream, &v.Topic)
	c.name(&v.Name, "group name")
}

// Group is a consumer group.
type Group struct {
	// ID is its number.
	ID uint32
	// PartitionsCount is the number of partitions of its topic.
	PartitionsCount uint32
	// MembersCount is the number of its members.
	MembersCount uint32
	// Name is its name.
	Name string
}

func (v *Group) layout(c *coder) {
	c.u32(&v.ID, "group id")
	c.u32(&v.PartitionsCount, "partitions count")
	c.u32(&v.MembersCount, "members count")
	c.name(&v.Name, "group name")
}

// Groups is the reply to get_consumer_groups.
type Groups struct {
	// Groups are the groups of the topic.
	Groups []Group
}

func (v *Groups) layout(c *coder) { listToEnd(c, &v.Groups, (*Group).layout) }

// GroupDetails is the reply to get_consumer_group and create_consumer_group.
type GroupDetails struct {
	// Group is the group, with the number of the members.
	Group Group
	// Members are its members.
	Members []GroupMember
}

// GroupMember is a member of a group.
type GroupMember struct {
	// ID is its number.
	ID uint32
	// Partitions are those that it reads.
	Partitions []uint32
}

func (v *GroupDetails) layout(c *coder) {
	v.Group.layout(c)
	list(c, v.Group.MembersCount, &v.Members, 8, "members", (*GroupMember).layout)
}

func (v *GroupMember) layout(c *coder) {
	c.u32(&v.ID, "member id")
	list32(c, &v.Partitions, 4, "partitions of the member", number)
}

// Assignment is the reply to sync_consumer_group: the partitions of the session. Who is not a member has none.
type Assignment struct {
	// Generation is the version of the assignment. It grows with each change of the group.
	Generation uint64
	// Partitions are the partitions to read.
	Partitions []uint32
}

func (v *Assignment) layout(c *coder) {
	c.u64(&v.Generation, "generation")
	list32(c, &v.Partitions, 4, "partitions", number)
}

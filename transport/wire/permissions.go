package wire

// Permissions are what a user may do. (Iggy binary protocol, permissions.)
type Permissions struct {
	// Global are the permissions for everything.
	Global GlobalPermissions
	// Streams are those for single streams, by ascending id.
	Streams []StreamPermissions
}

// GlobalPermissions are permissions for a whole server. Each of them includes those that say less.
type GlobalPermissions struct {
	// ManageServers allows to change servers.
	ManageServers bool
	// ReadServers allows to look at servers: statistics, clients.
	ReadServers bool
	// ManageUsers allows to create, change and delete users.
	ManageUsers bool
	// ReadUsers allows to look at users.
	ReadUsers bool
	// ManageStreams allows to create, change and delete streams.
	ManageStreams bool
	// ReadStreams allows to look at streams.
	ReadStreams bool
	// ManageTopics allows to create, change and delete topics.
	ManageTopics bool
	// ReadTopics allows to look at topics.
	ReadTopics bool
	// PollMessages allows to read messages.
	PollMessages bool
	// SendMessages allows to send messages.
	SendMessages bool
}

// StreamPermissions are permissions for one stream.
type StreamPermissions struct {
	// StreamID is the stream.
	StreamID uint32
	// ManageStream allows to change and delete it.
	ManageStream bool
	// ReadStream allows to look at it.
	ReadStream bool
	// ManageTopics allows to create, change and delete its topics.
	ManageTopics bool
	// ReadTopics allows to look at its topics.
	ReadTopics bool
	// PollMessages allows to read messages of it.
	PollMessages bool
	// SendMessages allows to send messages to it.
	SendMessages bool
	// Topics are permissions for single topics, by ascending id.
	Topics []TopicPermissions
}

// TopicPermissions are permissions for one topic.
type TopicPermissions struct {
	// TopicID is the topic.
	TopicID uint32
	// ManageTopic allows to change and delete it.
	ManageTopic bool
	// ReadTopic allows to look at it.
	ReadTopic bool
	// PollMessages allows to read messages of it.
	PollMessages bool
	// SendMessages allows to send messages to it.
	SendMessages bool
}

func (v *Permissions) layout(c *coder) {
	v.Global.layout(c)
	if c.present(len(v.Streams) > 0, "permissions of streams") {
		chain(c, &v.Streams, (*StreamPermissions).layout)
		c.ascending("stream id", len(v.Streams), func(i int) uint32 { return v.Streams[i].StreamID })
	}
}

func (v *GlobalPermissions) layout(c *coder) {
	c.bool(&v.ManageServers, "manage servers")
	c.bool(&v.ReadServers, "read servers")
	c.bool(&v.ManageUsers, "manage users")
	c.bool(&v.ReadUsers, "read users")
	c.bool(&v.ManageStreams, "manage streams")
	c.bool(&v.ReadStreams, "read streams")
	c.bool(&v.ManageTopics, "manage topics")
	c.bool(&v.ReadTopics, "read topics")
	c.bool(&v.PollMessages, "poll messages")
	c.bool(&v.SendMessages, "send messages")
}

func (v *StreamPermissions) layout(c *coder) {
	c.u32(&v.StreamID, "stream id")
	c.bool(&v.ManageStream, "manage stream")
	c.bool(&v.ReadStream, "read stream")
	c.bool(&v.ManageTopics, "manage topics")
	c.bool(&v.ReadTopics, "read topics")
	c.bool(&v.PollMessages, "poll messages")
	c.bool(&v.SendMessages, "send messages")
	if c.present(len(v.Topics) > 0, "permissions of topics") {
		chain(c, &v.Topics, (*TopicPermissions).layout)
		c.ascending("topic id", len(v.Topics), func(i int) uint32 { return v.Topics[i].TopicID })
	}
}

func (v *TopicPermissions) layout(c *coder) {
	c.u32(&v.TopicID, "topic id")
	c.bool(&v.ManageTopic, "manage topic")
	c.bool(&v.ReadTopic, "read topic")
	c.bool(&v.PollMessages, "poll messages")
	c.bool(&v.SendMessages, "send messages")
}

// chain is a list of at least one, in which a byte behind each item says whether another follows.
func chain[T any](c *coder, items *[]T, item func(*T, *coder)) {
	if !c.writing {
		*items = nil
	}
	for i, again := 0, true; again && c.err == nil; i++ {
		if !c.writing {
			var next T
			*items = append(*items, next)
		}
		item(&(*items)[i], c)
		again = i+1 < len(*items)
		c.bool(&again, "another follows")
	}
}

// ascending wants ids without repetition, in their order.
func (c *coder) ascending(field string, n int, id func(int) uint32) {
	for i := 1; i < n && c.err == nil; i++ {
		if id(i) <= id(i-1) {
			c.fail(field, ErrValue)
		}
	}
}

// permissions are permissions with their length in front.
func (c *coder) permissions(v *Permissions) { c.sized("permissions", v.layout) }

// optionalPermissions are [has u8] and, with 1, permissions.
func (c *coder) optionalPermissions(v **Permissions) {
	if !c.present(*v != nil, "has permissions") {
		return
	}
	if *v == nil {
		*v = new(Permissions)
	}
	c.permissions(*v)
}

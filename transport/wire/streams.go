package wire

// GetStream is the request of get_stream. (Iggy binary protocol, streams.)
type GetStream struct {
	// Stream is the stream.
	Stream Identifier
}

func (v *GetStream) layout(c *coder) { c.identifier(&v.Stream, "stream") }

// CreateStream is the request of create_stream.
type CreateStream struct {
	// Name is the name, 1 to 255 bytes.
	Name string
	// Options are settings of the stream.
	Options Options
}

func (v *CreateStream) layout(c *coder) {
	c.name(&v.Name, "stream name")
	v.Options.layout(c)
}

// DeleteStream is the request of delete_stream.
type DeleteStream struct {
	// Stream is the stream.
	Stream Identifier
}

func (v *DeleteStream) layout(c *coder) { c.identifier(&v.Stream, "stream") }

// Stream is a stream.
type Stream struct {
	// ID is its number.
	ID uint32
	// CreatedAt is when it was made, in microseconds since 1970.
	CreatedAt uint64
	// TopicsCount is the number of its topics.
	TopicsCount uint32
	// SizeBytes is the size of its messages.
	SizeBytes uint64
	// MessagesCount is their number.
	MessagesCount uint64
	// Name is its name.
	Name string
	// Explicit are settings that somebody made.
	Explicit Options
	// Derived are settings that the server made.
	Derived Options
}

func (v *Stream) layout(c *coder) {
	c.u32(&v.ID, "stream id")
	c.u64(&v.CreatedAt, "created at")
	c.u32(&v.TopicsCount, "topics count")
	c.u64(&v.SizeBytes, "size")
	c.u64(&v.MessagesCount, "messages count")
	c.name(&v.Name, "stream name")
	c.options(&v.Explicit, "explicit options")
	c.options(&v.Derived, "derived options")
}

// Streams is the reply to get_streams.
type Streams struct {
	// Streams are the streams.
	Streams []Stream
}

func (v *Streams) layout(c *coder) { listToEnd(c, &v.Streams, (*Stream).layout) }

// StreamDetails is the reply to get_stream and create_stream.
type StreamDetails struct {
	// Stream is the stream, with the number of the topics.
	Stream Stream
	// Topics are its topics.
	Topics []Topic
}

func (v *StreamDetails) layout(c *coder) {
	v.Stream.layout(c)
	list(c, v.Stream.TopicsCount, &v.Topics, topicSize, "topics", (*Topic).layout)
}

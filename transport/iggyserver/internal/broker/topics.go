package broker

import "github.com/runnel-go/runnel/transport/wire"

// topic is a topic. Its fields are guarded by the broker's mu.
type topic struct {
	id         uint32
	name       string
	createdAt  uint64
	settings   settings
	partitions []*partition // by number
	groups     shelf[*group]
	turn       uint32 // the partition of the next balanced send
}

// topicOf is a topic with its stream.
type topicOf struct {
	stream *stream
	*topic
}

func (t *topic) label() (uint32, string) { return t.id, t.name }

// totals sums up the partitions.
func (t *topic) totals() (bytes, messages uint64, segments uint32) {
	for _, p := range t.partitions {
		span := p.log.Span()
		bytes, messages, segments = bytes+span.Bytes, messages+span.messages(), segments+span.Segments
	}
	return bytes, messages, segments
}

func (t *topic) header() wire.Topic {
	h := wire.Topic{ID: t.id, CreatedAt: t.createdAt, PartitionsCount: uint32(len(t.partitions)), Name: t.name}
	h.SizeBytes, h.MessagesCount, _ = t.totals()
	h.Explicit, h.Derived = t.settings.lists(topicOptions)
	return h
}

func (b *Broker) topicDetails(t *topic) wire.Body {
	d := wire.TopicDetails{Topic: t.header()}
	for _, p := range t.partitions {
		span := p.log.Span()
		d.Partitions = append(d.Partitions, wire.TopicPartition{
			ID:            p.id,
			CreatedAt:     p.createdAt,
			SegmentsCount: span.Segments,
			CurrentOffset: span.newest(),
			SizeBytes:     span.Bytes,
			MessagesCount: span.messages(),
			Context:       wire.PartitionContext{Incarnation: p.incarnation, MetadataOp: b.op},
			Members:       []uint8{b.node.ReplicaID},
			InSync:        []uint8{b.node.ReplicaID},
		})
	}
	return &d
}

func getTopic(r *request, arguments wire.GetTopic) (wire.Body, wire.Code) {
	t, code := r.topic(arguments.Stream, arguments.Topic, readTopic)
	switch code {
	case 0:
		return r.broker.topicDetails(t.topic), 0
	case wire.CodeStreamIDNotFound, wire.CodeTopicIDNotFound:
		return nil, 0
	}
	return nil, code
}

func getTopics(r *request, arguments wire.GetTopics) (wire.Body, wire.Code) {
	s, code := r.stream(arguments.Stream, readTopics)
	if code != 0 {
		return nil, code
	}
	var topics wire.Topics
	for _, t := range s.topics.all() {
		topics.Topics = append(topics.Topics, t.header())
	}
	return &topics, 0
}

func createTopic(r *request, arguments wire.CreateTopic) (wire.Body, wire.Code) {
	b := r.broker
	s, code := r.stream(arguments.Stream, manageTopics)
	if code != 0 {
		return nil, code
	}
	settings, code := created(topicOptions, arguments.Options)
	if code == 0 {
		code = settings.checkTopic()
	}
	switch {
	case code != 0:
		return nil, code
	case s.topics.has(arguments.Name):
		return nil, wire.CodeTopicNameAlreadyExists
	case arguments.PartitionsCount > wire.MaxPartitions:
		return nil, wire.CodeTooManyPartitions
	case s.topics.len() >= b.config.Limits.Topics:
		return nil, codeTooManyTopics
	}
	t := &topic{id: s.topics.take(), name: arguments.Name, createdAt: b.now(), settings: settings}
	if code := b.addPartitions(topicOf{s, t}, arguments.PartitionsCount, s.entry()); code != 0 {
		return nil, code
	}
	s.topics.put(t)
	return b.topicDetails(t), 0
}

func deleteTopic(r *request, arguments wire.DeleteTopic) (wire.Body, wire.Code) {
	t, code := r.topic(arguments.Stream, arguments.Topic, manageTopic)
	if code != 0 {
		return nil, code
	}
	if code := r.broker.save(withoutTopic(t.stream, t.topic)...); code != 0 {
		return nil, code
	}
	if err := r.broker.dropTopic(t.stream, t.topic); err != nil {
		return nil, wire.CodeError
	}
	return nil, 0
}

// dropTopic removes a topic with its groups and partitions. It returns the first error of a log.
func (b *Broker) dropTopic(s *stream, t *topic) error {
	s.topics.remove(t)
	for _, g := range t.groups.all() {
		g.dissolve()
	}
	return b.dropPartitions(t, len(t.partitions))
}

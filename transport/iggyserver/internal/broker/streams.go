package broker

import "github.com/runnel-go/runnel/transport/wire"

// stream is a stream. Its fields are guarded by the broker's mu.
type stream struct {
	id        uint32
	name      string
	createdAt uint64
	settings  settings
	topics    shelf[*topic]
}

func (s *stream) label() (uint32, string) { return s.id, s.name }

func (s *stream) header() wire.Stream {
	h := wire.Stream{ID: s.id, CreatedAt: s.createdAt, TopicsCount: uint32(s.topics.len()), Name: s.name}
	for _, t := range s.topics.all() {
		size, messages, _ := t.totals()
		h.SizeBytes, h.MessagesCount = h.SizeBytes+size, h.MessagesCount+messages
	}
	h.Explicit, h.Derived = s.settings.lists(streamOptions)
	return h
}

func (s *stream) details() wire.Body {
	d := wire.StreamDetails{Stream: s.header()}
	for _, t := range s.topics.all() {
		d.Topics = append(d.Topics, t.header())
	}
	return &d
}

func getStream(r *request, arguments wire.GetStream) (wire.Body, wire.Code) {
	s, ok := r.broker.streams.find(arguments.Stream)
	switch {
	case !ok && r.may(readStreams):
		return nil, 0
	case !ok, !r.mayIn(readStream, s, nil):
		return nil, wire.CodeUnauthorized // who may not look is not told what there is
	}
	return s.details(), 0
}

func getStreams(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	if !r.may(readStreams) {
		return nil, wire.CodeUnauthorized
	}
	var streams wire.Streams
	for _, s := range r.broker.streams.all() {
		streams.Streams = append(streams.Streams, s.header())
	}
	return &streams, 0
}

func createStream(r *request, arguments wire.CreateStream) (wire.Body, wire.Code) {
	b := r.broker
	if !r.may(manageStreams) {
		return nil, wire.CodeUnauthorized
	}
	settings, code := created(streamOptions, arguments.Options)
	switch {
	case code != 0:
		return nil, code
	case b.streams.has(arguments.Name):
		return nil, wire.CodeStreamNameAlreadyExists
	case b.streams.len() >= b.config.Limits.Streams:
		return nil, codeTooManyStreams
	}
	s := &stream{id: b.streams.take(), name: arguments.Name, createdAt: b.now(), settings: settings}
	if code := b.save(b.counters(), s.entry()); code != 0 {
		return nil, code
	}
	b.streams.put(s)
	return s.details(), 0
}

func deleteStream(r *request, arguments wire.DeleteStream) (wire.Body, wire.Code) {
	b := r.broker
	s, code := r.stream(arguments.Stream, manageStream)
	if code != 0 {
		return nil, code
	}
	changes := []Change{{Key: streamKey(s.id)}}
	for _, t := range s.topics.all() {
		changes = append(changes, withoutTopic(s, t)...)
	}
	if code := b.save(changes...); code != 0 {
		return nil, code
	}
	b.streams.remove(s)
	if err := b.dropTopics(s); err != nil {
		return nil, wire.CodeError
	}
	return nil, 0
}

// dropTopics removes all topics of a stream. It returns the first error of a log.
func (b *Broker) dropTopics(s *stream) error {
	var first error
	for s.topics.len() > 0 {
		if err := b.dropTopic(s, s.topics.all()[0]); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// stream returns a stream in which the user of the request has a right.
func (r *request) stream(id wire.Identifier, what right) (*stream, wire.Code) {
	s, ok := r.broker.streams.find(id)
	switch {
	case ok && r.mayIn(what, s, nil):
		return s, 0
	case ok, !r.may(what):
		return nil, wire.CodeUnauthorized
	}
	return nil, wire.CodeStreamIDNotFound
}

// topic returns a topic in which the user of the request has a right.
func (r *request) topic(stream, topic wire.Identifier, what right) (*topicOf, wire.Code) {
	s, ok := r.broker.streams.find(stream)
	if !ok {
		return nil, r.notFound(wire.CodeStreamIDNotFound, what, nil)
	}
	t, ok := s.topics.find(topic)
	switch {
	case ok && r.mayIn(what, s, t):
		return &topicOf{s, t}, 0
	case ok:
		return nil, wire.CodeUnauthorized
	}
	return nil, r.notFound(wire.CodeTopicIDNotFound, what, s)
}

// notFound is the code for something that is not there: only who could use it is told.
func (r *request) notFound(code wire.Code, what right, in *stream) wire.Code {
	if !r.mayIn(what, in, nil) {
		return wire.CodeUnauthorized
	}
	return code
}

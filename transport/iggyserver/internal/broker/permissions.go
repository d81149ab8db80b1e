package broker

import (
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// right is something that a user may be allowed to do, at most for one stream and one topic of it. To manage includes to
// read and to send, to read includes to poll; what is allowed for a stream is allowed for its topics. (Iggy binary
// protocol, permissions.)
type right uint8

const (
	readServers right = iota
	manageUsers
	readUsers
	manageStreams // all of them: to create one
	readStreams   // all of them: to list them
	manageStream
	readStream
	manageTopics // those of a stream: to create one
	readTopics   // those of a stream: to list them
	manageTopic
	readTopic
	poll
	send
)

// may says whether the user of the request has a right that concerns no stream. It wants the broker's mu, as the others.
func (r *request) may(what right) bool { return r.mayIn(what, nil, nil) }

// mayNow is may for who does not hold the mu.
func (r *request) mayNow(what right) bool {
	r.broker.mu.Lock()
	defer r.broker.mu.Unlock()
	return r.may(what)
}

// mayIn says whether the user of the request has a right in a stream and a topic; nil for none.
func (r *request) mayIn(what right, s *stream, t *topic) bool {
	u := r.session.user
	if u.id == rootID {
		return true
	}
	p := u.permissions
	if p == nil {
		return false
	}
	if allowsGlobally(&p.Global, what) {
		return true
	}
	if s == nil {
		return false
	}
	at, ok := slices.BinarySearchFunc(p.Streams, s.id, func(p wire.StreamPermissions, id uint32) int {
		return int(int64(p.StreamID) - int64(id))
	})
	return ok && (allowsInStream(&p.Streams[at], what) || allowsInTopic(&p.Streams[at], what, t))
}

func allowsGlobally(p *wire.GlobalPermissions, what right) bool {
	manage, read := p.ManageStreams || p.ManageTopics, p.ReadStreams || p.ReadTopics
	switch what {
	case readServers:
		return p.ManageServers || p.ReadServers
	case manageUsers:
		return p.ManageUsers
	case readUsers:
		return p.ManageUsers || p.ReadUsers
	case manageStreams, manageStream:
		return p.ManageStreams
	case readStreams, readStream:
		return p.ManageStreams || p.ReadStreams
	case manageTopics, manageTopic:
		return manage
	case readTopics, readTopic:
		return manage || read
	case poll:
		return manage || read || p.PollMessages
	case send:
		return manage || p.SendMessages
	}
	return false
}

func allowsInStream(p *wire.StreamPermissions, what right) bool {
	manage, read := p.ManageStream || p.ManageTopics, p.ReadStream || p.ReadTopics
	switch what {
	case manageStream:
		return p.ManageStream
	case readStream:
		return p.ManageStream || p.ReadStream
	case manageTopics, manageTopic:
		return manage
	case readTopics, readTopic:
		return manage || read
	case poll:
		return manage || read || p.PollMessages
	case send:
		return manage || p.SendMessages
	}
	return false
}

func allowsInTopic(of *wire.StreamPermissions, what right, t *topic) bool {
	if t == nil {
		return false
	}
	at, ok := slices.BinarySearchFunc(of.Topics, t.id, func(p wire.TopicPermissions, id uint32) int {
		return int(int64(p.TopicID) - int64(id))
	})
	if !ok {
		return false
	}
	p := &of.Topics[at]
	switch what {
	case manageTopic:
		return p.ManageTopic
	case readTopic:
		return p.ManageTopic || p.ReadTopic
	case poll:
		return p.ManageTopic || p.ReadTopic || p.PollMessages
	case send:
		return p.ManageTopic || p.SendMessages
	}
	return false
}

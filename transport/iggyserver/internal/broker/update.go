package broker

import "github.com/runnel-go/runnel/transport/wire"

// updateResource changes the settings of a stream, a topic or a user. (Iggy binary protocol, update resource.)
func updateResource(r *request, arguments wire.UpdateResource) (wire.Body, wire.Code) {
	switch arguments.Scope {
	case wire.ScopeTopic:
		return nil, r.updateTopic(&arguments)
	case wire.ScopeStream:
		return nil, r.updateStream(&arguments)
	default:
		return nil, r.updateUser(&arguments)
	}
}

func (r *request) updateTopic(arguments *wire.UpdateResource) wire.Code {
	t, code := r.topic(arguments.Stream, arguments.Topic, manageTopic)
	if code != 0 {
		return code
	}
	settings, code := updated(topicOptions, t.settings, arguments.Set, arguments.Reset)
	if code == 0 {
		code = settings.checkTopic()
	}
	if code != 0 {
		return code
	}
	next := *t.topic
	next.settings = settings
	if name, ok := settings.take(wire.OptionName); ok && name != t.name {
		if t.stream.topics.has(name) {
			return wire.CodeTopicNameAlreadyExists
		}
		next.name = name
	}
	if code := r.broker.save(next.entry(t.stream, t.partitions)); code != 0 {
		return code
	}
	was := t.name
	*t.topic = next
	t.stream.topics.renamed(t.topic, was)
	return 0
}

func (r *request) updateStream(arguments *wire.UpdateResource) wire.Code {
	s, code := r.stream(arguments.Stream, manageStream)
	if code != 0 {
		return code
	}
	settings, code := updated(streamOptions, s.settings, arguments.Set, arguments.Reset)
	if code != 0 {
		return code
	}
	next := *s
	next.settings = settings
	if name, ok := settings.take(wire.OptionName); ok && name != s.name {
		if r.broker.streams.has(name) {
			return wire.CodeStreamNameAlreadyExists
		}
		next.name = name
	}
	if code := r.broker.save(next.entry()); code != 0 {
		return code
	}
	was := s.name
	*s = next
	r.broker.streams.renamed(s, was)
	return 0
}

// updateUser changes name and status. A user that becomes inactive loses its sessions.
func (r *request) updateUser(arguments *wire.UpdateResource) wire.Code {
	b := r.broker
	u, ok := b.users.find(arguments.User)
	switch {
	case !r.may(manageUsers):
		return wire.CodeUnauthorized
	case !ok:
		return wire.CodeResourceNotFound
	case u.id == rootID:
		return wire.CodeCannotModifyRootUser
	}
	settings, code := updated(userOptions, nil, arguments.Set, arguments.Reset)
	if code != 0 {
		return code
	}
	next := *u
	if name, ok := settings.take(wire.OptionUsername); ok && name != u.name {
		switch {
		case !lengthIn(name, 3, 50):
			return wire.CodeInvalidUsername
		case b.users.has(name):
			return wire.CodeUserAlreadyExists
		}
		next.name = name
	}
	if status, ok := settings.take(wire.OptionStatus); ok {
		next.status = wire.UserActive
		if status == "inactive" {
			next.status = wire.UserInactive
		}
	}
	if code := b.save(next.entry()); code != 0 {
		return code
	}
	was := u.name
	*u = next
	b.users.renamed(u, was)
	if u.status == wire.UserInactive {
		b.expel(u, wire.EvictUserInactive, r.session)
	}
	return 0
}

// take removes a text from settings that has its own place, and returns it.
func (s settings) take(key string) (string, bool) {
	v, ok := s[key]
	delete(s, key)
	return string(v.Data), ok
}

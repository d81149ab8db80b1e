package broker

import "github.com/runnel-go/runnel/transport/wire"

func (g *group) header() wire.Group {
	return wire.Group{
		ID: g.id, PartitionsCount: uint32(len(g.topic.partitions)), MembersCount: uint32(len(g.members)), Name: g.name,
	}
}

func (g *group) details() wire.Body {
	d := wire.GroupDetails{Group: g.header()}
	for _, m := range g.members {
		d.Members = append(d.Members, wire.GroupMember{ID: m.id, Partitions: g.partitionsOf(m)})
	}
	return &d
}

// readable returns a topic whose groups the user may use: who reads the topic, or polls messages from it.
func (r *request) readable(stream, topic wire.Identifier) (*topicOf, wire.Code) {
	if t, code := r.topic(stream, topic, readTopic); code != wire.CodeUnauthorized {
		return t, code
	}
	return r.topic(stream, topic, poll)
}

// group returns a group that the user may use.
func (r *request) group(of *wire.GroupOf) (*group, wire.Code) {
	t, code := r.readable(of.Stream, of.Topic)
	if code != 0 {
		return nil, code
	}
	g, ok := t.groups.find(of.Group)
	if !ok {
		return nil, wire.CodeConsumerGroupIDNotFound
	}
	return g, 0
}

func getGroup(r *request, arguments wire.GetConsumerGroup) (wire.Body, wire.Code) {
	g, code := r.group(&arguments.GroupOf)
	switch code {
	case 0:
		return g.details(), 0
	case wire.CodeUnauthorized:
		return nil, code //nolint:nilerr // a code is no error of Go here
	}
	return nil, 0 // what is not there is an empty reply
}

func getGroups(r *request, arguments wire.GetConsumerGroups) (wire.Body, wire.Code) {
	t, code := r.readable(arguments.Stream, arguments.Topic)
	if code != 0 {
		return nil, code
	}
	var groups wire.Groups
	for _, g := range t.groups.all() {
		groups.Groups = append(groups.Groups, g.header())
	}
	return &groups, 0
}

func createGroup(r *request, arguments wire.CreateConsumerGroup) (wire.Body, wire.Code) {
	t, code := r.readable(arguments.Stream, arguments.Topic)
	switch {
	case code != 0:
		return nil, code
	case t.groups.has(arguments.Name):
		return nil, wire.CodeConsumerGroupNameAlreadyExists
	case t.groups.len() >= r.broker.config.Limits.Groups:
		return nil, wire.CodeTooManyConsumerGroups
	}
	g := &group{id: t.groups.take(), name: arguments.Name, topic: *t, owned: map[uint32]*owning{}}
	t.groups.put(g)
	if code := r.broker.save(t.entry(t.stream, t.partitions)); code != 0 {
		t.groups.remove(g)
		return nil, code
	}
	return g.details(), 0
}

// deleteGroup removes the offsets of the group, too.
func deleteGroup(r *request, arguments wire.DeleteConsumerGroup) (wire.Body, wire.Code) {
	g, code := r.group(&arguments.GroupOf)
	if code != 0 {
		return nil, code
	}
	t := g.topic
	t.groups.remove(g)
	var changes []Change
	for _, p := range t.partitions {
		if _, ok := p.offsets[g.key()]; ok {
			changes = append(changes, Change{Key: p.offsetKey(g.key())})
		}
	}
	if code := r.broker.save(append(changes, t.entry(t.stream, t.partitions))...); code != 0 {
		t.groups.restore(g)
		return nil, code
	}
	g.dissolve()
	delete(r.broker.moving, g)
	for _, p := range g.topic.partitions {
		delete(p.offsets, g.key())
		p.waiters.wake()
	}
	return nil, 0
}

// joinGroup makes the session a member. One that is a member stays as it is.
func joinGroup(r *request, arguments wire.JoinConsumerGroup) (wire.Body, wire.Code) {
	g, code := r.group(&arguments.GroupOf)
	if code != 0 {
		return nil, code
	}
	if r.session.members[g] == nil {
		g.join(r.session)
		r.broker.rebalance(g)
	}
	return nil, 0
}

func leaveGroup(r *request, arguments wire.LeaveConsumerGroup) (wire.Body, wire.Code) {
	g, code := r.group(&arguments.GroupOf)
	if code != 0 {
		return nil, code
	}
	m := r.session.members[g]
	if m == nil {
		return nil, wire.CodeConsumerGroupMemberNotFound
	}
	r.broker.leave(g, m)
	return nil, 0
}

// syncGroup tells which partitions the session reads: nothing if it is not a member.
func syncGroup(r *request, arguments wire.SyncConsumerGroup) (wire.Body, wire.Code) {
	g, code := r.group(&arguments.GroupOf)
	if code != 0 {
		return nil, code
	}
	m := r.session.members[g]
	if m == nil {
		return nil, 0
	}
	return &wire.Assignment{Generation: g.version, Partitions: g.partitionsOf(m)}, 0
}

// leave ends a membership, under mu.
func (b *Broker) leave(g *group, m *member) {
	g.leave(m)
	b.rebalance(g)
}

// rebalance assigns the partitions of a group anew, at the present position of the log.
func (b *Broker) rebalance(g *group) {
	if g.rebalance(b.op, b.config.Clock.Now().Add(b.config.HandoverTimeout)) {
		b.moving[g] = true
	}
}

// rebalanceAll does so for all groups of a topic.
func (b *Broker) rebalanceAll(t *topic) {
	for _, g := range t.groups.all() {
		b.rebalance(g)
	}
}

// settle hands over what waits for it in a group.
func (b *Broker) settle(g *group) {
	if !b.moving[g] {
		return
	}
	done, moving := g.settle(b.op+1, b.config.Clock.Now())
	if done {
		b.op++
	}
	if !moving {
		delete(b.moving, g)
	}
}

package httpjson

import (
	"errors"
	"fmt"
	"math"

	"github.com/runnel-go/runnel/transport/wire"
)

// errCount is returned when a list is not as long as it is said to be, or longer than the protocol has room for.
var errCount = errors.New("list is not as long as it is said to be")

// errName is returned for a name that stands for nothing.
var errName = errors.New("name not known")

// StreamOf returns a stream as a list of streams has it.
func StreamOf(s wire.Stream) Stream {
	return Stream{
		CreatedAt: s.CreatedAt, ID: s.ID, MessagesCount: s.MessagesCount, Name: s.Name,
		Options: OptionsOf(s.Explicit, s.Derived), Size: Size(s.SizeBytes), TopicsCount: s.TopicsCount,
	}
}

// StreamDetailsOf returns a stream with its topics.
func StreamDetailsOf(d wire.StreamDetails) Stream {
	s := StreamOf(d.Stream)
	s.Topics = make([]Topic, 0, len(d.Topics))
	for _, t := range d.Topics {
		s.Topics = append(s.Topics, TopicOf(t))
	}
	return s
}

// Wire returns the stream without its topics.
func (s *Stream) Wire() (wire.Stream, error) {
	explicit, derived, err := readOptions(s.Options)
	return wire.Stream{
		ID: s.ID, CreatedAt: s.CreatedAt, TopicsCount: s.TopicsCount, SizeBytes: uint64(s.Size),
		MessagesCount: s.MessagesCount, Name: s.Name, Explicit: explicit, Derived: derived,
	}, err
}

// Details returns the stream with its topics.
func (s *Stream) Details() (d wire.StreamDetails, err error) {
	if d.Stream, err = s.Wire(); err != nil {
		return d, err
	}
	d.Topics, err = each(s.Topics, (*Topic).Wire)
	return d, errors.Join(err, counted("topics", s.TopicsCount, len(s.Topics)))
}

// TopicOf returns a topic as a list of topics has it.
func TopicOf(t wire.Topic) Topic {
	return Topic{
		CreatedAt: t.CreatedAt, ID: t.ID, MessagesCount: t.MessagesCount, Name: t.Name,
		Options: OptionsOf(t.Explicit, t.Derived), PartitionsCount: t.PartitionsCount, Size: Size(t.SizeBytes),
	}
}

// TopicDetailsOf returns a topic with its partitions.
func TopicDetailsOf(d wire.TopicDetails) Topic {
	t := TopicOf(d.Topic)
	t.Partitions = make([]Partition, 0, len(d.Partitions))
	for i := range d.Partitions {
		p := &d.Partitions[i]
		t.Partitions = append(t.Partitions, Partition{
			Context: ContextOf(p.Context), CreatedAt: p.CreatedAt, CurrentOffset: p.CurrentOffset, ID: p.ID,
			InSyncMembers: numbersOf(p.InSync), Members: numbersOf(p.Members), MessagesCount: p.MessagesCount,
			SegmentsCount: p.SegmentsCount, Size: Size(p.SizeBytes),
		})
	}
	return t
}

// Wire returns the topic without its partitions.
func (t *Topic) Wire() (wire.Topic, error) {
	explicit, derived, err := readOptions(t.Options)
	return wire.Topic{
		ID: t.ID, CreatedAt: t.CreatedAt, PartitionsCount: t.PartitionsCount, SizeBytes: uint64(t.Size),
		MessagesCount: t.MessagesCount, Name: t.Name, Explicit: explicit, Derived: derived,
	}, err
}

// Details returns the topic with its partitions.
func (t *Topic) Details() (d wire.TopicDetails, err error) {
	if d.Topic, err = t.Wire(); err != nil {
		return d, err
	}
	d.Partitions, err = each(t.Partitions, (*Partition).wire)
	return d, errors.Join(err, counted("partitions", t.PartitionsCount, len(t.Partitions)))
}

func (p *Partition) wire() (wire.TopicPartition, error) {
	members, err := p.Members.bytes()
	if err != nil {
		return wire.TopicPartition{}, err
	}
	inSync, err := p.InSyncMembers.bytes()
	return wire.TopicPartition{
		ID: p.ID, CreatedAt: p.CreatedAt, SegmentsCount: p.SegmentsCount, CurrentOffset: p.CurrentOffset,
		SizeBytes: uint64(p.Size), MessagesCount: p.MessagesCount, Context: p.Context.Wire(), Members: members, InSync: inSync,
	}, err
}

// ContextOf returns the context of a partition.
func ContextOf(c wire.PartitionContext) Context {
	return Context{Incarnation: c.Incarnation, MetadataOp: c.MetadataOp, OwnerGeneration: c.OwnerGeneration}
}

// Wire returns the context as headers of frames have it.
func (c Context) Wire() wire.PartitionContext {
	return wire.PartitionContext{Incarnation: c.Incarnation, OwnerGeneration: c.OwnerGeneration, MetadataOp: c.MetadataOp}
}

// GroupOf returns a group as a list of groups has it.
func GroupOf(g wire.Group) Group {
	return Group{ID: g.ID, MembersCount: g.MembersCount, Name: g.Name, PartitionsCount: g.PartitionsCount}
}

// GroupDetailsOf returns a group with its members.
func GroupDetailsOf(d wire.GroupDetails) Group {
	g := GroupOf(d.Group)
	g.Members = make([]Member, 0, len(d.Members))
	for _, m := range d.Members {
		g.Members = append(g.Members, Member{ID: m.ID, Partitions: m.Partitions, PartitionsCount: uint32(len(m.Partitions))})
	}
	return g
}

// Wire returns the group without its members.
func (g *Group) Wire() (wire.Group, error) {
	return wire.Group{ID: g.ID, PartitionsCount: g.PartitionsCount, MembersCount: g.MembersCount, Name: g.Name}, nil
}

// Details returns the group with its members.
func (g *Group) Details() (d wire.GroupDetails, err error) {
	d.Group, _ = g.Wire()
	for _, m := range g.Members {
		d.Members = append(d.Members, wire.GroupMember{ID: m.ID, Partitions: m.Partitions})
	}
	return d, counted("members", g.MembersCount, len(g.Members))
}

// counted wants that a list is as long as its count.
func counted(what string, count uint32, length int) error {
	if uint64(count) != uint64(length) {
		return fmt.Errorf("%s: %w", what, errCount)
	}
	return nil
}

// each converts the items of a list. No items are nil.
func each[From, To any](from []From, convert func(*From) (To, error)) ([]To, error) {
	var all []To
	for i := range from {
		to, err := convert(&from[i])
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		all = append(all, to)
	}
	return all, nil
}

func numbersOf(b []uint8) Numbers {
	n := make(Numbers, 0, len(b))
	for _, v := range b {
		n = append(n, uint32(v))
	}
	return n
}

// bytes returns numbers that have to be small.
func (n Numbers) bytes() ([]uint8, error) {
	var b []uint8
	for _, v := range n {
		if v > math.MaxUint8 {
			return nil, fmt.Errorf("number %d: %w", v, errCount)
		}
		b = append(b, uint8(v))
	}
	return b, nil
}

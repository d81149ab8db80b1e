package broker

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/runnel-go/runnel/transport/wire"
)

// startBits is how far apart the positions in the log of the metadata are with which a broker begins on the same store one
// after the other: so many changes are more than one makes. Positions grow over all of them, though they are not stored.
const startBits = 40

var errEntry = errors.New("malformed entry")

// loaded are the entries of a store.
type loaded struct {
	counted counted
	streams []streamEntry
	topics  []topicEntry
	users   []userEntry
	offsets map[uint64][]loadedOffset // by the life of the partition
}

// loadedOffset is an offset of a partition that may be gone.
type loadedOffset struct {
	entry  string // key of the entry
	key    offsetKey
	offset uint64
}

// add reads one entry.
func (l *loaded) add(key string, value []byte) error {
	var err error
	switch {
	case key == countersKey:
		err = json.Unmarshal(value, &l.counted)
	case strings.HasPrefix(key, streamPrefix):
		err = appendEntry(&l.streams, value)
	case strings.HasPrefix(key, topicPrefix):
		err = appendEntry(&l.topics, value)
	case strings.HasPrefix(key, userPrefix):
		err = appendEntry(&l.users, value)
	case strings.HasPrefix(key, offsetPrefix):
		err = l.addOffset(key, value)
	default:
		err = errEntry
	}
	if err != nil {
		return fmt.Errorf("entry %q: %w", key, err)
	}
	return nil
}

func appendEntry[T any](to *[]T, value []byte) error {
	var e T
	err := json.Unmarshal(value, &e)
	*to = append(*to, e)
	return err
}

// addOffset reads what [partition.offsetEntry] makes.
func (l *loaded) addOffset(entry string, value []byte) error {
	const head = len(offsetPrefix) + 10
	offset, n := binary.Uvarint(value)
	if n != len(value) || n == 0 || len(entry) <= head {
		return errEntry
	}
	life := binary.BigEndian.Uint64([]byte(entry[len(offsetPrefix):]))
	o := loadedOffset{entry: entry, key: offsetKey{kind: wire.ConsumerKind(entry[head-2])}, offset: offset}
	rest := entry[head:]
	switch named := entry[head-1] == 1; {
	case named:
		o.key.id = wire.Named(rest)
	case len(rest) == 4:
		o.key.id = wire.ID(binary.BigEndian.Uint32([]byte(rest)))
	default:
		return errEntry
	}
	l.offsets[life] = append(l.offsets[life], o)
	return nil
}

// load takes over what the store has. known is false if that is nothing.
func (b *Broker) load() (known bool, err error) {
	l := loaded{offsets: map[uint64][]loadedOffset{}}
	starts, err := b.config.Store.Load(l.add)
	if err != nil {
		return false, err
	}
	b.op = starts << startBits
	b.lives = max(b.lives, l.counted.Lives)
	b.takeUsers(&l)
	if err := b.takeStreams(&l); err != nil {
		return false, err
	}
	return b.users.len() > 0, b.clean(&l)
}

func (b *Broker) takeUsers(l *loaded) {
	slices.SortFunc(l.users, func(x, y userEntry) int { return cmp.Compare(x.ID, y.ID) })
	for _, e := range l.users {
		u := &user{
			id: e.ID, name: e.Name, createdAt: e.CreatedAt, status: e.Status, permissions: e.Permissions,
			password: passwordHash{salt: [16]byte(append(e.Salt, make([]byte, 16)...)), rounds: e.Rounds, key: e.Key},
			tokens:   map[string]*accessToken{},
		}
		for _, te := range e.Tokens {
			t := &accessToken{name: te.Name, user: u, expiryAt: te.ExpiryAt}
			copy(t.hash[:], te.Hash)
			u.tokens[t.name], b.tokens[t.hash] = t, t
		}
		b.users.put(u)
	}
	b.users.next = l.counted.NextUser
}

func (b *Broker) takeStreams(l *loaded) error {
	slices.SortFunc(l.streams, func(x, y streamEntry) int { return cmp.Compare(x.ID, y.ID) })
	for _, e := range l.streams {
		s := &stream{id: e.ID, name: e.Name, createdAt: e.CreatedAt, settings: settingsOf(e.Options)}
		s.topics.next = e.NextTopic
		b.streams.put(s)
	}
	b.streams.next = l.counted.NextStream
	slices.SortFunc(l.topics, func(x, y topicEntry) int { return cmp.Compare(x.ID, y.ID) })
	for i := range l.topics {
		e := &l.topics[i]
		s, ok := b.streams.find(wire.ID(e.Stream))
		if !ok {
			return fmt.Errorf("entry %q: stream %d: %w", topicKey(e.Stream, e.ID), e.Stream, errEntry)
		}
		if err := b.takeTopic(s, e, l); err != nil {
			return err
		}
	}
	return nil
}

func settingsOf(entries map[string]valueEntry) settings {
	s := settings{}
	for key, e := range entries {
		s[key] = wire.Value(e)
	}
	return s
}

func (b *Broker) takeTopic(s *stream, e *topicEntry, l *loaded) error {
	t := &topic{id: e.ID, name: e.Name, createdAt: e.CreatedAt, settings: settingsOf(e.Options)}
	s.topics.put(t)
	for _, ge := range e.Groups {
		t.groups.put(&group{id: ge.ID, name: ge.Name, topic: topicOf{s, t}, owned: map[uint32]*owning{}, version: b.op})
	}
	t.groups.next = e.NextGroup
	for i, pe := range e.Partitions {
		p := &partition{
			id: uint32(i), createdAt: pe.CreatedAt, incarnation: pe.Incarnation, life: pe.Life, offsets: map[offsetKey]uint64{},
		}
		if err := b.open(p, topicOf{s, t}); err != nil {
			return fmt.Errorf("partition %d/%d/%d: %w", s.id, t.id, p.id, err)
		}
		t.partitions = append(t.partitions, p)
		b.parts++
		p.op.Store(b.op)
		span := p.log.Span()
		p.latest = span.Latest
		b.logged.Add(int64(span.Bytes))
		for _, o := range l.offsets[p.life] {
			p.offsets[o.key] = o.offset
		}
		delete(l.offsets, p.life)
	}
	return nil
}

// clean removes what is left of partitions that are gone.
func (b *Broker) clean(l *loaded) error {
	var left []Change
	for _, offsets := range l.offsets {
		for _, o := range offsets {
			left = append(left, Change{Key: o.entry})
		}
	}
	if len(left) > 0 {
		if err := b.config.Store.Commit(left...); err != nil {
			return err
		}
	}
	return b.config.Store.Prune()
}

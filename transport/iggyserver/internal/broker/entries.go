package broker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// What a store has of a broker: an entry for each stream, topic and user as JSON, one for what is counted, and a short one
// for each offset. Groups are in the entry of their topic and tokens in that of their user, so that what belongs together
// changes together. Names of fields are what older stores have: they stay.
const (
	countersKey  = "counters"
	streamPrefix = "stream/"
	topicPrefix  = "topic/"
	userPrefix   = "user/"
	offsetPrefix = "offset/"
)

// counted are the numbers that are not used twice.
type counted struct {
	NextStream uint32 `json:"nextStream"`
	NextUser   uint32 `json:"nextUser"`
	Lives      uint64 `json:"lives"`
}

type streamEntry struct {
	ID        uint32                `json:"id"`
	Name      string                `json:"name"`
	CreatedAt uint64                `json:"createdAt"`
	Options   map[string]valueEntry `json:"options,omitempty"`
	NextTopic uint32                `json:"nextTopic"`
}

type valueEntry struct {
	Kind wire.Kind `json:"kind"`
	Data []byte    `json:"data"`
}

type topicEntry struct {
	Stream     uint32                `json:"stream"`
	ID         uint32                `json:"id"`
	Name       string                `json:"name"`
	CreatedAt  uint64                `json:"createdAt"`
	Options    map[string]valueEntry `json:"options,omitempty"`
	Partitions []partitionEntry      `json:"partitions"`
	Groups     []groupEntry          `json:"groups,omitempty"`
	NextGroup  uint32                `json:"nextGroup"`
}

type partitionEntry struct {
	CreatedAt   uint64 `json:"createdAt"`
	Incarnation uint64 `json:"incarnation"`
	Life        uint64 `json:"life"`
}

type groupEntry struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
}

type userEntry struct {
	ID          uint32            `json:"id"`
	Name        string            `json:"name"`
	CreatedAt   uint64            `json:"createdAt"`
	Status      wire.UserStatus   `json:"status"`
	Salt        []byte            `json:"salt"`
	Rounds      int               `json:"rounds"`
	Key         []byte            `json:"key"`
	Permissions *wire.Permissions `json:"permissions,omitempty"`
	Tokens      []tokenEntry      `json:"tokens,omitempty"`
}

type tokenEntry struct {
	Name     string `json:"name"`
	Hash     []byte `json:"hash"`
	ExpiryAt uint64 `json:"expiryAt,omitempty"`
}

// save commits changes before the memory has them: if that is not possible nothing changes.
func (b *Broker) save(changes ...Change) wire.Code {
	if err := b.config.Store.Commit(changes...); err != nil {
		return codeCannotWriteToFile // the store tells whoever runs it
	}
	return 0
}

// setting is a change that sets an entry.
func setting(key string, entry any) Change {
	value, _ := json.Marshal(entry) // the types above have no value that is an error
	return Change{Key: key, Value: value}
}

func (b *Broker) counters() Change {
	return setting(countersKey, counted{NextStream: b.streams.next, NextUser: b.users.next, Lives: b.lives})
}

func streamKey(id uint32) string        { return fmt.Sprint(streamPrefix, id) }
func topicKey(stream, id uint32) string { return fmt.Sprint(topicPrefix, stream, "/", id) }
func userKey(id uint32) string          { return fmt.Sprint(userPrefix, id) }

func (s *stream) entry() Change {
	return setting(streamKey(s.id), streamEntry{
		ID: s.id, Name: s.name, CreatedAt: s.createdAt, Options: s.settings.entries(), NextTopic: s.topics.next,
	})
}

func (s settings) entries() map[string]valueEntry {
	e := make(map[string]valueEntry, len(s))
	for key, v := range s {
		e[key] = valueEntry(v)
	}
	return e
}

// entry is that of the topic with other partitions than it may have now.
func (t *topic) entry(stream *stream, partitions []*partition) Change {
	e := topicEntry{
		Stream: stream.id, ID: t.id, Name: t.name, CreatedAt: t.createdAt, Options: t.settings.entries(),
		Partitions: make([]partitionEntry, len(partitions)), NextGroup: t.groups.next,
	}
	for i, p := range partitions {
		e.Partitions[i] = partitionEntry{CreatedAt: p.createdAt, Incarnation: p.incarnation, Life: p.life}
	}
	for _, g := range t.groups.all() {
		e.Groups = append(e.Groups, groupEntry{ID: g.id, Name: g.name})
	}
	return setting(topicKey(stream.id, t.id), e)
}

func (u *user) entry() Change {
	e := userEntry{
		ID: u.id, Name: u.name, CreatedAt: u.createdAt, Status: u.status, Permissions: u.permissions,
		Salt: u.password.salt[:], Rounds: u.password.rounds, Key: u.password.key,
	}
	for _, t := range u.sortedTokens() {
		e.Tokens = append(e.Tokens, tokenEntry{Name: t.name, Hash: t.hash[:], ExpiryAt: t.expiryAt})
	}
	return setting(userKey(u.id), e)
}

// offsetEntry is the entry of an offset.
func (p *partition) offsetEntry(of offsetKey, offset uint64) Change {
	return Change{Key: p.offsetKey(of), Value: binary.AppendUvarint(nil, offset)}
}

// offsetKey is the key of the entry of an offset: the life of the partition, and whose it is.
func (p *partition) offsetKey(of offsetKey) string {
	key := make([]byte, 0, len(offsetPrefix)+14+len(of.id.Name))
	key = append(key, offsetPrefix...)
	key = binary.BigEndian.AppendUint64(key, p.life)
	key = append(key, byte(of.kind))
	if of.id.Name != "" {
		return string(append(append(key, 1), of.id.Name...))
	}
	return string(binary.BigEndian.AppendUint32(append(key, 0), of.id.Number))
}

// withoutOffsets are the changes that remove all offsets of partitions.
func withoutOffsets(partitions []*partition) []Change {
	var changes []Change
	for _, p := range partitions {
		for key := range p.offsets {
			changes = append(changes, Change{Key: p.offsetKey(key)})
		}
	}
	return changes
}

// withoutTopic are the changes that remove a topic.
func withoutTopic(s *stream, t *topic) []Change {
	return append(withoutOffsets(t.partitions), Change{Key: topicKey(s.id, t.id)})
}

package broker

import (
	"time"

	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/transport/wire"
)

// Config says how a broker behaves. The zero value works: every field has a default.
type Config struct {
	// Username and Password are those of the root user, who may do everything. Default: iggy and iggy.
	Username, Password string
	// PasswordRounds is how often PBKDF2 hashes a password with SHA-512. Default: 210,000. Few make guessing cheap, many make each
	// login slow.
	PasswordRounds int
	// Version is the newest protocol that is spoken, and what logins are told; all patches of its minor version from
	// Oldest on are taken. Default: 0.12.2 and 0.12.0.
	Version, Oldest wire.Version
	// ServerVersion is what logins are told, too. Default: 0.10.0.
	ServerVersion string
	// Node is what the roster says of this server, see [Broker.SetNode]. Default: the ports of the protocol at 127.0.0.1.
	Node wire.ClusterNode
	// Clock tells the time and waits. Default: that of the machine.
	Clock Clock
	// Store keeps what is to be there after a restart. Default: memory, which forgets everything. Of a store that was in
	// use, Username and Password are not looked at: the root user is what it was.
	Store Store
	// Heartbeat is how often a member of a group has to be heard: one that is silent for 1.2 times as long loses its
	// connections and its partitions. Default: 30 s.
	Heartbeat time.Duration
	// RejoinGrace is how long a member keeps its partitions without any connection. Default: 3 s. Short times move
	// partitions though the member comes back, long ones let them rest though it does not.
	RejoinGrace time.Duration
	// HandoverTimeout is how long a partition waits for its owner to commit what it has read before it goes to another
	// member. Default: 30 s.
	HandoverTimeout time.Duration
	// MaxWait is the longest wait of a read, whatever it asks for. Default: 30 s.
	MaxWait time.Duration
	// Limits bound what clients can make the broker keep.
	Limits Limits
}

// Limits bound what clients can make a broker keep. A field that is 0 gets its default.
type Limits struct {
	// Sessions is the number of sessions; the one that was without a connection for the longest makes room. Default: 1024.
	Sessions int
	// InFlight is the number of requests that one connection may have at work; further ones wait. Default: 256.
	InFlight int
	// Waits is the number of reads of one session that may wait; further ones get code 90. Default: 64.
	Waits int
	// KeptReplies is the number of writes of a session that a repeat is recognised for. Default: 1024.
	KeptReplies int
	// KeptReplyBytes is the size of the replies to them that are kept for each session. Default: 256 KiB.
	KeptReplyBytes int
	// ReadBytes is the size of the messages in one reply, but for one message that is larger. Default: 8 MiB.
	ReadBytes int
	// UnsentBytes is the size of the messages in the replies of a connection that are not written yet; further reads wait.
	// One reply may be beyond. Default: 32 MiB.
	UnsentBytes int64
	// LogBytes is the size of all messages; a send beyond gets code 3009. Default: 4 GiB.
	LogBytes int64
	// Streams, Topics (of a stream) and Partitions (of all topics) bound the metadata. Default: 1024, 1024 and 20,000.
	Streams, Topics, Partitions int
	// Groups is the number of groups of a topic, Users that of users, Tokens that of the tokens of a user. Default: 256,
	// 1024 and 100.
	Groups, Users, Tokens int
	// Offsets is the number of offsets that a partition stores, Producers the number of idempotent producers it knows:
	// the one that was silent for the longest is forgotten. Default: 4096 and 1024.
	Offsets, Producers int
}

// Clock tells the time and waits. It has the methods of the clock of a pipeline.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// withDefaults returns the configuration with its empty fields filled in.
func (c Config) withDefaults() Config {
	or(&c.Username, "iggy")
	or(&c.Password, "iggy")
	or(&c.PasswordRounds, 210_000)
	or(&c.Version, wire.Version0122)
	or(&c.Oldest, wire.Version0120)
	or(&c.ServerVersion, "0.10.0")
	or(&c.Node, wire.ClusterNode{Name: "runnel", Host: "127.0.0.1", TCP: 8090, QUIC: 8080, HTTP: 3000, WebSocket: 8092})
	or(&c.Clock, Clock(wallclock.Clock{}))
	or(&c.Heartbeat, 30*time.Second)
	or(&c.RejoinGrace, 3*time.Second)
	or(&c.HandoverTimeout, 30*time.Second)
	or(&c.MaxWait, 30*time.Second)
	or(&c.Store, Store(memStore{}))
	l := &c.Limits
	or(&l.Sessions, 1024)
	or(&l.InFlight, 256)
	or(&l.Waits, 64)
	or(&l.KeptReplies, 1024)
	or(&l.KeptReplyBytes, 256<<10)
	or(&l.ReadBytes, 8<<20)
	or(&l.UnsentBytes, 32<<20)
	or(&l.LogBytes, 4<<30)
	or(&l.Streams, 1024)
	or(&l.Topics, 1024)
	or(&l.Partitions, 20_000)
	or(&l.Groups, 256)
	or(&l.Users, 1024)
	or(&l.Tokens, 100)
	or(&l.Offsets, 4096)
	or(&l.Producers, 1024)
	return c
}

// or gives a field its default if it is empty.
func or[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

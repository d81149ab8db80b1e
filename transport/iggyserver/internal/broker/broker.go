package broker

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// Broker is one server. Its methods may be called concurrently.
//
// Locks: mu comes first, then the lock of a partition, then that of a log or of waiters. Messages are checked, stored and
// copied without mu.
type Broker struct {
	config  Config
	hashing chan struct{} // holds a place for each password that is hashed at the moment
	decoy   passwordHash  // what the passwords of unknown users are compared with
	closing chan struct{}
	seed    maphash.Seed // of the prints of requests
	started time.Time
	logged  atomic.Int64 // bytes of messages in all logs

	mu       sync.Mutex
	closed   bool                      // guarded by mu, as all that follows
	op       uint64                    // position in the log of the metadata: grows with each change
	lives    uint64                    // the last incarnation of a partition
	links    map[uint32]*Link          // by number
	lastLink uint32                    // the last number
	sessions map[wire.Uint128]*session // by client id
	users    shelf[*user]              // by id and name
	tokens   map[[32]byte]*accessToken // by the hash of the token
	streams  shelf[*stream]            // by id and name
	node     wire.ClusterNode          // what the roster says
	parts    int                       // number of all partitions
	moving   map[*group]bool           // groups in which a partition waits to be handed over
}

// New makes a broker that goes on with what the store has, or with a root user and nothing else. It starts no goroutine:
// [Broker.Run] does what time brings.
func New(config Config) (*Broker, error) {
	b := &Broker{
		config:   config.withDefaults(),
		hashing:  make(chan struct{}, 2), // logins must not take all processors
		closing:  make(chan struct{}),
		seed:     maphash.MakeSeed(),
		links:    map[uint32]*Link{},
		sessions: map[wire.Uint128]*session{},
		tokens:   map[[32]byte]*accessToken{},
		moving:   map[*group]bool{},
	}
	b.started = b.config.Clock.Now()
	b.node = b.config.Node
	b.lives = micros(b.started) // so that no life of an earlier server comes back
	known, err := b.load()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load: %w", err), b.closeLogs())
	}
	if b.decoy, err = hashPassword("", b.config.PasswordRounds); err == nil && !known {
		err = b.addRoot()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("root user: %w", err), b.closeLogs())
	}
	return b, nil
}

// addRoot makes the root user.
func (b *Broker) addRoot() error {
	hash, err := hashPassword(b.config.Password, b.config.PasswordRounds)
	if err != nil {
		return err
	}
	root := &user{
		id: b.users.take(), name: b.config.Username, password: hash, status: wire.UserActive, createdAt: micros(b.started),
		tokens: map[string]*accessToken{},
	}
	b.users.put(root)
	return b.config.Store.Commit(b.counters(), root.entry())
}

// sweepInterval is how often Run looks for what time has ended.
const sweepInterval = time.Second

// Run does what time brings: it ends memberships of clients that are silent, and hands over partitions whose owners do
// not commit. It returns nil when ctx ends or the broker is closed.
func (b *Broker) Run(ctx context.Context) error {
	for {
		tick, stop := b.config.Clock.After(sweepInterval)
		select {
		case <-tick:
			b.sweep(b.config.Clock.Now())
		case <-ctx.Done():
			stop()
			return nil
		case <-b.closing:
			stop()
			return nil
		}
	}
}

// Close ends all waits and links, and closes the logs. It returns the first error of a log. A second call does nothing.
func (b *Broker) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	close(b.closing)
	for _, l := range b.links {
		l.end(nil)
	}
	return b.closeLogs()
}

// closeLogs ends the use of all partitions. It returns the first error.
func (b *Broker) closeLogs() error {
	var first error
	for _, s := range b.streams.all() {
		for _, t := range s.topics.all() {
			if err := t.close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// SetNode replaces what the roster says of this server, once its listeners know their ports. A client wants that of its
// transport not to be 0.
func (b *Broker) SetNode(node wire.ClusterNode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.node = node
}

// now returns the time in microseconds since 1970.
func (b *Broker) now() uint64 { return micros(b.config.Clock.Now()) }

func micros(t time.Time) uint64 { return uint64(t.UnixMicro()) }

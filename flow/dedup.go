package flow

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/runnel-go/runnel"
)

// Dedup keeps the first record of each key and counts the others as filtered, as far as it remembers.
//
//	in   --a--b--a--c--b--|
//	Dedup(key)
//	out  --a--b-----c-----|
//
// It remembers the newest max keys that it has let through, each for ttl since then by the pipeline's clock; 0 means that
// time does not matter. A key that was forgotten is let through again. Memory is in proportion to max at most: a key that
// is a string is copied. In a key of another type, strings that are a part of something larger (a line, a block of
// several values) keep all of that in memory; copy them with strings.Clone.
//
// The memory is not part of checkpoints: a restart, of the program or by [runnel.Restart], begins with none, and lets
// through what comes again. Where nothing may come twice, use a sink that is idempotent or transactional.
//
// Order and metadata stay as they are. A panic of key goes by the error policy. One copy runs: [runnel.Parallel] is
// refused.
func Dedup[K comparable, T any](s runnel.Stream[T], key func(T) K, max int, ttl time.Duration, opts ...runnel.StageOption) runnel.Stream[T] {
	opts = atLeast("the number of keys", max, 1, needs(key != nil, opts))
	if ttl < 0 {
		opts = with(opts, runnel.Invalid(errors.New("the time to remember is negative")))
	}
	return runnel.Apply(s, "dedup", nil, func(env runnel.StageEnv) (runnel.Stage[T, T], error) {
		return &dedupStage[K, T]{key: key, clock: env.Clock, seen: newMemory[K](max, ttl)}, nil
	}, with(opts, runnel.Single(), runnel.NoTimeout())...)
}

type dedupStage[K comparable, T any] struct {
	key   func(T) K
	clock runnel.Clock
	seen  *memory[K]
	rows  []int32
}

// Process keeps the records of a batch whose keys are new.
func (d *dedupStage[K, T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	d.seen.expire(d.clock.Now())
	return each(ctx, in, out, d)
}

func (d *dedupStage[K, T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) (int, error) {
	d.rows = d.rows[:0]
	n, err := d.pick(in.Values())
	emitKept(in, out, d.rows, n)
	return n, err
}

func (d *dedupStage[K, T]) pick(vals []T) (n int, err error) {
	defer catch(&err)
	now := d.clock.Now()
	for i, v := range vals {
		n = i
		if d.seen.add(d.key(v), now) {
			d.rows = append(d.rows, int32(i))
		}
	}
	return len(vals), nil
}

// memory is a set of the newest keys.
type memory[K comparable] struct {
	max  int
	ttl  time.Duration
	own  func(K) K // returns a key with memory of its own
	set  map[K]struct{}
	keys []remembered[K] // those of set, oldest first, in a ring
	head int             // index of the oldest
	n    int             // how many there are
}

type remembered[K comparable] struct {
	key   K
	until time.Time
}

func newMemory[K comparable](max int, ttl time.Duration) *memory[K] {
	return &memory[K]{max: max, ttl: ttl, own: owner[K](), set: make(map[K]struct{})}
}

// owner returns what copies a key that is a string, which may be a part of something larger.
func owner[K comparable]() func(K) K {
	if _, ok := any(*new(K)).(string); !ok {
		return func(key K) K { return key }
	}
	return func(key K) K {
		text, _ := any(key).(string)
		own, _ := any(strings.Clone(text)).(K)
		return own
	}
}

// add remembers a key and says whether it is new.
func (m *memory[K]) add(key K, now time.Time) bool {
	if key != key {
		return true // not a number: no other key equals it, and it could never be taken out of the set
	}
	if _, ok := m.set[key]; ok {
		return false
	}
	if m.n == m.max {
		m.forget()
	}
	key = m.own(key)
	m.set[key] = struct{}{}
	m.push(remembered[K]{key, now.Add(m.ttl)})
	return true
}

// expire forgets what was remembered for long enough.
func (m *memory[K]) expire(now time.Time) {
	for m.ttl > 0 && m.n > 0 && !m.keys[m.head].until.After(now) {
		m.forget()
	}
}

// forget forgets the oldest key.
func (m *memory[K]) forget() {
	delete(m.set, m.keys[m.head].key)
	m.keys[m.head] = remembered[K]{}
	m.head = (m.head + 1) % len(m.keys)
	m.n--
}

// push adds a key behind the newest.
func (m *memory[K]) push(r remembered[K]) {
	if m.n == len(m.keys) {
		grown := make([]remembered[K], min(max(16, 2*m.n), m.max))
		copied := copy(grown, m.keys[m.head:])
		copy(grown[copied:], m.keys[:m.head])
		m.keys, m.head = grown, 0
	}
	m.keys[(m.head+m.n)%len(m.keys)] = r
	m.n++
}

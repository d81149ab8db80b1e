package runneltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Group is a system whose partitions move between its members, as those of a consumer group do: it keeps the committed
// offsets, and a commit counts only if it comes from the owner of the partition. Its methods are safe for concurrent
// use.
type Group[T any] struct {
	guard
	tb         testing.TB
	partitions map[string]*groupPartition[T] // guarded by mu
	ended      bool                          // guarded by mu
	generation uint64                        // of the newest assignment; guarded by mu
}

// groupPartition is guarded by the group's lock.
type groupPartition[T any] struct {
	values     []T
	committed  int
	owner      *Member[T] // nil: nobody
	generation uint64     // of the owner's assignment
	refused    int        // commits that came too late
}

// NewGroup returns a group with empty partitions and without members.
func NewGroup[T any](tb testing.TB, partitions ...string) *Group[T] {
	g := &Group[T]{tb: tb, partitions: make(map[string]*groupPartition[T])}
	for _, name := range partitions {
		g.partitions[name] = &groupPartition[T]{}
	}
	return g
}

// Append adds values to a partition.
func (g *Group[T]) Append(partition string, values ...T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.partitions[partition]
	p.values = append(p.values, values...)
	g.broadcast()
}

// End ends all partitions behind what they hold. It does not wait.
func (g *Group[T]) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.broadcast()
}

// Committed returns the offset of the partition that is read next by who gets it.
func (g *Group[T]) Committed(partition string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.partitions[partition].committed
}

// AwaitCommitted waits until the offset of the partition is n at least.
func (g *Group[T]) AwaitCommitted(partition string, n int) {
	g.tb.Helper()
	g.await(g.tb, func() bool { return g.partitions[partition].committed >= n }, func() string {
		return fmt.Sprintf("offset %d of partition %s to be committed; %d is", n, partition, g.partitions[partition].committed)
	})
}

// Refused returns how many commits of the partition were refused, as they came from who did not own it any more.
func (g *Group[T]) Refused(partition string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.partitions[partition].refused
}

// Member returns a new member, which owns nothing yet. It is a source.
func (g *Group[T]) Member() *Member[T] {
	return &Member[T]{g: g, owned: make(map[string]*runnel.Assignment)}
}

// Member is a member of a [Group], as a source whose partitions can move to another process.
type Member[T any] struct {
	g      *Group[T]
	owned  map[string]*runnel.Assignment // nil while no run has the member open; guarded by g.mu
	reader *memberReader[T]              // of the run; guarded by g.mu
}

var _ runnel.Source[int] = (*Member[int])(nil)

// Describe says that the partitions can move.
func (m *Member[T]) Describe() runnel.Traits {
	return runnel.Traits{Kind: "member", Replay: true, Moving: true}
}

// Assign gives partitions that nobody owns to the member, before a run or while it goes on.
func (m *Member[T]) Assign(partitions ...string) {
	g := m.g
	g.tb.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range partitions {
		p := g.partitions[name]
		if p.owner != nil {
			g.tb.Errorf("runneltest: partition %s has an owner", name)
			continue
		}
		g.generation++
		p.owner, p.generation = m, g.generation
		m.owned[name] = nil
		if m.reader != nil {
			m.reader.begin(name)
		}
	}
	g.broadcast()
}

// Revoke takes a partition from the member as a rebalance does: it stops the partition, has what was read of it drained
// and committed, and gives it up. The end of ctx bounds the wait. Revoke returns nil if everything was committed; else
// the error says why not, and what was not committed is abandoned. The partition is given up in any case.
func (m *Member[T]) Revoke(ctx context.Context, partition string) error {
	outcome := make(chan error, 1)
	m.g.mu.Lock()
	r := m.reader
	if r == nil {
		m.giveUp(partition)
		m.g.mu.Unlock()
		return nil
	}
	r.stopped[partition] = true
	r.drains = append(r.drains, func(err error) { outcome <- err })
	m.g.broadcast()
	m.g.mu.Unlock()
	var err error
	select {
	case err = <-outcome:
	case <-r.gone:
		err = runnel.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	m.giveUp(partition)
	return err
}

// Lose takes a partition from the member at once, as when the group has thrown it out.
func (m *Member[T]) Lose(partition string) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	m.giveUp(partition)
}

// giveUp ends an assignment. The lock is held.
func (m *Member[T]) giveUp(partition string) {
	p := m.g.partitions[partition]
	if p.owner != m {
		return
	}
	p.owner = nil
	if a := m.owned[partition]; a != nil {
		a.Revoke()
	}
	delete(m.owned, partition)
	if m.reader != nil {
		delete(m.reader.at, partition)
		m.reader.dropped = append(m.reader.dropped, partition)
	}
	m.g.broadcast()
}

// Open reads what the member owns, from the committed offsets.
func (m *Member[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	if len(from) > 0 {
		return nil, fmt.Errorf("runneltest: a member keeps its own position and was given %d partitions of one", len(from))
	}
	m.reader = &memberReader[T]{
		m: m, name: env.Name, max: max(env.MaxBatch, 1), gone: make(chan struct{}),
		at: make(map[string]int), stopped: make(map[string]bool),
	}
	for _, name := range slices.Sorted(maps.Keys(m.owned)) {
		m.reader.begin(name)
	}
	return m.reader, nil
}

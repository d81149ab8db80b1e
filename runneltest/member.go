package runneltest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// memberReader is a member in the hands of one attempt. Its fields are guarded by the group's lock.
type memberReader[T any] struct {
	m       *Member[T]
	name    string
	max     int
	at      map[string]int  // per partition the offset read next
	stopped map[string]bool // partitions that are about to be given up
	dropped []string        // partitions that were, and are still in the position
	drains  []func(error)
	gone    chan struct{} // closed by Close
}

// begin starts to read a partition. The lock is held.
func (r *memberReader[T]) begin(partition string) {
	r.m.owned[partition] = runnel.NewAssignment(r.name, partition)
	r.at[partition] = r.m.g.partitions[partition].committed
	delete(r.stopped, partition)
}

// Read waits for something of any partition, in front of which come drains and the partitions given up.
func (r *memberReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	g := r.m.g
	g.mu.Lock()
	defer g.mu.Unlock()
	var fetch runnel.Fetch[T]
	var end error
	err := g.wait(ctx, func() bool {
		var ok bool
		fetch, end, ok = r.next()
		return ok
	})
	if err != nil {
		return runnel.Fetch[T]{}, err
	}
	return fetch, end
}

// next returns what is to be read, if there is something.
func (r *memberReader[T]) next() (fetch runnel.Fetch[T], err error, ok bool) {
	select {
	case <-r.gone:
		return fetch, runnel.ErrClosed, true
	default:
	}
	if len(r.dropped) > 0 {
		fetch.Position = make(checkpoint.Position)
		for _, name := range r.dropped {
			if _, again := r.at[name]; !again {
				fetch.Position[name] = nil
			}
		}
		r.dropped = nil
		if len(fetch.Position) > 0 {
			return fetch, nil, true
		}
	}
	if len(r.drains) > 0 {
		fetch.Drain = r.drains[0]
		r.drains = r.drains[1:]
		return fetch, nil, true
	}
	for _, name := range slices.Sorted(maps.Keys(r.at)) {
		if !r.stopped[name] && r.at[name] < len(r.m.g.partitions[name].values) {
			return r.fetch(name), nil, true
		}
	}
	return fetch, io.EOF, r.m.g.ended
}

// fetch reads on in a partition.
func (r *memberReader[T]) fetch(name string) runnel.Fetch[T] {
	p := r.m.g.partitions[name]
	lo := r.at[name]
	hi := min(lo+r.max, len(p.values))
	r.at[name] = hi
	values := slices.Clone(p.values[lo:hi])
	return runnel.Fetch[T]{
		Batch:    runnel.NewBatch(values, nil).WithOrigin(r.m.owned[name], int64(lo)),
		Position: checkpoint.Position{name: checkpoint.OffsetToken(int64(hi), binary.AppendUvarint(nil, p.generation))},
	}
}

// Commit moves the offsets of what the member owns in the token's generation, and refuses the rest.
func (r *memberReader[T]) Commit(_ context.Context, pos checkpoint.Position) error {
	g := r.m.g
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for name, token := range pos {
		next, guard, err := checkpoint.ParseOffset(token)
		if err != nil {
			return err
		}
		p := g.partitions[name]
		generation, _ := binary.Uvarint(guard)
		if p.owner != r.m || p.generation != generation {
			p.refused++
			errs = append(errs, fmt.Errorf("runneltest: partition %s in generation %d: %w", name, generation, runnel.ErrNotOwned))
			continue
		}
		p.committed = int(next)
	}
	g.broadcast()
	return errors.Join(errs...)
}

// Close wakes a Read that waits. The member keeps what it owns, for the next attempt.
func (r *memberReader[T]) Close(context.Context) error {
	g := r.m.g
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-r.gone:
		return nil
	default:
	}
	close(r.gone)
	for name, a := range r.m.owned {
		if a != nil {
			a.Revoke() // records of this attempt go no further
		}
		r.m.owned[name] = nil
	}
	if r.m.reader == r {
		r.m.reader = nil
	}
	g.broadcast()
	return nil
}

package runneltest

import (
	"context"
	"fmt"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Probe is a sink that shows a test what has arrived, and between which markers. It acknowledges a marker at once;
// a [Hook] makes it slow or fail. Its methods are safe for concurrent use, during a run and after it.
type Probe[T any] struct {
	guard
	records  []runnel.Record[T] // guarded by mu, like all below
	sections []Section[T]       // complete ones
	batches  []int              // sizes
	start    int                // where the open section starts
	next     checkpoint.Number  // the marker that ends it
}

// Section is what arrived between two markers.
type Section[T any] struct {
	// Values arrived in front of the marker and behind the one before it.
	Values []T
	// Marker is the number of the marker; 0 if it has not come yet.
	Marker checkpoint.Number
}

// NewProbe returns a probe that has received nothing.
func NewProbe[T any]() *Probe[T] { return &Probe[T]{} }

// Values returns the values that arrived so far, in order. What a failure repeated is there twice.
func (p *Probe[T]) Values() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return valuesOf(p.records)
}

func valuesOf[T any](records []runnel.Record[T]) []T {
	values := make([]T, len(records))
	for i, r := range records {
		values[i] = r.Value
	}
	return values
}

// Records returns the records that arrived so far, in order.
func (p *Probe[T]) Records() []runnel.Record[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]runnel.Record[T](nil), p.records...)
}

// Len returns how many records arrived so far.
func (p *Probe[T]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.records)
}

// Batches returns the sizes of the batches that arrived so far.
func (p *Probe[T]) Batches() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int(nil), p.batches...)
}

// Sections returns what arrived between the markers, over all runs; the last section, which no marker has ended yet, is
// there only if it has values.
func (p *Probe[T]) Sections() []Section[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	sections := append([]Section[T](nil), p.sections...)
	if p.start < len(p.records) {
		sections = append(sections, Section[T]{Values: valuesOf(p.records[p.start:])})
	}
	return sections
}

// Await waits until n records have arrived, and returns the values of all that have.
func (p *Probe[T]) Await(tb testing.TB, n int) []T {
	tb.Helper()
	p.await(tb, func() bool { return len(p.records) >= n }, func() string {
		return fmt.Sprintf("%d records to arrive; %d have", n, len(p.records))
	})
	return p.Values()
}

// AwaitMarker waits until marker n, or a later one, has arrived.
func (p *Probe[T]) AwaitMarker(tb testing.TB, n checkpoint.Number) {
	tb.Helper()
	p.await(tb, func() bool {
		return len(p.sections) > 0 && p.sections[len(p.sections)-1].Marker >= n
	}, func() string {
		return fmt.Sprintf("marker %d to arrive; marker %d is next", n, p.next)
	})
}

// Describe names the kind.
func (p *Probe[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "probe"} }

// Open adds to what is there.
func (p *Probe[T]) Open(_ context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = env.From + 1
	p.start = len(p.records) // what no marker ended comes again
	return probeWriter[T]{p}, nil
}

type probeWriter[T any] struct{ p *Probe[T] }

// Write copies the batch.
func (w probeWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.records = appendRecords(w.p.records, batch)
	w.p.batches = append(w.p.batches, batch.Len())
	w.p.broadcast()
	return nil
}

func appendRecords[T any](records []runnel.Record[T], batch runnel.Batch[T]) []runnel.Record[T] {
	for i := range batch.Len() {
		records = append(records, batch.Record(i))
	}
	return records
}

// Flush ends a section. A pipeline flushes once for each marker.
func (w probeWriter[T]) Flush(context.Context) error {
	p := w.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sections = append(p.sections, Section[T]{Values: valuesOf(p.records[p.start:]), Marker: p.next})
	p.start = len(p.records)
	p.next++
	p.broadcast()
	return nil
}

// Close has nothing to do.
func (w probeWriter[T]) Close(context.Context) error { return nil }

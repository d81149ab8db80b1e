package runneltest

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Open reads from a position; from the first record without one. A reader of a run before, which did not close it, is
// closed.
func (d *Driver[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open != nil {
		d.open.closed = true
	}
	at, err := driverOffset(from)
	if err != nil {
		return nil, err
	}
	if d.noReplay {
		at = d.read
	}
	if at > len(d.records) {
		return nil, fmt.Errorf("runneltest: the driver was asked to start at record %d of %d", at, len(d.records))
	}
	d.open = &driverReader[T]{
		d: d, at: at, max: max(env.MaxBatch, 1), origin: runnel.NewAssignment(env.Name, DriverPartition),
	}
	d.broadcast()
	return d.open, nil
}

func driverOffset(pos checkpoint.Position) (int, error) {
	token := pos[DriverPartition]
	if token == nil {
		return 0, nil
	}
	next, _, err := checkpoint.ParseOffset(token)
	return int(next), err
}

// driverReader is a driver in the hands of one attempt. Its fields are guarded by d.mu.
type driverReader[T any] struct {
	d      *Driver[T]
	at     int // the record read next
	max    int
	origin *runnel.Assignment
	closed bool
}

// Read waits for what the test feeds. When it is called, what it returned before has been handed on.
func (r *driverReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	d := r.d
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handed = max(d.handed, r.at)
	d.broadcast()
	err := d.wait(ctx, func() bool {
		return r.closed || r.at < len(d.records) || d.ended || r.failureIsDue() || r.drainIsDue()
	})
	switch {
	case err != nil:
		return runnel.Fetch[T]{}, err
	case r.closed:
		return runnel.Fetch[T]{}, runnel.ErrClosed
	case r.drainIsDue():
		done := d.drains[0].done
		d.drains = d.drains[1:]
		return runnel.Fetch[T]{Drain: done}, nil
	case r.failureIsDue():
		err, d.failure = d.failure.err, nil
		return runnel.Fetch[T]{}, err
	case r.at < len(d.records):
		return r.fetch(), nil
	}
	return runnel.Fetch[T]{}, io.EOF
}

func (r *driverReader[T]) drainIsDue() bool {
	return len(r.d.drains) > 0 && r.d.drains[0].at <= r.at
}

func (r *driverReader[T]) failureIsDue() bool {
	return r.d.failure != nil && r.d.failure.at <= r.at
}

// fetch returns the next records.
func (r *driverReader[T]) fetch() runnel.Fetch[T] {
	d, end := r.d, r.end()
	var f runnel.Fetch[T]
	var values []T
	var meta []runnel.Meta
	var offsets []int64
	for i := r.at; i < end; i++ {
		if err, ok := d.failed[i]; ok {
			m := d.records[i].Meta
			m.Origin = runnel.Origin{Source: r.origin.Source(), Partition: DriverPartition, Offset: int64(i)}
			f.Failed = append(f.Failed, runnel.Failed{Meta: m, Value: d.records[i].Value, Attempts: 1, Err: err})
			continue
		}
		values, meta = append(values, d.records[i].Value), append(meta, d.records[i].Meta)
		offsets = append(offsets, int64(i))
	}
	if len(values) > 0 {
		f.Batch = runnel.NewBatch(values, meta).WithOffsets(r.origin, offsets)
	}
	f.Position = d.Position(end)
	r.at = end
	d.read = max(d.read, end)
	return f
}

// end returns where the next fetch ends: behind what was sent at once, or at a full batch.
func (r *driverReader[T]) end() int {
	end := min(r.at+r.max, len(r.d.records))
	if i, _ := slices.BinarySearch(r.d.cuts, r.at+1); i < len(r.d.cuts) {
		end = min(end, r.d.cuts[i])
	}
	return end
}

// Commit notes what is committed.
func (r *driverReader[T]) Commit(_ context.Context, pos checkpoint.Position) error {
	n, err := driverOffset(pos)
	if err != nil {
		return err
	}
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.d.committed = n
	r.d.commits = append(r.d.commits, n)
	r.d.broadcast()
	return nil
}

// ComparePosition compares offsets.
func (r *driverReader[T]) ComparePosition(_ string, a, b []byte) int {
	c, err := checkpoint.CompareOffsets(a, b)
	if err != nil {
		return 0
	}
	return c
}

// Lag returns how many records were fed and not read.
func (r *driverReader[T]) Lag() map[string]int64 {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	return map[string]int64{DriverPartition: int64(len(r.d.records) - r.at)}
}

// Close wakes a Read that waits. The driver can be opened again.
func (r *driverReader[T]) Close(context.Context) error {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.closed = true
	if r.d.open == r {
		r.d.open = nil
	}
	r.d.broadcast()
	return nil
}

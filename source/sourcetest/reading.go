package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// reading is an open source, and what was read of it.
type reading[T any] struct {
	t      *testing.T
	s      *suite[T]
	sys    System[T]
	r      runnel.Reader[T]
	ctx    context.Context //nolint:containedctx // the one that all reads have
	cancel context.CancelFunc
	max    int // MaxBatch
	want   int // how many records there are to read
	once   sync.Once

	fetches  []runnel.Fetch[T]
	places   []place // of every record, in order
	ends     []int   // how many records there were behind each fetch
	position checkpoint.Position
	at       []checkpoint.Position // behind each fetch
	offsets  map[string]int64      // newest of each partition
	large    bool                  // fetches above max are allowed
	empty    int                   // how many fetches without a record came last
	faults   map[string]int        // how many of each kind there were
}

// place is a record as the suite compares it.
type place struct {
	partition string
	value     string
}

// close closes the reader once, as a pipeline does.
func (rd *reading[T]) close() {
	rd.once.Do(func() {
		soon(rd.t, "Close", func() {
			if err := rd.r.Close(context.Background()); err != nil {
				rd.t.Errorf("Close: %v", err)
			}
		})
	})
}

// closeAgain closes a reader that is closed.
func (rd *reading[T]) closeAgain() {
	soon(rd.t, "Close, called again", func() {
		if err := rd.r.Close(context.Background()); err != nil && !errors.Is(err, runnel.ErrClosed) {
			rd.t.Errorf("Close, called again: %v, want nil or ErrClosed", err)
		}
	})
}

// next reads a fetch, checks it and keeps it. It says whether the source has ended.
func (rd *reading[T]) next() (last bool) {
	rd.t.Helper()
	f, err := rd.read()
	if err != nil && !ended(err) {
		rd.t.Fatalf("Read: %v", err)
	}
	rd.check(f)
	rd.limit(f.Len())
	return err != nil
}

// all reads n records, and the end if the source ends.
func (rd *reading[T]) all(n int, endless bool) {
	rd.t.Helper()
	rd.want = n
	for len(rd.places) < n || !endless {
		if rd.next() {
			return
		}
	}
}

// check checks a fetch and keeps it.
func (rd *reading[T]) check(f runnel.Fetch[T]) {
	t := rd.t
	t.Helper()
	if len(f.Failed) > 0 {
		t.Fatalf("a record could not be decoded: %v", f.Failed[0].Err)
	}
	if f.Len() > rd.max && !rd.large {
		rd.faultf("a fetch has %d records, and MaxBatch is %d", f.Len(), rd.max)
	}
	if f.Len() > 0 && len(f.Position) == 0 {
		t.Fatal("records without a position")
	}
	if f.Drain != nil {
		f.Drain(nil)
	}
	rd.advance(f.Position)
	for i := range f.Len() {
		rd.checkRecord(f, i)
	}
	rd.fetches = append(rd.fetches, f)
	rd.ends = append(rd.ends, len(rd.places))
	rd.at = append(rd.at, rd.position.Clone())
}

func (rd *reading[T]) checkRecord(f runnel.Fetch[T], i int) {
	m := f.Meta(i)
	rd.t.Helper()
	if m.Origin.Source != sourceName {
		rd.faultf("a record says that it is from %q, and the source is named %q", m.Origin.Source, sourceName)
	}
	if _, ok := f.Position[m.Origin.Partition]; !ok {
		rd.faultf("a record is from partition %q, and the fetch has no position of it", m.Origin.Partition)
	}
	if before, ok := rd.offsets[m.Origin.Partition]; ok && m.Origin.Offset <= before {
		rd.faultf("offset %d of partition %q comes behind offset %d", m.Origin.Offset, m.Origin.Partition, before)
	}
	rd.offsets[m.Origin.Partition] = m.Origin.Offset
	rd.places = append(rd.places, place{m.Origin.Partition, rd.sys.show(f.Values()[i])})
}

// advance takes over the tokens of the partitions that moved, which may be neither empty nor before those they replace.
func (rd *reading[T]) advance(moved checkpoint.Position) {
	rd.t.Helper()
	if rd.position == nil {
		rd.position = make(checkpoint.Position)
	}
	compare, _ := rd.r.(runnel.PositionComparer)
	for partition, token := range moved {
		former := rd.position[partition]
		switch {
		case token == nil:
			delete(rd.position, partition)
			continue
		case len(token) == 0:
			rd.t.Fatalf("the position of partition %q is empty", partition)
		case former != nil && compare != nil && compare.ComparePosition(partition, token, former) < 0:
			rd.faultf("the position of partition %q goes back", partition)
		}
		rd.position[partition] = token
	}
}

// byPartition returns the values of each partition, in order.
func byPartition(places []place) map[string][]string {
	all := make(map[string][]string)
	for _, p := range places {
		all[p.partition] = append(all[p.partition], p.value)
	}
	return all
}

// requireSame fails the test unless both have the same values per partition, in order.
func requireSame(t *testing.T, what string, want, got []place) {
	t.Helper()
	w, g := byPartition(want), byPartition(got)
	for _, partition := range slices.Sorted(maps.Keys(w)) {
		if !slices.Equal(w[partition], g[partition]) {
			t.Fatalf("%s: of partition %q came %s, want %s", what, partition, brief(g[partition]), brief(w[partition]))
		}
	}
	for partition := range g {
		if _, ok := w[partition]; !ok {
			t.Fatalf("%s: %d records came of partition %q, want none", what, len(g[partition]), partition)
		}
	}
}

// requireValues fails the test unless the records have exactly the values of the system.
func requireValues[T any](t *testing.T, sys System[T], got []place) {
	t.Helper()
	count := make(map[string]int)
	for _, p := range got {
		count[p.value]++
	}
	for _, v := range sys.Values {
		key := sys.show(v)
		if count[key]--; count[key] < 0 {
			t.Fatalf("%d records came, and %s is missing", len(got), key)
		}
	}
	if len(got) != len(sys.Values) {
		t.Fatalf("%d records came, want %d", len(got), len(sys.Values))
	}
}

// brief shows a list of values by its length and its ends.
func brief(values []string) string {
	if len(values) <= 4 {
		return fmt.Sprint(values)
	}
	return fmt.Sprintf("%d values, %s … %s", len(values), values[0], values[len(values)-1])
}

package runnel

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBatchesAgreeWithRowsWhateverIsDoneToThem(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		m := newMaker(seed)
		b, rows := m.batch(1 + m.IntN(6))
		for step := range 8 {
			requireRows(t, rows, b, "seed %d, step %d", seed, step)
			former, formerRows := b, rows
			b, rows = m.changed(b, rows)
			requireRows(t, formerRows, former, "seed %d, step %d changed the batch before it", seed, step)
		}
		requireRows(t, rows, b, "seed %d", seed)
	}
}

func TestCloneOutlivesTheMemoryOfItsBatch(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		m := newMaker(seed)
		b, rows := m.batch(1 + m.IntN(6))
		changed, want := m.changed(b, rows)
		c := changed.Clone()
		b.release()
		m.letGo()
		again, _ := m.batch(b.Len()) // in the memory of b
		requireRows(t, want, c, "seed %d", seed)
		again.release()
	}
}

func TestNewBatchKeepsMetadataOfEveryRecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		m := newMaker(seed)
		var values []string
		var meta []Meta
		var want []modelRow
		for range 1 + m.IntN(6) {
			values, meta = append(values, m.value()), append(meta, m.meta())
			want = append(want, rowOf(Record[string]{values[len(values)-1], meta[len(meta)-1]}))
		}
		requireRows(t, want, NewBatch(values, meta), "seed %d", seed)
	}
}

func TestBatchWithoutMetadataHasNone(t *testing.T) {
	t.Parallel()
	b := NewBatch([]int{1, 2}, nil)
	require.Equal(t, Meta{}, b.Meta(1))
	require.Equal(t, []int{1, 2}, b.Clone().Values())
	require.Equal(t, Record[int]{Value: 2}, b.Slice(1, 2).Record(0))
	require.Zero(t, Batch[int]{}.Len())
}

func TestValuesOfASliceDoNotGrowIntoTheRest(t *testing.T) {
	t.Parallel()
	b := NewBatch([]int{1, 2, 3}, nil)
	_ = append(b.Slice(0, 1).Values(), 9)
	require.Equal(t, []int{1, 2, 3}, b.Values())
}

// What is derived from a batch uses the memory of its columns, so who holds the one holds the other.
func TestDerivedBatchKeepsTheMemoryOfTheFirstFromBeingUsedAgain(t *testing.T) {
	t.Parallel()
	derived := map[string]func(Batch[string]) Batch[string]{
		"as it is":     func(b Batch[string]) Batch[string] { return b },
		"a slice":      func(b Batch[string]) Batch[string] { return b.Slice(1, 3) },
		"with times":   func(b Batch[string]) Batch[string] { return b.WithTimes(make([]time.Time, b.Len())) },
		"with headers": func(b Batch[string]) Batch[string] { return b.WithHeaders(make([]Headers, b.Len())) },
		"with origin":  func(b Batch[string]) Batch[string] { return b.WithOrigin(NewAssignment("x", "y"), 0) },
		"twice changed": func(b Batch[string]) Batch[string] {
			return b.WithTimes(make([]time.Time, b.Len())).Slice(1, 3).WithHeaders(make([]Headers, 2))
		},
	}
	for name, derive := range derived {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var buffers Buffers[string]
			b := keyed(&buffers, "first", 3)
			d := derive(b)
			d.retain()  // by a channel
			b.release() // by the reader
			keyed(&buffers, "second", 3)
			for i := range d.Len() {
				require.Contains(t, string(d.Meta(i).Key), "first")
				require.Contains(t, d.Values()[i], "first")
			}
			d.release()
		})
	}
}

func keyed(buffers *Buffers[string], name string, n int) Batch[string] {
	draft := buffers.Take(n)
	keys := draft.Keys()
	for i := range keys {
		draft.Values[i] = fmt.Sprint(name, i)
		keys[i] = []byte(draft.Values[i])
	}
	return draft.Batch(n)
}

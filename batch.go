package runnel

import (
	"sync"
	"sync/atomic"
	"time"
)

// Batch is the unit that moves through a pipeline: values, and their metadata in columns beside them. A column that no
// record has takes no memory.
//
// A batch that a stage or a writer receives is valid until the call returns and is not to be changed: branches of a
// stream share it. Who keeps it calls [Batch.Clone]; values taken out of it may be kept as they are.
type Batch[T any] struct {
	values []T
	cols   *columns  // nil: no record has metadata
	at     int       // row of cols that belongs to values[0]
	block  *block[T] // owner of the memory of values; nil leaves it to the garbage collector
}

// block is memory for values that goes back to its pool when the last holder is done.
type block[T any] struct {
	values []T
	home   *sync.Pool
	refs   atomic.Int32
}

func (b *block[T]) retain() {
	if b != nil {
		b.refs.Add(1)
	}
}

func (b *block[T]) release() {
	if b != nil && b.refs.Add(-1) == 0 {
		clear(b.values)
		b.values = b.values[:0]
		b.home.Put(b)
	}
}

// NewBatch returns a batch of values with their metadata, which is nil or as long as values. The slices are given away.
func NewBatch[T any](values []T, meta []Meta) Batch[T] {
	if len(meta) == 0 {
		return Batch[T]{values: values}
	}
	cols := &columns{}
	for i := range values {
		cols.add(&meta[i])
	}
	return Batch[T]{values: values, cols: cols}
}

// WithKeys returns the batch with these keys, one for each value. The slice is given away.
func (b Batch[T]) WithKeys(keys [][]byte) Batch[T] {
	b = b.ownColumns()
	b.cols.keys = keys[:len(b.values)]
	return b
}

// WithTimes returns the batch with these event times, one for each value. The slice is given away.
func (b Batch[T]) WithTimes(times []time.Time) Batch[T] {
	b = b.ownColumns()
	b.cols.times = times[:len(b.values)]
	return b
}

// WithHeaders returns the batch with these headers, one list for each value. The slice is given away.
func (b Batch[T]) WithHeaders(headers []Headers) Batch[T] {
	b = b.ownColumns()
	b.cols.headers = headers[:len(b.values)]
	return b
}

// WithOrigin returns the batch as read under one assignment, with offsets that count up from first.
func (b Batch[T]) WithOrigin(a *Assignment, first int64) Batch[T] {
	b = b.ownColumns()
	b.cols.origin, b.cols.origins = a, nil
	b.cols.base, b.cols.offsets = first, nil
	return b
}

// WithOffsets returns the batch as read under one assignment, with an offset for each value. The slice is given away.
func (b Batch[T]) WithOffsets(a *Assignment, offsets []int64) Batch[T] {
	b = b.ownColumns()
	b.cols.origin, b.cols.origins = a, nil
	b.cols.offsets = offsets[:len(b.values)]
	return b
}

// ownColumns returns the batch with a set of columns that nobody else has and that starts at row 0. The memory of each
// column is still that of the former set, which is kept with it.
func (b Batch[T]) ownColumns() Batch[T] {
	own := &columns{rows: len(b.values)}
	lo, hi := b.at, b.at+len(b.values)
	switch c := b.cols; {
	case c == nil:
	case c.of != nil:
		own.rows = 0
		own.addRows(c.of, 0, c.picks[lo:hi])
	default:
		own.shares = c
		own.keys = window(c.keys, lo, hi)
		own.times = window(c.times, lo, hi)
		own.headers = window(c.headers, lo, hi)
		own.origin, own.origins = c.origin, window(c.origins, lo, hi)
		own.base, own.offsets = c.base+int64(lo), window(c.offsets, lo, hi)
	}
	b.cols, b.at = own, 0
	return b
}

func window[E any](column []E, lo, hi int) []E {
	if len(column) == 0 {
		return nil
	}
	return column[lo:hi:hi]
}

// Len returns the number of records.
func (b Batch[T]) Len() int { return len(b.values) }

// Values returns the values, to be read only.
func (b Batch[T]) Values() []T { return b.values }

// Meta returns the metadata of record i.
func (b Batch[T]) Meta(i int) Meta {
	if b.cols == nil {
		return Meta{}
	}
	return b.cols.meta(b.at + i)
}

// Record returns record i.
func (b Batch[T]) Record(i int) Record[T] { return Record[T]{b.values[i], b.Meta(i)} }

// Slice returns the records from lo to hi, hi left out, without copying.
func (b Batch[T]) Slice(lo, hi int) Batch[T] {
	b.values = b.values[lo:hi:hi]
	b.at += lo
	return b
}

// Clone returns a copy that stays valid. Values and metadata are copied as Go's assignment does: what they point at is
// shared.
func (b Batch[T]) Clone() Batch[T] {
	c := Batch[T]{values: append([]T(nil), b.values...)}
	if b.cols == nil {
		return c
	}
	own := b.ownColumns().cols
	c.cols = &columns{
		rows: own.rows, origin: own.origin, base: own.base,
		keys:    append([][]byte(nil), own.keys...),
		times:   append([]time.Time(nil), own.times...),
		headers: append([]Headers(nil), own.headers...),
		origins: append([]*Assignment(nil), own.origins...),
		offsets: append([]int64(nil), own.offsets...),
	}
	return c
}

// Replace returns a batch of other values with the metadata of b, which is not copied. There is one value for each
// record of b.
func Replace[I, O any](b Batch[I], values []O) Batch[O] {
	return Batch[O]{values: values[:len(b.values):len(b.values)], cols: b.cols, at: b.at}
}

// retain keeps the memory of the batch from being used again until release.
func (b Batch[T]) retain() {
	b.block.retain()
	b.cols.retain()
}

func (b Batch[T]) release() {
	b.block.release()
	b.cols.release()
}

// revoked says whether any record was read under an assignment that has ended.
func (b Batch[T]) revoked() bool {
	c := b.cols
	if c == nil || len(b.values) == 0 {
		return false
	}
	if shared, _ := c.unpick(b.at); len(shared.origins) == 0 {
		return shared.origin != nil && shared.origin.Revoked()
	}
	for i := range b.values {
		if a := c.assignment(b.at + i); a != nil && a.Revoked() {
			return true
		}
	}
	return false
}

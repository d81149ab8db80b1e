package runnel

import (
	"sync"
	"time"
)

// Buffers recycles the memory of the batches that a reader makes: it comes back when the pipeline is done with a batch,
// so that a steady stream allocates nothing. The zero value is ready. It is safe for concurrent use and not copied.
type Buffers[T any] struct {
	blocks  sync.Pool
	columns sync.Pool
}

// Draft is a batch that is being filled. Each method that returns a column adds it to the batch. What is in a column, or
// in Values, before it is set is undefined.
type Draft[T any] struct {
	// Values are the values, to be filled in.
	Values []T

	block *block[T]
	cols  *columns
	from  *Buffers[T]
}

// Take returns a draft of n records.
func (b *Buffers[T]) Take(n int) Draft[T] {
	bl, _ := b.blocks.Get().(*block[T])
	if bl == nil {
		bl = &block[T]{home: &b.blocks}
	}
	if cap(bl.values) < n {
		bl.values = make([]T, n)
	}
	bl.refs.Store(1)
	bl.values = bl.values[:n]
	return Draft[T]{Values: bl.values, block: bl, from: b}
}

// Keys returns the column of keys, to be filled in.
func (d *Draft[T]) Keys() [][]byte {
	c := d.columns()
	c.keys = extend(c.keys[:0], len(d.Values))
	return c.keys
}

// Times returns the column of event times, to be filled in.
func (d *Draft[T]) Times() []time.Time {
	c := d.columns()
	c.times = extend(c.times[:0], len(d.Values))
	return c.times
}

// Headers returns the column of headers, to be filled in.
func (d *Draft[T]) Headers() []Headers {
	c := d.columns()
	c.headers = extend(c.headers[:0], len(d.Values))
	return c.headers
}

// Offsets returns the column of offsets under an assignment, to be filled in.
func (d *Draft[T]) Offsets(a *Assignment) []int64 {
	c := d.columns()
	c.origin = a
	c.offsets = extend(c.offsets[:0], len(d.Values))
	return c.offsets
}

// Origin says that the records were read under an assignment, with offsets that count up from first.
func (d *Draft[T]) Origin(a *Assignment, first int64) {
	c := d.columns()
	c.origin, c.base, c.offsets = a, first, c.offsets[:0]
}

// Batch returns the first n records of the draft, which is not used any more.
func (d *Draft[T]) Batch(n int) Batch[T] {
	b := Batch[T]{values: d.Values[:n], block: d.block}
	if c := d.cols; c != nil {
		c.cut(n)
		b.cols = c
	}
	return b
}

func (d *Draft[T]) columns() *columns {
	if d.cols == nil {
		d.cols, _ = d.from.columns.Get().(*columns)
		if d.cols == nil {
			d.cols = &columns{home: &d.from.columns}
		}
		d.cols.refs.Store(1)
		d.cols.rows = len(d.Values)
	}
	return d.cols
}

// cut leaves the first n rows.
func (c *columns) cut(n int) {
	c.rows = n
	c.keys, c.times, c.headers = c.keys[:min(n, len(c.keys))], c.times[:min(n, len(c.times))], c.headers[:min(n, len(c.headers))]
	c.offsets = c.offsets[:min(n, len(c.offsets))]
}

package runnel

import (
	"sync"
	"sync/atomic"
	"time"
)

// columns holds the metadata of a batch side by side. A column that no row has is nil; an origin that all rows share,
// and offsets that count up from the first row, are stored once.
//
// A set may also be picked: its rows are some of another set's, which are not copied.
type columns struct {
	rows    int
	keys    [][]byte
	times   []time.Time
	headers []Headers
	origin  *Assignment   // of every row, unless origins is set
	origins []*Assignment // by row
	base    int64         // offset of row 0, unless offsets is set
	offsets []int64       // by row

	home   *sync.Pool // where the memory goes when the last holder is done; nil leaves it to the garbage collector
	refs   atomic.Int32
	shares *columns // whose memory this set uses; nil if it has its own. Who holds this one holds that one

	of    *columns // whose rows these are, which is not picked itself and is held; nil if this set is not picked
	picks []int32  // by row: the row of the other set
}

// retain adds a holder.
func (c *columns) retain() {
	switch {
	case c == nil:
	case c.shares != nil:
		c.shares.retain()
	case c.home != nil:
		c.refs.Add(1)
	}
}

// release takes a holder away.
func (c *columns) release() {
	switch {
	case c == nil:
	case c.shares != nil:
		c.shares.release()
	case c.home != nil && c.refs.Add(-1) == 0:
		c.of.release()
		c.clear()
		c.home.Put(c)
	}
}

// pick makes an empty set stand for the given rows of from, counted from row at.
func (c *columns) pick(from *columns, at int, rows []int32) {
	c.rows, c.of, c.picks = len(rows), from, extend(c.picks[:0], len(rows))
	if from.of != nil {
		c.of = from.of
		for i, r := range rows {
			c.picks[i] = from.picks[at+int(r)]
		}
	} else {
		for i, r := range rows {
			c.picks[i] = int32(at) + r
		}
	}
	c.of.retain()
}

// unpick returns the set that holds row i, and which row it is there.
func (c *columns) unpick(i int) (*columns, int) {
	if c.of != nil {
		return c.of, int(c.picks[i])
	}
	return c, i
}

// clear forgets all rows and keeps the memory of the columns in use.
func (c *columns) clear() {
	clear(c.keys)
	clear(c.headers)
	clear(c.origins)
	c.rows = 0
	c.keys, c.times, c.headers = c.keys[:0], c.times[:0], c.headers[:0]
	c.origins, c.offsets = c.origins[:0], c.offsets[:0]
	c.origin, c.base = nil, 0
	c.of, c.picks = nil, c.picks[:0]
}

// meta puts row i together.
func (c *columns) meta(i int) Meta {
	var m Meta
	c, i = c.unpick(i)
	if len(c.keys) > 0 {
		m.Key = c.keys[i]
	}
	if len(c.times) > 0 {
		m.Time = c.times[i]
	}
	if len(c.headers) > 0 {
		m.Headers = c.headers[i]
	}
	m.Origin = c.whence(i)
	return m
}

// whence returns where row i was read.
func (c *columns) whence(i int) Origin {
	a := c.assignment(i)
	if a == nil {
		return Origin{}
	}
	return Origin{Source: a.source, Partition: a.partition, Offset: c.offset(i), assignment: a}
}

func (c *columns) assignment(i int) *Assignment {
	c, i = c.unpick(i)
	if len(c.origins) > 0 {
		return c.origins[i]
	}
	return c.origin
}

func (c *columns) offset(i int) int64 {
	c, i = c.unpick(i)
	if len(c.offsets) > 0 {
		return c.offsets[i]
	}
	return c.base + int64(i)
}

// add appends a row.
func (c *columns) add(m *Meta) {
	n := c.rows
	if m.Key != nil || len(c.keys) > 0 {
		c.keys = append(pad(c.keys, n), m.Key)
	}
	if !m.Time.IsZero() || len(c.times) > 0 {
		c.times = append(pad(c.times, n), m.Time)
	}
	if m.Headers != nil || len(c.headers) > 0 {
		c.headers = append(pad(c.headers, n), m.Headers)
	}
	c.addOrigin(m.Origin.owner(c), m.Origin.Offset)
	c.rows++
}

// addRow appends row r of from, or a row without metadata where from is nil.
func (c *columns) addRow(from *columns, r int) {
	if from == nil {
		c.add(&Meta{})
		return
	}
	from, r = from.unpick(r)
	n := c.rows
	if len(from.keys) > 0 || len(c.keys) > 0 {
		c.keys = append(pad(c.keys, n), cell(from.keys, r))
	}
	if len(from.times) > 0 || len(c.times) > 0 {
		c.times = append(pad(c.times, n), cell(from.times, r))
	}
	if len(from.headers) > 0 || len(c.headers) > 0 {
		c.headers = append(pad(c.headers, n), cell(from.headers, r))
	}
	c.addOrigin(from.assignment(r), from.offset(r))
	c.rows++
}

// cell returns row r of a column, or a zero value if the column is left out.
func cell[E any](column []E, r int) (e E) {
	if len(column) > 0 {
		e = column[r]
	}
	return e
}

// addOrigin appends where a row was read, and spreads what rows shared as soon as it differs.
func (c *columns) addOrigin(a *Assignment, offset int64) {
	n := c.rows
	if n == 0 && len(c.offsets) == 0 {
		c.origin, c.base = a, offset
		return
	}
	if a != c.origin || len(c.origins) > 0 {
		for len(c.origins) < n {
			c.origins = append(c.origins, c.origin)
		}
		c.origins = append(c.origins, a)
	}
	if len(c.offsets) > 0 || (offset != c.base+int64(n) && c.last() != nil) {
		for i := len(c.offsets); i < n; i++ {
			c.offsets = append(c.offsets, c.base+int64(i))
		}
		c.offsets = append(c.offsets, offset)
	}
}

// owner returns the assignment that stands for an origin; one that was built by hand gets its own.
func (o *Origin) owner(c *columns) *Assignment {
	if o.assignment != nil || (o.Source == "" && o.Partition == "") {
		return o.assignment
	}
	if last := c.last(); last != nil && last.byHand && last.source == o.Source && last.partition == o.Partition {
		return last
	}
	a := NewAssignment(o.Source, o.Partition)
	a.byHand = true
	return a
}

func (c *columns) last() *Assignment {
	if len(c.origins) > 0 {
		return c.origins[len(c.origins)-1]
	}
	return c.origin
}

// addRows appends the given rows of from, or rows without metadata where from is nil.
func (c *columns) addRows(from *columns, at int, rows []int32) {
	n := c.rows
	switch {
	case from == nil:
		from = &columns{}
	case from.of != nil:
		for _, r := range rows {
			c.addRow(from, at+int(r))
		}
		return
	}
	if len(from.keys) > 0 || len(c.keys) > 0 {
		c.keys = gather(pad(c.keys, n), from.keys, at, rows)
	}
	if len(from.times) > 0 || len(c.times) > 0 {
		c.times = gather(pad(c.times, n), from.times, at, rows)
	}
	if len(from.headers) > 0 || len(c.headers) > 0 {
		c.headers = gather(pad(c.headers, n), from.headers, at, rows)
	}
	c.addOrigins(from, at, rows)
	c.rows += len(rows)
}

func (c *columns) addOrigins(from *columns, at int, rows []int32) {
	n := c.rows
	if n == 0 {
		c.origin = from.origin
	}
	if len(from.origins) > 0 || len(c.origins) > 0 || from.origin != c.origin {
		for len(c.origins) < n {
			c.origins = append(c.origins, c.origin)
		}
		for _, r := range rows {
			c.origins = append(c.origins, from.assignment(at+int(r)))
		}
	}
	if c.origin == nil && len(c.origins) == 0 {
		return // nobody has an origin, so nobody has an offset
	}
	for i := len(c.offsets); i < n; i++ {
		c.offsets = append(c.offsets, c.base+int64(i))
	}
	if len(from.offsets) > 0 {
		c.offsets = gather(c.offsets, from.offsets, at, rows)
		return
	}
	for _, r := range rows {
		c.offsets = append(c.offsets, from.base+int64(at)+int64(r))
	}
}

// pad brings a column that was left out so far to n rows.
func pad[E any](column []E, n int) []E {
	var zero E
	for len(column) < n {
		column = append(column, zero)
	}
	return column
}

// gather appends the given rows of from, counted from row at; a column that from leaves out gives zero values.
func gather[E any](column, from []E, at int, rows []int32) []E {
	if len(from) == 0 {
		return pad(column, len(column)+len(rows))
	}
	from = from[at:]
	n := len(column)
	column = extend(column, len(rows))
	to := column[n:]
	for i, r := range rows {
		to[i] = from[r]
	}
	return column
}

// extend makes room for n more elements whose content is about to be overwritten.
func extend[E any](s []E, n int) []E {
	if need := len(s) + n; need <= cap(s) {
		return s[:need]
	}
	return append(s, make([]E, n)...)
}

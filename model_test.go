package runnel

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// modelRow is one record as a simple model of batches sees it. The value is a number in a string of its own, so that
// memory used twice shows.
type modelRow struct {
	value  string
	key    []byte
	at     time.Time
	names  Headers
	source string
	offset int64
}

func rowOf(r Record[string]) modelRow {
	row := modelRow{value: r.Value, key: r.Key, at: r.Time, names: r.Headers, source: r.Origin.Source + "/" + r.Origin.Partition}
	if row.source != "/" {
		row.offset = r.Origin.Offset
	}
	return row
}

func rowsOf(b Batch[string]) []modelRow {
	rows := make([]modelRow, 0, b.Len())
	for i := range b.Len() {
		rows = append(rows, rowOf(b.Record(i)))
	}
	return rows
}

// maker makes random records and batches, with every combination of columns present and absent.
type maker struct {
	*rand.Rand
	made    int
	owners  []*Assignment
	buffers Buffers[string]
	column  sync.Pool
	picked  []*columns // that were made and are held
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 21))}
	for _, p := range []string{"0", "1"} {
		m.owners = append(m.owners, NewAssignment("in", p))
	}
	return m
}

func (m *maker) value() string {
	m.made++
	return fmt.Sprint("v", m.made)
}

func (m *maker) key() []byte        { return fmt.Append(nil, "k", m.Int64()) }
func (m *maker) time() time.Time    { return time.Unix(m.Int64N(1e9), 0) }
func (m *maker) headers() Headers   { return Headers{{Name: fmt.Sprint("h", m.Int64())}} }
func (m *maker) owner() *Assignment { return m.owners[m.IntN(len(m.owners))] }
func (m *maker) coin() bool         { return m.IntN(2) == 0 }

// meta returns metadata that says each thing or not.
func (m *maker) meta() Meta {
	var meta Meta
	if m.coin() {
		meta.Key = m.key()
	}
	if m.coin() {
		meta.Time = m.time()
	}
	if m.coin() {
		meta.Headers = m.headers()
	}
	switch m.IntN(4) {
	case 0:
		a := m.owner()
		meta.Origin = Origin{Source: a.source, Partition: a.partition, Offset: m.Int64N(5), assignment: a}
	case 1:
		meta.Origin = Origin{Source: "by hand", Offset: m.Int64N(5)}
	case 2:
		meta.Origin.Offset = 7 // means nothing without a source
	}
	return meta
}

// batch returns a batch in memory that is used again, and what is in it.
func (m *maker) batch(n int) (Batch[string], []modelRow) {
	rows := make([]modelRow, n)
	draft := m.buffers.Take(n + m.IntN(3))
	for i := range rows {
		rows[i].value, rows[i].source = m.value(), "/"
		draft.Values[i] = rows[i].value
	}
	if m.coin() {
		column := draft.Keys()
		for i := range rows {
			rows[i].key = m.key()
			column[i] = rows[i].key
		}
	}
	if m.coin() {
		column := draft.Times()
		for i := range rows {
			rows[i].at = m.time()
			column[i] = rows[i].at
		}
	}
	if m.coin() {
		column := draft.Headers()
		for i := range rows {
			rows[i].names = m.headers()
			column[i] = rows[i].names
		}
	}
	m.origins(&draft, rows)
	return draft.Batch(n), rows
}

func (m *maker) origins(draft *Draft[string], rows []modelRow) {
	a, first := m.owner(), m.Int64N(100)
	switch m.IntN(3) {
	case 0:
		draft.Origin(a, first)
		for i := range rows {
			rows[i].source, rows[i].offset = a.source+"/"+a.partition, first+int64(i)
		}
	case 1:
		column := draft.Offsets(a)
		for i := range rows {
			first += m.Int64N(3)
			column[i] = first
			rows[i].source, rows[i].offset = a.source+"/"+a.partition, first
		}
	}
}

// changed returns a batch derived from b, which shares its memory, and what is in it.
func (m *maker) changed(b Batch[string], rows []modelRow) (Batch[string], []modelRow) {
	rows = append([]modelRow{}, rows...)
	switch n := len(rows); m.IntN(9) {
	case 0:
		lo := m.IntN(n + 1)
		hi := lo + m.IntN(n+1-lo)
		return b.Slice(lo, hi), rows[lo:hi]
	case 1:
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = m.key()
			rows[i].key = keys[i]
		}
		return b.WithKeys(keys), rows
	case 2:
		times := make([]time.Time, n)
		for i := range times {
			times[i] = m.time()
			rows[i].at = times[i]
		}
		return b.WithTimes(times), rows
	case 3:
		headers := make([]Headers, n)
		for i := range headers {
			headers[i] = m.headers()
			rows[i].names = headers[i]
		}
		return b.WithHeaders(headers), rows
	case 4:
		a, first := m.owner(), m.Int64N(100)
		for i := range rows {
			rows[i].source, rows[i].offset = a.source+"/"+a.partition, first+int64(i)
		}
		return b.WithOrigin(a, first), rows
	case 5:
		a, offsets := m.owner(), make([]int64, n)
		for i := range rows {
			offsets[i] = m.Int64N(100)
			rows[i].source, rows[i].offset = a.source+"/"+a.partition, offsets[i]
		}
		return b.WithOffsets(a, offsets), rows
	case 6:
		values := make([]string, n)
		for i := range rows {
			values[i] = m.value()
			rows[i].value = values[i]
		}
		return Replace(b, values), rows
	case 7:
		return m.pick(b, rows)
	}
	return b, rows
}

// pick returns some rows of b, whose metadata is not copied.
func (m *maker) pick(b Batch[string], rows []modelRow) (Batch[string], []modelRow) {
	if b.cols == nil || len(rows) == 0 {
		return b, rows
	}
	got := []modelRow{}
	var values []string
	picks := make([]int32, m.IntN(len(rows)+1))
	for i := range picks {
		picks[i] = int32(m.IntN(len(rows)))
		got, values = append(got, rows[picks[i]]), append(values, rows[picks[i]].value)
	}
	c, _ := m.column.Get().(*columns)
	if c == nil {
		c = &columns{home: &m.column}
	}
	c.refs.Store(1)
	c.pick(b.cols, b.at, picks)
	m.picked = append(m.picked, c)
	return Batch[string]{values: values, cols: c}, got
}

// letGo gives back what pick made.
func (m *maker) letGo() {
	for _, c := range m.picked {
		c.release()
	}
	m.picked = nil
}

func requireRows(t *testing.T, want []modelRow, b Batch[string], what ...any) {
	t.Helper()
	require.Equal(t, want, rowsOf(b), what...)
}

package runnel

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/runnel-go/runnel/internal/engine"
	"github.com/stretchr/testify/require"
)

// holder is a next step that keeps batches for a while, as a channel to another task does. Another goroutine looks at
// them, gives them back, and reports the first that was not what it was when it came.
type holder struct {
	max  int
	want []modelRow // emitted and not yet come
	held chan heldBatch
	bad  error
}

type heldBatch struct {
	batch Batch[string]
	rows  []modelRow
}

func newHolder(max int) *holder { return &holder{max: max, held: make(chan heldBatch, 4)} }

func (h *holder) process(_ context.Context, in Batch[string]) error {
	switch n := in.Len(); {
	case n == 0:
		return errors.New("an empty batch")
	case n > h.max:
		return errors.New("a batch that is too long")
	case n > len(h.want):
		return errors.New("records that nobody emitted")
	}
	rows := h.want[:in.Len()]
	h.want = h.want[in.Len():]
	in.retain()
	h.held <- heldBatch{in, rows}
	return nil
}

func (h *holder) control(context.Context, engine.Control) error { return nil }

// look checks what is held until there is no more.
func (h *holder) look() {
	for held := range h.held {
		for i, row := range rowsOf(held.batch) {
			if h.bad == nil && !sameRow(row, held.rows[i]) {
				h.bad = errors.New("got " + row.value + " where " + held.rows[i].value + " was emitted, or other metadata")
			}
		}
		held.batch.release()
	}
}

func sameRow(a, b modelRow) bool {
	return a.value == b.value && string(a.key) == string(b.key) && (a.key == nil) == (b.key == nil) && a.at.Equal(b.at) &&
		len(a.names) == len(b.names) && (len(a.names) == 0 || a.names[0].Name == b.names[0].Name) &&
		a.source == b.source && a.offset == b.offset
}

// emitSome does one random thing with an Out and adds what must come of it to want.
func emitSome(m *maker, o *Out[string], h *holder, in Batch[string], rows []modelRow) {
	switch m.IntN(7) {
	case 6:
		values := o.Buffer(len(rows))
		if m.coin() {
			values = make([]string, len(rows))
		}
		picked := make([]int32, m.IntN(len(rows)+1))
		for i := range picked {
			values[i], picked[i] = m.value(), int32(m.IntN(len(rows)))
			row := rows[picked[i]]
			row.value = values[i]
			h.want = append(h.want, row)
		}
		o.EmitPicked(values[:len(picked)], in.Columns(), picked)
	case 5:
		i, value := m.IntN(len(rows)), m.value()
		row := rows[i]
		row.value = value
		h.want = append(h.want, row)
		o.EmitRow(value, in.Columns(), i)
	case 0:
		r := Record[string]{m.value(), m.meta()}
		h.want = append(h.want, rowOf(r))
		o.Emit(r.Value, r.Meta)
	case 1:
		picked := make([]int32, m.IntN(len(rows)+1))
		for i := range picked {
			picked[i] = int32(m.IntN(len(rows)))
			h.want = append(h.want, rows[picked[i]])
		}
		o.EmitRows(in, picked)
	case 2:
		var all []int32
		for i := range rows {
			all = append(all, int32(i))
		}
		h.want = append(h.want, rows...)
		o.EmitRows(in, all)
	case 3:
		h.want = append(h.want, rows...)
		o.EmitBatch(in)
	case 4:
		values := o.Buffer(len(rows))
		if m.coin() {
			values = make([]string, len(rows))
		}
		for i := range values {
			values[i] = m.value()
			row := rows[i]
			row.value = values[i]
			h.want = append(h.want, row)
		}
		o.EmitValues(values, in.Columns())
	}
}

// Whatever a stage emits, in whatever way, comes in that order with its metadata, in batches that are neither empty nor
// too long, and stays as it is for as long as somebody holds it while memory is used again.
func TestWhatIsEmittedArrivesAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		m, h := newMaker(seed), newHolder(1+int(seed%5))
		o := newOut[string](h, h.max, &engine.Tally{}, nil)
		var looks sync.WaitGroup
		looks.Go(h.look)
		for range 30 {
			b, rows := m.batch(1 + m.IntN(8))
			in, inRows := m.changed(m.changed(b, rows))
			if len(inRows) == 0 {
				in, inRows = b, rows // a stage gets no empty batch
			}
			o.begin(t.Context())
			for range m.IntN(4) {
				emitSome(m, o, h, in, inRows)
			}
			require.NoError(t, o.end(), "seed %d", seed)
			require.Empty(t, h.want, "seed %d: all came before the call was over", seed)
			b.release()
			m.letGo()
		}
		close(h.held)
		looks.Wait()
		require.NoError(t, h.bad, "seed %d", seed)
	}
}

func TestRowsOfABatchMayRepeatAndChangeOrder(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]int32{
		"all": {0, 1, 2, 3}, "turned round": {0, 2, 1, 3}, "repeated": {0, 0, 2, 3}, "some": {3, 1}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := NewBatch([]string{"a", "b", "c", "d"}, nil)
			h := newHolder(4)
			o := newOut[string](h, 4, &engine.Tally{}, nil)
			for _, r := range rows {
				h.want = append(h.want, rowOf(in.Record(int(r))))
			}
			o.begin(t.Context())
			o.EmitRows(in, rows)
			require.NoError(t, o.end())
			close(h.held)
			h.look()
			require.NoError(t, h.bad)
			require.Empty(t, h.want)
		})
	}
}

func TestNothingIsEmittedBehindAStepThatFailed(t *testing.T) {
	t.Parallel()
	o := newOut[string](newHolder(1), 1, &engine.Tally{}, nil) // which fails, as it expects nothing
	o.begin(t.Context())
	o.Emit("a", Meta{})
	o.Emit("b", Meta{})
	o.EmitRows(NewBatch([]string{"c"}, nil), []int32{0})
	o.EmitBatch(NewBatch([]string{"d"}, nil))
	o.EmitValues([]string{"e"}, Columns{})
	o.EmitPicked([]string{"f"}, NewBatch([]string{"f"}, nil).WithOrigin(NewAssignment("in", "0"), 1).Columns(), []int32{0})
	copy(o.Buffer(1), []string{"g"})
	require.ErrorContains(t, o.end(), "nobody emitted")
	require.EqualValues(t, 1, o.tally.Out.Load(), "what failed was counted, and nothing behind it")
}

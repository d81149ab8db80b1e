package runnel

import (
	"context"
	"sync"

	"github.com/runnel-go/runnel/internal/engine"
)

// receiver is what the next step of a task, or the channel to another task, looks like to the step before.
type receiver[T any] interface {
	// process handles a batch, which is valid until it returns.
	process(ctx context.Context, in Batch[T]) error
	// control handles a marker or the end, which comes between two batches.
	control(ctx context.Context, c engine.Control) error
}

// Out takes what a stage emits and hands it on in batches. It belongs to one call of the stage at a time.
type Out[T any] struct {
	next  receiver[T]
	max   int
	tally *engine.Tally
	errs  *policy

	ctx    context.Context //nolint:containedctx // of the call that is emitting: Emit has none
	err    error           // why the next step failed
	block  *block[T]       // values emitted and not handed on
	cols   *columns        // their metadata; nil if none has any
	blocks sync.Pool
	column sync.Pool
}

// firstBlock is how many values the memory of a batch begins with: a stage that emits few at a time, in many copies, does
// not hold a whole batch for each.
const firstBlock = 16

// newOut returns an Out that hands on to next in batches of up to max records.
func newOut[T any](next receiver[T], max int, tally *engine.Tally, errs *policy) *Out[T] {
	return &Out[T]{next: next, max: max, tally: tally, errs: errs}
}

// Emit emits a value with its metadata.
func (o *Out[T]) Emit(value T, meta Meta) {
	if o.err != nil {
		return
	}
	b := o.grab()
	if o.cols != nil || meta.Key != nil || !meta.Time.IsZero() || meta.Headers != nil ||
		meta.Origin.assignment != nil || meta.Origin.Source != "" || meta.Origin.Partition != "" {
		o.grabColumns(len(b.values)).add(&meta)
	}
	b.values = append(b.values, value)
	if len(b.values) >= o.max {
		o.handOn()
	}
}

// EmitRow emits a value with the metadata of one record that came in: row i of in.Columns() is that of record i. It is
// [Out.Emit] without the metadata on the way.
func (o *Out[T]) EmitRow(value T, meta Columns, row int) {
	if o.err != nil {
		return
	}
	b := o.grab()
	if meta.cols != nil || o.cols != nil {
		o.grabColumns(len(b.values)).addRow(meta.cols, meta.at+row)
	}
	b.values = append(b.values, value)
	if len(b.values) >= o.max {
		o.handOn()
	}
}

// EmitRows emits the given records of a batch, in that order, with their metadata.
func (o *Out[T]) EmitRows(in Batch[T], rows []int32) {
	if o.err != nil || len(rows) == 0 {
		return
	}
	b := o.grab()
	if len(b.values) == 0 && len(rows) == in.Len() && isAll(rows) {
		o.hand(in)
		return
	}
	switch {
	case len(b.values) == 0 && in.cols != nil:
		o.newColumns().pick(in.cols, in.at, rows)
	case in.cols != nil || o.cols != nil:
		o.grabColumns(len(b.values)).addRows(in.cols, in.at, rows)
	}
	b.values = gather(b.values, in.values, 0, rows)
	if len(b.values) >= o.max {
		o.handOn()
	}
}

// isAll says whether rows counts up from 0.
func isAll(rows []int32) bool {
	for i, r := range rows {
		if int(r) != i {
			return false
		}
	}
	return true
}

// EmitBatch emits all records of a batch without copying them: one that the stage received, a part of it, or one that
// it made and gives away.
func (o *Out[T]) EmitBatch(b Batch[T]) {
	if o.handOn(); o.err == nil && b.Len() > 0 {
		o.hand(b)
	}
}

// Buffer returns memory for n values, to be filled and given to EmitValues. It is valid until the next call of a
// method of the Out. Its content is undefined.
func (o *Out[T]) Buffer(n int) []T {
	o.handOn()
	b := o.grab()
	if cap(b.values) < n {
		b.values = make([]T, 0, max(n, o.max))
	}
	return b.values[:n]
}

// EmitValues emits values with the metadata of as many records that came in, which is not copied (see [Batch.Columns]).
// The values are from Buffer, or given away.
func (o *Out[T]) EmitValues(values []T, meta Columns) {
	if len(values) == 0 {
		return
	}
	out := Batch[T]{values: values, cols: meta.cols, at: meta.at}
	if b := o.block; b != nil && len(b.values) == 0 && cap(b.values) >= len(values) && &b.values[:1][0] == &values[0] {
		b.values = b.values[:len(values)]
		out.block = b
	} else {
		o.handOn()
	}
	if o.err == nil {
		o.hand(out)
	}
	o.reuse()
}

// EmitPicked emits values with the metadata of as many of the records that came in: of the given rows, which is not
// copied. The values are from Buffer, or given away.
func (o *Out[T]) EmitPicked(values []T, meta Columns, rows []int32) {
	if meta.cols == nil || len(values) == 0 {
		o.EmitValues(values, meta)
		return
	}
	o.handOn()
	picked := o.newColumns()
	picked.pick(meta.cols, meta.at, rows)
	o.EmitValues(values, Columns{cols: picked})
}

// Columns is the metadata of a batch, to be handed on with other values.
type Columns struct {
	cols *columns
	at   int
}

// Columns returns the metadata of the records as it is.
func (b Batch[T]) Columns() Columns { return Columns{b.cols, b.at} }

// Passed says that n records of the input went into what was emitted, or will: into the state. A stage whose outputs do
// not stand for one input each calls it, or Filtered, for every input, so that the ledger can be closed. A stage that
// calls Filtered alone may leave it out where each output stands for one input.
func (o *Out[T]) Passed(n int) {
	o.tally.Own.Store(true)
	o.tally.Passed.Add(int64(n))
}

// Filtered says that n records of the input end here on purpose.
func (o *Out[T]) Filtered(n int) {
	o.tally.Own.Store(true)
	o.tally.Filtered.Add(int64(n))
}

// Retry runs again after a first attempt for a record failed with err, as the stage's [Retry] option says. It returns
// nil once a run succeeded, else the last error, which Fail then takes. The end of a context is not retried.
func (o *Out[T]) Retry(ctx context.Context, err error, again func() error) error {
	return o.errs.retry(ctx, err, again)
}

// Fail gives a record that failed to the stage's error policy: its value and metadata as they were before the stage.
// It returns nil if the record is dropped or dead-lettered; else an error, which ends the run if Process returns it.
func (o *Out[T]) Fail(value any, meta Meta, err error) error {
	return o.errs.fail(o.ctx, value, meta, err)
}

// begin readies the Out for one call of its stage.
func (o *Out[T]) begin(ctx context.Context) { o.ctx = ctx }

// end hands on what the call emitted and returns why that failed, if it did.
func (o *Out[T]) end() error {
	o.handOn()
	return o.err
}

// grab returns the block that is being filled.
func (o *Out[T]) grab() *block[T] {
	if o.block == nil {
		o.block, _ = o.blocks.Get().(*block[T])
		if o.block == nil {
			o.block = &block[T]{values: make([]T, 0, min(o.max, firstBlock)), home: &o.blocks}
		}
		o.block.refs.Store(1)
	}
	return o.block
}

// grabColumns returns the columns that are being filled, which already hold the given number of rows.
func (o *Out[T]) grabColumns(rows int) *columns {
	picked := o.cols
	if picked != nil && picked.of == nil {
		return picked
	}
	c := o.newColumns()
	if picked == nil {
		c.rows = rows
		return c
	}
	c.addRows(picked.of, 0, picked.picks)
	picked.release()
	return c
}

// newColumns begins with columns that hold nothing.
func (o *Out[T]) newColumns() *columns {
	o.cols, _ = o.column.Get().(*columns)
	if o.cols == nil {
		o.cols = &columns{home: &o.column}
	}
	o.cols.refs.Store(1)
	return o.cols
}

// handOn gives what was emitted to the next step.
func (o *Out[T]) handOn() {
	b := o.block
	if b == nil || len(b.values) == 0 {
		return
	}
	if o.err == nil {
		o.hand(Batch[T]{values: b.values, cols: o.cols, block: b})
	}
	o.reuse()
}

// hand gives a batch to the next step, in parts if it is too long.
func (o *Out[T]) hand(b Batch[T]) {
	o.tally.Out.Add(int64(b.Len()))
	for b.Len() > o.max && o.err == nil {
		o.err = o.next.process(o.ctx, b.Slice(0, o.max))
		b = b.Slice(o.max, b.Len())
	}
	if o.err == nil {
		o.err = o.next.process(o.ctx, b)
	}
}

// reuse empties the memory that was handed on, or leaves it to those who still hold it.
func (o *Out[T]) reuse() {
	if b := o.block; b != nil {
		if b.refs.Load() == 1 {
			b.values = b.values[:0]
		} else {
			b.release()
			o.block = nil
		}
	}
	if c := o.cols; c != nil {
		c.release()
		o.cols = nil
	}
}

package filesink

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// writer encodes records into a block and gives full blocks to the file.
type writer[T any] struct {
	sink     *Sink[T]
	to       target
	block    block
	pending  bool // something was written and is not sealed
	prepared bool // a checkpoint is prepared and not committed
	ended    bool // aborted or closed
}

// Write encodes the records of a batch. Those that have no place are refused, the others count as written; what they
// are encoded to may still be in memory.
func (w *writer[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	if w.ended {
		return w.fail(runnel.ErrClosed)
	}
	w.to.tick()
	w.block.begin()
	var bad refused
	for row := 0; row < batch.Len(); {
		if err := w.makeRoom(); err != nil {
			return w.refuse(&batch, &bad, row, err)
		}
		w.pending = true
		next, err := w.encode(&batch, row)
		if err != nil {
			bad.add(next, w.recordError(err))
			next++
		}
		row = next
	}
	if len(w.block.bytes) >= w.sink.cfg.blockBytes {
		if err := w.makeRoom(); err != nil {
			return w.refuse(&batch, &bad, batch.Len(), err)
		}
	}
	return batchError(&batch, &bad)
}

// encode encodes records from row on until one is refused, the block or the file is full, or there are no more. It
// returns the next row, or with an error the one that it is about.
func (w *writer[T]) encode(batch *runnel.Batch[T], row int) (next int, err error) {
	defer func() {
		if v := recover(); v != nil {
			next, err = row, &runnel.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	for row < batch.Len() {
		bytes, err := w.sink.encode(w.block.bytes, batch, row)
		if err != nil {
			return row, err
		}
		w.block.add(bytes, row)
		row++
		w.to.count()
		if len(bytes) >= w.sink.cfg.blockBytes || w.to.full(len(bytes)) {
			break
		}
	}
	return row, nil
}

// makeRoom writes the block if it, or the file, is full.
func (w *writer[T]) makeRoom() error {
	full := w.to.full(len(w.block.bytes))
	if !full && len(w.block.bytes) < w.sink.cfg.blockBytes {
		return nil
	}
	if err := w.writeBlock(); err != nil {
		return err
	}
	if full {
		return w.to.next()
	}
	return nil
}

// writeBlock gives the block to the file. What the file does not take stays in the block.
func (w *writer[T]) writeBlock() error {
	n, err := w.to.part().body.Write(w.block.bytes, w.block.ends)
	if err != nil {
		w.block.taken(n)
		return err
	}
	w.block.clear(w.sink.cfg.blockBytes)
	return nil
}

// refuse returns the records of the batch that have no place: those in the block, and those from row on.
func (w *writer[T]) refuse(batch *runnel.Batch[T], bad *refused, row int, cause error) error {
	rows := w.block.refuse()
	part := w.to.part()
	part.Records -= int64(len(rows))
	if len(rows) == 0 && row == batch.Len() {
		// Everything of this batch has its place; the next call finds out whether there is more of it.
		return batchError(batch, bad)
	}
	err := fmt.Errorf("from record %d on: %w", part.Records+1, cause)
	err = w.fail(err)
	for _, r := range rows {
		bad.add(r, err)
	}
	for ; row < batch.Len(); row++ {
		bad.add(row, err)
	}
	return batchError(batch, bad)
}

// Flush makes everything written durable, by what an acknowledgement means.
func (w *writer[T]) Flush(context.Context) error {
	_, err := w.seal()
	if err == nil {
		w.sink.origin = origin{}
	}
	return err
}

// Prepare makes everything written durable, and returns the length of the file and the names that are due.
func (w *writer[T]) Prepare(context.Context, checkpoint.Number) ([]byte, error) {
	t, err := w.seal()
	if err != nil {
		return nil, err
	}
	w.prepared = true
	token, err := t.encode()
	return token, w.fail(err)
}

// seal writes what is in memory. After an error it may be called again: nothing is dropped.
func (w *writer[T]) seal() (*token, error) {
	if w.ended {
		return nil, w.fail(runnel.ErrClosed)
	}
	if err := w.writeBlock(); err != nil {
		return nil, w.fail(err)
	}
	t, err := w.to.seal()
	if err != nil {
		return nil, w.fail(err)
	}
	w.pending = false
	return t, nil
}

// Commit gives finished files their names.
func (w *writer[T]) Commit(_ context.Context, _ checkpoint.Number, prepared []byte) error {
	t, err := decodeToken(prepared)
	if err != nil {
		return w.fail(err)
	}
	if t == nil {
		return w.fail(errors.New("commit without a token"))
	}
	if err := w.to.commit(t); err != nil {
		return w.fail(err)
	}
	w.prepared = false
	w.sink.origin = origin{}
	return nil
}

// Abort gives up what was written since the last Prepare. What was prepared stays until the next Open, which knows
// whether its checkpoint was decided. Nothing can be written afterwards.
func (w *writer[T]) Abort(context.Context) error {
	if w.ended {
		return nil
	}
	w.ended, w.pending = true, true
	w.block.clear(0)
	return w.fail(w.to.abort())
}

// Close closes the file. At a clean end the last of numbered files gets its name.
func (w *writer[T]) Close(context.Context) error {
	if w.to == nil {
		return nil
	}
	err := w.to.close(!w.pending && !w.prepared)
	w.ended, w.to, w.block = true, nil, block{}
	w.sink.open.Store(false)
	return w.fail(err)
}

// fail names the file in an error, and marks one after which the same may be done again.
func (w *writer[T]) fail(err error) error {
	if err == nil {
		return nil
	}
	placed := at(w.sink.path, err)
	if fileconn.WriteCanBeRepeated(err) {
		return runnel.AsRetryable(placed)
	}
	return placed
}

// recordError names the record that is not encoded: the next one of the file.
func (w *writer[T]) recordError(err error) error {
	return w.fail(fmt.Errorf("record %d: %w", w.to.part().Records+1, err))
}

// refused are rows of a batch with what is wrong with each.
type refused struct {
	rows []int
	errs map[int]error
}

func (r *refused) add(row int, err error) {
	if r.errs == nil {
		r.errs = make(map[int]error)
	}
	r.rows = append(r.rows, row)
	r.errs[row] = err
}

// batchError returns the refused records in their order, or nil if there is none.
func batchError[T any](batch *runnel.Batch[T], r *refused) error {
	if len(r.rows) == 0 {
		return nil
	}
	slices.Sort(r.rows)
	e := &runnel.BatchError[T]{}
	for _, row := range r.rows {
		e.Failed = append(e.Failed, batch.Record(row))
		e.Errs = append(e.Errs, r.errs[row])
	}
	return e
}

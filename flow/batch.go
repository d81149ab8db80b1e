package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel"
)

// Batch gathers records into slices of up to max, and of fewer once the first of them has waited for linger.
//
//	in   --1--2--3-----4-----------|
//	Batch(2, 1s)
//	out  -----[1 2]----[3 4]-------|
//
// max is at least 1. A linger of 0 means as long as it takes, and it is not negative. A checkpoint emits what there is,
// so a linger beyond the checkpoint interval (5 s unless set) has no effect. See [BatchOf], which also limits bytes and
// says the rest.
func Batch[T any](s runnel.Stream[T], max int, linger time.Duration, opts ...runnel.StageOption) runnel.Stream[[]T] {
	var errs []error
	if max < 1 {
		errs = append(errs, fmt.Errorf("max is %d; it must be at least 1", max))
	}
	if linger < 0 {
		errs = append(errs, fmt.Errorf("linger is %v; it must be 0 (as long as it takes) or more", linger))
	}
	return batch(s, BatchSpec[T]{Count: max, Linger: linger}, errors.Join(errs...), opts)
}

// BatchSpec says when a batch is complete: at the first limit that is reached. Count or Bytes is set, so that memory has
// a limit.
type BatchSpec[T any] struct {
	// Count is the greatest number of records. The default 0 means no limit.
	Count int
	// Bytes is the greatest sum of sizes, as Size gives them; a record that is larger goes alone. The default 0 means no
	// limit.
	Bytes int
	// Size returns the size of a value in bytes, and counts as 1 at least. It is required with Bytes. A panic of it goes
	// by the error policy.
	Size func(T) int
	// Linger is how long the first record of a batch waits for others. The default 0 means as long as it takes.
	Linger time.Duration
}

// BatchOf gathers records into slices, as spec says.
//
//	in   --aa--b--ccc--|
//	BatchOf(Bytes: 3)
//	out  ------[aa b]--[ccc]|
//
// The concatenation of the batches is the input, in order; no batch is empty. Nothing is held across a marker: each
// checkpoint, and the end of the stream, emits what there is, so a linger beyond the checkpoint interval has no effect.
// A batch has the greatest event time and the first origin of its records, and neither key nor headers; its records are
// acknowledged when it is. The slice is the receiver's own. The linger goes by the pipeline's clock. One copy runs:
// [runnel.Parallel] is refused.
func BatchOf[T any](s runnel.Stream[T], spec BatchSpec[T], opts ...runnel.StageOption) runnel.Stream[[]T] {
	return batch(s, spec, spec.validate(), opts)
}

// batch adds the stage. invalid is what is wrong with spec, by the names that the caller knows; nil if nothing is.
func batch[T any](s runnel.Stream[T], spec BatchSpec[T], invalid error, opts []runnel.StageOption) runnel.Stream[[]T] {
	own := []runnel.StageOption{runnel.Lingers(spec.Linger), runnel.Single(), runnel.NoTimeout(), runnel.Invalid(invalid)}
	open := func(env runnel.StageEnv) (runnel.Stage[T, []T], error) {
		return &batchStage[T]{spec: spec, clock: env.Clock}, nil
	}
	return runnel.Apply(s, "batch", nil, open, with(opts, own...)...)
}

// validate returns every mistake in the limits.
func (s BatchSpec[T]) validate() error {
	var errs []error
	if s.Count < 0 {
		errs = append(errs, fmt.Errorf("Count is %d; it must be 0 (no limit) or more", s.Count))
	}
	if s.Bytes < 0 {
		errs = append(errs, fmt.Errorf("Bytes is %d; it must be 0 (no limit) or more", s.Bytes))
	}
	if s.Linger < 0 {
		errs = append(errs, fmt.Errorf("Linger is %v; it must be 0 (as long as it takes) or more", s.Linger))
	}
	if s.Count == 0 && s.Bytes == 0 {
		errs = append(errs, errors.New("neither Count nor Bytes is set; one of them must be at least 1"))
	}
	if s.Bytes > 0 && s.Size == nil {
		errs = append(errs, errors.New("Bytes is set and Size is not"))
	}
	return errors.Join(errs...)
}

type batchStage[T any] struct {
	spec  BatchSpec[T]
	clock runnel.Clock

	held  []T
	bytes int
	meta  runnel.Meta // of the batch
	due   time.Time
	last  int // size of the batch before
}

var (
	_ runnel.Flusher[[]int] = (*batchStage[int])(nil)
	_ runnel.Timed[[]int]   = (*batchStage[int])(nil)
)

// Process adds a batch to what is held, and emits what is complete.
func (b *batchStage[T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[[]T]) error {
	return each(ctx, in, out, b)
}

func (b *batchStage[T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[[]T]) (n int, err error) {
	defer catch(&err)
	for i, v := range in.Values() {
		n = i
		size := 0
		if b.spec.Bytes > 0 {
			size = max(b.spec.Size(v), 1) // else values without size would be held without limit
		}
		b.add(v, size, in.Meta(i), out)
	}
	return in.Len(), nil
}

func (b *batchStage[T]) add(v T, size int, meta runnel.Meta, out *runnel.Out[[]T]) {
	if b.spec.Bytes > 0 && b.bytes+size > b.spec.Bytes {
		b.emit(out)
	}
	if len(b.held) == 0 {
		b.held = make([]T, 0, b.last)
		b.meta = runnel.Meta{Time: meta.Time, Origin: meta.Origin}
		if b.spec.Linger > 0 {
			b.due = b.clock.Now().Add(b.spec.Linger)
		}
	} else {
		b.join(meta)
	}
	b.held = append(b.held, v)
	b.bytes += size
	if len(b.held) == b.spec.Count || (b.spec.Bytes > 0 && b.bytes >= b.spec.Bytes) {
		b.emit(out)
	}
}

// join makes the metadata of the batch stand for one more record.
func (b *batchStage[T]) join(meta runnel.Meta) {
	if meta.Time.After(b.meta.Time) {
		b.meta.Time = meta.Time
	}
	at := meta.Origin
	at.Offset = b.meta.Origin.Offset
	if first := b.meta.Origin; at != first {
		// An origin that is written anew has no assignment: a batch of several partitions must not be dropped because
		// one of them was given up, as the records of the others would be lost with it.
		b.meta.Origin = runnel.Origin{Source: first.Source, Partition: first.Partition, Offset: first.Offset}
	}
}

// emit emits what is held, if that is anything.
func (b *batchStage[T]) emit(out *runnel.Out[[]T]) {
	if len(b.held) == 0 {
		return
	}
	out.Emit(b.held, b.meta)
	out.Passed(len(b.held))
	b.last = len(b.held)
	b.held, b.bytes, b.meta = nil, 0, runnel.Meta{}
}

// Flush emits what is held.
func (b *batchStage[T]) Flush(_ context.Context, out *runnel.Out[[]T]) error {
	b.emit(out)
	return nil
}

// Deadline returns when the first record has waited for long enough.
func (b *batchStage[T]) Deadline() (time.Time, bool) {
	return b.due, len(b.held) > 0 && b.spec.Linger > 0
}

// Expire emits what is held.
func (b *batchStage[T]) Expire(_ context.Context, _ time.Time, out *runnel.Out[[]T]) error {
	b.emit(out)
	return nil
}

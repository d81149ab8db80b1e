package runnel

import (
	"context"
	"log/slog"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// Stage turns batches of I into batches of O. [Apply] puts it into a stream. Its methods come from one goroutine.
// Optional abilities, found by assertion: [Flusher], [Snapshotter], [Timed], [Finisher], [Holder], [Labeler].
type Stage[I, O any] interface {
	// Process handles a batch and emits to out. An error ends the run; for a record that failed, see [Out.Fail].
	//
	// An input record that nothing is emitted for, and that is not counted by [Out.Passed] or [Out.Filtered], is taken for
	// filtered: nothing checks whether it was lost, and [StageStatus] shows it by In and Out only, not in its Filtered. So a
	// stage that drops on purpose calls Filtered. One that calls either keeps its own count, of all its input: a record
	// without an outcome fails the run at its end.
	Process(ctx context.Context, in Batch[I], out *Out[O]) error
}

// ForkStage is a Stage with two outputs. [Fork] puts it into a stream. Optional abilities are those of [Stage], where
// [Flusher] and [Timed] emit to the first output.
type ForkStage[I, O, P any] interface {
	// Process handles a batch and emits to out and side.
	Process(ctx context.Context, in Batch[I], out *Out[O], side *Out[P]) error
}

// JoinStage is a Stage with two inputs of different types. [Join] puts it into streams. Optional abilities are those
// of [Stage].
type JoinStage[A, B, O any] interface {
	// ProcessLeft handles a batch of the first input.
	ProcessLeft(ctx context.Context, in Batch[A], out *Out[O]) error
	// ProcessRight handles a batch of the second input.
	ProcessRight(ctx context.Context, in Batch[B], out *Out[O]) error
}

// Flusher is an optional ability of a stage that holds records back.
type Flusher[O any] interface {
	// Flush emits everything that is held. It is called before each marker and at the end of the stream.
	Flush(ctx context.Context, out *Out[O]) error
}

// Snapshotter is an optional ability of a stage that has state.
type Snapshotter interface {
	// Snapshot writes the state as it is behind the marker of checkpoint n.
	Snapshot(n checkpoint.Number, w SnapshotWriter) error
	// Restore brings back the state of the checkpoint that the attempt starts from. It is called once, before the
	// first record, and only if there is a checkpoint.
	Restore(r SnapshotReader) error
}

// SnapshotWriter takes the state of a stage, by key.
type SnapshotWriter interface {
	// Full says that all entries are wanted. Otherwise only changes since the snapshot before are; writing more than
	// that is allowed.
	Full() bool
	// Put sets an entry. Both slices are given away.
	Put(key, value []byte)
	// Delete removes an entry.
	Delete(key []byte)
}

// SnapshotReader gives back the state of a stage.
type SnapshotReader interface {
	// All calls f with every entry of the stage, whichever worker wrote it, in the order of the keys, until f returns
	// false.
	All(f func(key, value []byte) bool)
}

// Timed is an optional ability of a stage that acts when time has passed and not only when records come.
type Timed[O any] interface {
	// Deadline returns when Expire is to be called; false means never. It is asked after each call.
	Deadline() (time.Time, bool)
	// Expire is called once the deadline has passed, from the goroutine of the stage.
	Expire(ctx context.Context, now time.Time, out *Out[O]) error
}

// Finisher is an optional ability of a stage that ends its stream before its input ends.
type Finisher interface {
	// Finished says that nothing will be emitted any more. Records that come then are counted as filtered; a source
	// that nobody else reads is stopped.
	Finished() bool
}

// Holder is an optional ability of a stage that keeps records in its state across markers.
type Holder interface {
	// Held returns how many input records the state stands for.
	Held() int
}

// Labeler is an optional ability of a stage that can name a record's group, for reports of stalls.
type Labeler[I any] interface {
	// Label returns the name of the group (the key) that a value belongs to. It is called from any goroutine, also while
	// Process runs.
	Label(value I) string
}

// StageEnv is what a pipeline tells a stage when it opens it.
type StageEnv struct {
	// Name is the name of the stage in the pipeline.
	Name string
	// Worker numbers this copy of the stage from 0; Workers says how many there are (see [Parallel]).
	Worker, Workers int
	// Log is the pipeline's logger, with the name of the stage set.
	Log *slog.Logger
	// Clock is the pipeline's clock.
	Clock Clock
	// MaxBatch is the number of records that a batch does not exceed.
	MaxBatch int
	// Timeout is the longest time for one call of a function that takes a context; 0 means no limit (see [Timeout]).
	Timeout time.Duration
}

// Owns says whether records of that route belong to this worker: what [Snapshotter] restores is state of all workers.
func (e StageEnv) Owns(route uint64) bool {
	return e.Workers <= 1 || int(route%uint64(e.Workers)) == e.Worker
}

package runnel

import (
	"context"
	"log/slog"

	"github.com/runnel-go/runnel/checkpoint"
)

// Sink is where records go. One sink value has one writer, also where it is connected more than once.
// Optional abilities, found by assertion: [Describer], [Validator].
type Sink[T any] interface {
	// Open connects. With env.Prepared it finishes what was prepared for checkpoint env.From and aborts whatever else
	// it finds of former runs; without it, it destroys nothing that it cannot know to be its own. It is called again,
	// after Close, for each attempt of a run.
	Open(ctx context.Context, env SinkEnv) (Writer[T], error)
}

// Writer writes to an open sink. All its methods come from one goroutine. Optional abilities, found by assertion at
// Open: [Barrier], [Transactional], [Decider].
type Writer[T any] interface {
	// Write takes a batch, which is valid until the call returns. It may buffer: linger and batch size are the
	// writer's. A writer that could not write some of the records returns a *[BatchError] with these and keeps the
	// others; after any other error nothing of the batch counts as written, and whether it was is unknown.
	Write(ctx context.Context, batch Batch[T]) error
	// Flush returns when everything written is durable.
	Flush(ctx context.Context) error
	// Close ends the writer. What was not flushed may be lost. A pipeline calls it once. It may be called again; later
	// calls return nil or [ErrClosed]. sink/sinktest checks that.
	Close(ctx context.Context) error
}

// SinkEnv is what a pipeline tells a sink when it opens it.
type SinkEnv struct {
	// Name is the name of the sink in the pipeline.
	Name string
	// Log is the pipeline's logger, with the name of the sink set.
	Log *slog.Logger
	// Clock is the pipeline's clock.
	Clock Clock
	// From is the checkpoint that the attempt starts from; 0 means the beginning.
	From checkpoint.Number
	// Prepared is the token that Prepare returned for checkpoint From; nil if there is none.
	Prepared []byte
	// Durable says that checkpoints outlive the process, and so that From and Prepared come back after a crash.
	Durable bool
}

// Barrier is an optional ability of a Writer that acknowledges later, in place of Flush.
type Barrier interface {
	// Barrier begins to make everything written so far durable and returns at once. It calls done once, from any
	// goroutine, with the outcome: nil, or what Flush would have returned.
	Barrier(ctx context.Context, done func(error))
}

// Transactional is an optional ability of a Writer whose output becomes visible at a checkpoint, all or nothing.
// Between Prepare and Commit nothing is written. A Write that fails with anything but a *[BatchError] has no effect: it
// may be repeated.
type Transactional interface {
	// Prepare makes everything written so far durable but not visible, and returns what Commit and a later Open need
	// to finish it.
	Prepare(ctx context.Context, n checkpoint.Number) (token []byte, err error)
	// Commit makes what was prepared visible. It may come again after a crash and must then have no further effect.
	Commit(ctx context.Context, n checkpoint.Number, token []byte) error
	// Abort gives up what was written since the last Prepare. What was prepared and not committed stays as it is: its
	// checkpoint may have been decided, and the next Open is told.
	Abort(ctx context.Context) error
}

// Decider is an optional ability of a Writer whose own transaction carries the checkpoint: the checkpoint is complete
// when that transaction is. One sink of a pipeline at most decides.
type Decider interface {
	// Decide makes everything written so far, and the checkpoint's number, durable and visible in one transaction.
	Decide(ctx context.Context, c *checkpoint.Checkpoint) error
	// Decided returns the number of the newest checkpoint that was decided. It is asked at start, and when the outcome
	// of Decide is unknown.
	Decided(ctx context.Context) (checkpoint.Number, error)
}

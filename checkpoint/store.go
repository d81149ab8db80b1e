package checkpoint

import (
	"context"
	"errors"
	"fmt"
)

// Store keeps the checkpoints of a pipeline. An optional ability, found by assertion: [Validator].
type Store interface {
	// Open takes the lease of the pipeline's checkpoints for one run; the lease ends with Close of the Log.
	// Errors: [ErrInUse] while another run holds it, [ErrOtherPipeline] if what is stored belongs to another name.
	Open(ctx context.Context, pipeline string) (Log, error)
	// Durable says whether what was saved outlives the process.
	Durable() bool
}

// Validator is an optional ability of a Store that can be configured wrongly.
type Validator interface {
	// Validate returns every mistake in the configuration, joined, and opens nothing.
	Validate() error
}

// Log is the checkpoints of one pipeline, leased to one run. Its methods come from one goroutine at a time.
type Log interface {
	// Load returns checkpoint n with full states, or the newest for 0. Errors: [ErrNotFound] if there is none;
	// *[DamagedError] if it, or one that its state builds on, cannot be read.
	Load(ctx context.Context, n Number) (*Checkpoint, error)
	// Save makes c durable before it returns, entirely or not at all. A number that is not above the newest
	// one is refused with [ErrStale], a c of another pipeline with [ErrOtherPipeline]. A c whose states are all full
	// starts a chain; any other continues one, and its changes are refused where the newest checkpoint holds no state
	// of that stage. After an error nothing was saved, unless it is [ErrUncertain].
	Save(ctx context.Context, c *Checkpoint) error
	// Rewind makes n the newest checkpoint and sets aside what was saved after it; 0 sets aside everything.
	Rewind(ctx context.Context, n Number) error
	// Close gives the lease back. It may be called twice.
	Close() error
}

var (
	// ErrNotFound is returned when there is no such checkpoint.
	ErrNotFound = errors.New("checkpoint: not found")
	// ErrInUse is returned when another run holds the lease.
	ErrInUse = errors.New("checkpoint: in use by another run")
	// ErrOtherPipeline is returned when the stored checkpoints belong to a pipeline of another name.
	ErrOtherPipeline = errors.New("checkpoint: belongs to another pipeline")
	// ErrStale is returned when a saved number is not above the newest one.
	ErrStale = errors.New("checkpoint: number is not above the newest one")
	// ErrClosed is returned by every method of a Log after Close.
	ErrClosed = errors.New("checkpoint: closed")
	// ErrUncertain is returned by Save when the disk failed in a way that leaves open whether the checkpoint is
	// stored, and by every later method of that Log but Close. The next Open finds out.
	ErrUncertain = errors.New("checkpoint: outcome of a save is not known")
	// ErrLeaseLost is returned by Save and Rewind when the lease was taken away by force, such as by removing the
	// folder. Nothing was changed.
	ErrLeaseLost = errors.New("checkpoint: lease is lost")
)

// DamagedError says that a stored checkpoint cannot be read.
type DamagedError struct {
	// Number is the checkpoint that was asked for.
	Number Number
	// Place names the file (or row) that is damaged.
	Place string
	// Intact is the newest older checkpoint that can be read; 0 if there is none.
	Intact Number
	// Err is what is wrong with it.
	Err error
}

// Error names the checkpoint, the place and the cause.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("checkpoint: %d is damaged: %s: %v", e.Number, e.Place, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

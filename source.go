package runnel

import (
	"context"
	"log/slog"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// Source is where records come from. Optional abilities, found by assertion: [Describer], [Validator], [Overlapper].
type Source[T any] interface {
	// Open connects and starts at from, which says per partition what to read next; nil means where the source's own
	// system says (a stored offset, a start option). It is called again, after Close, for each attempt of a run.
	// The end of ctx gives up; it outlives Open only as the parent of nothing.
	Open(ctx context.Context, env SourceEnv, from checkpoint.Position) (Reader[T], error)
}

// Reader reads a source once it is open. Optional abilities, found by assertion: [Abandoner], [PositionComparer],
// [Starter], [Lagger].
type Reader[T any] interface {
	// Read waits for records and returns them, with the position behind them; io.EOF itself after the last, alone or
	// with a last fetch. An error that wraps io.EOF is a failure like any other. One Read runs at a time, and what it
	// returned is handed on before the next. Markers pass while Read waits. When ctx ends the pipeline wants no more:
	// Read returns soon, with any error.
	// The fetch is given away: its slices are not touched again by the reader ([Buffers] recycles them).
	Read(ctx context.Context) (Fetch[T], error)
	// Commit tells the source's system that everything before pos is done, which has the partitions that moved since
	// the commit before. It runs beside Read, one call at a time and in order, also after io.EOF, until Close. It
	// commits only what the reader still owns in the token's generation and refuses the rest with [ErrNotOwned]. A commit
	// that fails otherwise is tried again with the next marker's position, and fails the run only at the last.
	Commit(ctx context.Context, pos checkpoint.Position) error
	// Close ends the reader and wakes a Read that waits. A pipeline calls it once, after the last Commit, and maybe while a
	// Read is on. It may be called again, also at the same time; later calls return nil or [ErrClosed].
	// source/sourcetest checks that.
	Close(ctx context.Context) error
}

// Fetch is what one Read returns.
type Fetch[T any] struct {
	// Batch holds the records; it may be empty, as a position can move without a record.
	Batch[T]
	// Failed are records that could not be decoded, for the source's error policy.
	Failed []Failed
	// Position has the token of each partition that moved, behind the records of this fetch; a nil token drops a
	// partition. Records without a position are refused.
	Position checkpoint.Position
	// Drain, if not nil, asks for a marker right behind this fetch. It is called once: with nil when that marker is
	// committed, else with the reason why it cannot be.
	Drain func(error)
}

// SourceEnv is what a pipeline tells a source when it opens it.
type SourceEnv struct {
	// Name is the name of the source in the pipeline; records carry it in their origin.
	Name string
	// Log is the pipeline's logger, with the name of the source set.
	Log *slog.Logger
	// Clock is the pipeline's clock.
	Clock Clock
	// MaxBatch is the number of records that a fetch should not exceed; larger ones are cut.
	MaxBatch int
}

// Abandoner is an optional ability of a Reader whose records cannot be read again, and who can tell their senders.
type Abandoner interface {
	// Abandon says that the attempt failed with cause: nothing that is not committed will be. It is called before Close.
	Abandon(cause error)
}

// PositionComparer is an optional ability of a Reader: it lets the pipeline see that a position goes back.
type PositionComparer interface {
	// ComparePosition returns a negative number if token a of a partition is before b, a positive one if it is behind
	// it, and 0 if neither can be said.
	ComparePosition(partition string, a, b []byte) int
}

// Starter is an optional ability of a Reader that chooses where to begin where no checkpoint says so: at the end of a log,
// or at a time. What it chose is in the first checkpoint, so that a failure before the first record is committed does not
// make the next start choose anew and pass over what came in between. For a partition that comes while the run goes on,
// a fetch with nothing but its position and a Drain does the same, before its first record.
type Starter interface {
	// Start returns the positions that Read begins at, in the form of [Fetch].Position. It is called once, after Open.
	// Partitions that Open was given a position for need not be among them.
	Start() checkpoint.Position
}

// Lagger is an optional ability of a Reader that knows how much there is still to read. It is safe for concurrent use.
type Lagger interface {
	// Lag returns, per partition, how much is known to be there and not yet read: records if the source counts them,
	// else bytes.
	Lag() map[string]int64
}

// Traits is what must be known of a source or a sink before anything is opened. The zero value promises nothing.
type Traits struct {
	// Kind tells in the name of a source or sink that is not named what it reads or writes: "lines" gives lines-source-1
	// or lines-sink-1, nothing gives source-1 or sink-1.
	Kind string
	// Replay: a source that can be read again from a position.
	Replay bool
	// Moving: a source whose partitions can move to another process, and whose own system keeps the positions.
	Moving bool
	// AckWindow: what is not committed within it is delivered again by the source; 0 means no limit.
	AckWindow time.Duration
	// RebalanceTimeout: how long a source may take to give a partition up; 0 means that none moves.
	RebalanceTimeout time.Duration
	// Idempotent: a sink that can be given a record twice with the effect of once.
	Idempotent bool
	// Transactional: a sink whose writer is [Transactional].
	Transactional bool
	// Decides: a sink whose writer is a [Decider].
	Decides bool
	// Owns: what a sink needs to have to itself, in words, such as "file /data/out.csv": two sinks that own the same are
	// refused. Nothing means that others may write there too.
	Owns string
	// TransactionTimeout: how long the system of a sink keeps a transaction open; 0 means no limit.
	TransactionTimeout time.Duration
}

// Describer is an optional ability of a Source or Sink: it declares its traits before anything is opened.
type Describer interface {
	// Describe returns plain data and opens nothing.
	Describe() Traits
}

// Overlapper is an optional ability of a Source that might read what a sink of the same pipeline writes.
type Overlapper interface {
	// Overlaps says whether the source would read what a sink owns, by the text of [Traits].Owns. It opens nothing.
	Overlaps(owned string) bool
}

// Validator is an optional ability of a Source or Sink that can be configured wrongly.
type Validator interface {
	// Validate returns every mistake in the configuration, joined, and opens nothing.
	Validate() error
}

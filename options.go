package runnel

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/wallclock"
)

// Defaults of the options, which say what they mean.
const (
	defaultDrainTimeout = 30 * time.Second
	defaultMaxBatch     = 1024
	defaultStallAfter   = 30 * time.Second
)

// Option sets how a pipeline runs.
type Option interface{ apply(*config) }

type config struct {
	store        checkpoint.Store
	storeSet     bool
	cadence      []checkpoint.Option
	drainTimeout time.Duration
	log          *slog.Logger
	clock        Clock
	maxBatch     int
	maxInFlight  int
	restarts     int
	backoff      time.Duration
	stallAfter   time.Duration
	onCheckpoint []func(checkpoint.Checkpoint)
	inbox        int  // batches in front of a task
	unfused      bool // every stage gets a task of its own
}

func defaultConfig() config {
	return config{
		drainTimeout: defaultDrainTimeout,
		log:          slog.New(slog.DiscardHandler),
		clock:        wallclock.Clock{},
		maxBatch:     defaultMaxBatch,
		stallAfter:   defaultStallAfter,
		inbox:        inboxBatches,
	}
}

type option func(*config)

func (o option) apply(c *config) { o(c) }

// Checkpoint keeps checkpoints in store, taken as opts say: every 5 s with up to 4 markers open, by default. Without
// this option checkpoints are taken likewise and kept nowhere: sources are told to commit, and a restart of the program
// begins where their own system says.
func Checkpoint(store checkpoint.Store, opts ...checkpoint.Option) Option {
	return option(func(c *config) { c.store, c.storeSet, c.cadence = store, true, append(c.cadence, opts...) })
}

// DrainTimeout bounds how long Run may take to drain, flush and commit after its context has ended. The default is
// 30 s; 0 aborts at once. When it passes, nothing more is committed and Run returns [ErrDrainTimeout] with what was not
// acknowledged.
func DrainTimeout(d time.Duration) Option { return option(func(c *config) { c.drainTimeout = d }) }

// Logger sets where the pipeline logs what it also reports otherwise. The default discards.
func Logger(l *slog.Logger) Option { return option(func(c *config) { c.log = l }) }

// WithClock sets the clock of the pipeline, its sources, stages and sinks. The default is the machine's.
func WithClock(clock Clock) Option { return option(func(c *config) { c.clock = clock }) }

// MaxBatch bounds the number of records in a batch. The default is 1,024, the least 1, the most 1,048,576. Small batches cost throughput,
// large ones memory, and time between checkpoints: a marker waits behind the records in front of a slow stage or sink,
// which are up to 8 queued batches, the one at hand and the one that waits to be queued. With the default and 10 ms a
// record that is 10 × 1,024 × 10 ms = 102 s, whatever [checkpoint.Every] says; with MaxBatch(10) it is 1 s.
func MaxBatch(n int) Option { return option(func(c *config) { c.maxBatch = n }) }

// MaxInFlight bounds the records that were handed on and are not yet covered by a completed checkpoint; reaching it opens
// a marker. Each source may hold one fetch more that waits to be let in. The default 0 means no limit but that of the
// channels. It cannot be less than [MaxBatch].
func MaxInFlight(n int) Option { return option(func(c *config) { c.maxInFlight = n }) }

// Restart reopens everything at the last checkpoint after a failure, up to that many times in a row with a pause that
// doubles each time; a completed checkpoint resets the count. The default is to end the run with the error.
func Restart(attempts int, backoff time.Duration) Option {
	return option(func(c *config) { c.restarts, c.backoff = attempts, backoff })
}

// StallAfter sets how long a marker, or a record in a parallel stage, may be held before that is logged with who holds
// it. The default is 30 s; 0 never does. [Pipeline.Status] shows it at any time.
func StallAfter(d time.Duration) Option { return option(func(c *config) { c.stallAfter = d }) }

// OnCheckpoint calls f when a checkpoint is complete and the sources have been told: durable up to here. Calls come in
// order, one at a time; the next checkpoint completes after f has returned.
func OnCheckpoint(f func(checkpoint.Checkpoint)) Option {
	return option(func(c *config) { c.onCheckpoint = append(c.onCheckpoint, f) })
}

// StageOption sets how a source, a stage or a sink runs.
type StageOption interface{ applyStage(*stageConfig) }

type stageConfig struct {
	name      string
	workers   int
	parallel  bool // workers was given
	unordered bool
	attempts  int
	backoff   time.Duration
	timeout   time.Duration
	skip      bool
	dead      Sink[Failed]
	deadSet   bool
	deadOpts  []StageOption
	retrySet  bool
	stateful  bool
	single    bool
	noTimeout bool
	linger    time.Duration
	invalid   []error
	given     bool // any option was given
}

// mostBatch is the largest MaxBatch: memory for a batch is taken at once, in front of each stage several times.
const mostBatch = 1 << 20

type stageOption func(*stageConfig)

func (o stageOption) applyStage(c *stageConfig) { o(c) }

func newStageConfig(opts []StageOption) stageConfig {
	c := stageConfig{workers: 1, given: len(opts) > 0}
	for i, o := range opts {
		if o == nil {
			o = Invalid(fmt.Errorf("option %d is nil", i))
		}
		o.applyStage(&c)
	}
	return c
}

// Name names the source, stage or sink in errors, logs, metrics, the graph and in checkpoints. The default is its kind
// with a number. Names are unique within a pipeline, and hold printable characters only.
func Name(name string) StageOption { return stageOption(func(c *stageConfig) { c.name = name }) }

// Parallel runs n copies of a stage. Order is kept; per key for a keyed stage; see [Unordered]. The default is 1.
func Parallel(n int) StageOption {
	return stageOption(func(c *stageConfig) { c.workers, c.parallel = n, true })
}

// Unordered lets a stage with [Parallel] emit as results come. Records still never overtake a marker. Without Parallel it
// is refused.
func Unordered() StageOption { return stageOption(func(c *stageConfig) { c.unordered = true }) }

// Retry calls a function, or writes, up to attempts times in all, with a pause between that starts at backoff and
// doubles each time. A function of the user is called again after any error but the end of a context; a write only if
// [Retryable] says so, or if the sink is idempotent or transactional. What still fails goes by [Skip] or [DeadLetter],
// else it ends the run. A source refuses it: see [Restart].
func Retry(attempts int, backoff time.Duration) StageOption {
	return stageOption(func(c *stageConfig) { c.attempts, c.backoff, c.retrySet = attempts, backoff, true })
}

// Skip drops records that fail, and counts them.
func Skip() StageOption { return stageOption(func(c *stageConfig) { c.skip = true }) }

// DeadLetter sends records that fail to a sink, which may serve many stages. A dead letter is acknowledged like any
// other record before its source's position is committed. opts are those of the sink, as in [Stream.To]; without a [Name] it
// is called after the first stage that sends to it, such as "parse-dead-letters".
func DeadLetter(to Sink[Failed], opts ...StageOption) StageOption {
	return stageOption(func(c *stageConfig) { c.dead, c.deadSet, c.deadOpts = to, true, opts })
}

// Timeout bounds one call of a function that takes a context. A call that exceeds it fails with
// context.DeadlineExceeded, which goes by the error policy. The default 0 means no limit. Where no such function is called
// it is refused.
func Timeout(d time.Duration) StageOption { return stageOption(func(c *stageConfig) { c.timeout = d }) }

// Stateful says that a stage keeps state (see [Snapshotter]), so that this is known before it is opened. It is for who
// writes stages; the operators of package flow give it themselves.
func Stateful() StageOption { return stageOption(func(c *stageConfig) { c.stateful = true }) }

// Single says that a stage cannot run in copies, so that [Parallel] is refused before it is opened. It is for who writes
// stages; the operators of package flow give it themselves.
func Single() StageOption { return stageOption(func(c *stageConfig) { c.single = true }) }

// NoTimeout says that a stage calls no function that takes a context, so that [Timeout] is refused. It is for who writes
// stages; the operators of package flow give it themselves.
func NoTimeout() StageOption { return stageOption(func(c *stageConfig) { c.noTimeout = true }) }

// Lingers says that a stage holds records for up to d before it emits them, so that this can be compared with the ack
// window of its source. It is for who writes stages; the operators of package flow give it themselves.
func Lingers(d time.Duration) StageOption { return stageOption(func(c *stageConfig) { c.linger = d }) }

// Invalid says that a stage is configured wrongly, so that [Pipeline.Validate] reports it before anything is opened. It
// may be given more than once. It is for who writes stages; the operators of package flow give it themselves.
func Invalid(err error) StageOption {
	return stageOption(func(c *stageConfig) { c.invalid = append(c.invalid, parts(err)...) })
}

// parts returns the errors that were joined, so that each can be told with its place; none for nil.
func parts(err error) []error {
	switch all := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		return all.Unwrap()
	}
	return []error{err}
}

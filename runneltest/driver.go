package runneltest

import (
	"fmt"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// DriverPartition is the name of the one partition of a [Driver].
const DriverPartition = "0"

// Driver is a source that a test feeds by hand: records, and markers between them. It remembers what it was fed, so a
// later attempt or a later run that is given the same Driver reads on from its position, unless [NoReplay] was given.
// Its methods fail the test when they wait in vain; they are safe for concurrent use and called from the test's own
// goroutine.
type Driver[T any] struct {
	guard
	tb       testing.TB
	noReplay bool

	records   []runnel.Record[T] // all that were sent; guarded by mu, like all below
	failed    map[int]error      // those of them that could not be decoded
	cuts      []int              // where fetches end at the latest
	drains    []drainRequest
	read      int // how many records were read, by any attempt
	handed    int // how many of these the pipeline has handed on
	committed int // how many were committed
	commits   []int
	ended     bool
	failure   *driverFailure // nil: none is to come
	open      *driverReader[T]
}

// drainRequest asks for a marker behind a number of records.
type drainRequest struct {
	at   int
	done func(error)
}

// driverFailure is what the Read behind a number of records returns, once.
type driverFailure struct {
	at  int
	err error
}

// DriverOption changes what a [Driver] is.
type DriverOption interface{ applyDriver(*driverConfig) }

type driverConfig struct{ noReplay bool }

type driverOption func(*driverConfig)

func (o driverOption) applyDriver(c *driverConfig) { o(c) }

// NoReplay makes a Driver a source that cannot be read again: what was read once does not come again.
func NoReplay() DriverOption { return driverOption(func(c *driverConfig) { c.noReplay = true }) }

// NewDriver returns a driver that has been fed nothing.
func NewDriver[T any](tb testing.TB, opts ...DriverOption) *Driver[T] {
	var c driverConfig
	for _, o := range opts {
		o.applyDriver(&c)
	}
	return &Driver[T]{tb: tb, noReplay: c.noReplay, failed: make(map[int]error)}
}

// Describe says whether the source can be read again.
func (d *Driver[T]) Describe() runnel.Traits {
	return runnel.Traits{Kind: "driver", Replay: !d.noReplay}
}

// Send feeds values, as one fetch if they fit into a batch, and waits until the pipeline has handed them on: to the
// channel behind the source, or to the stages that run in its task.
func (d *Driver[T]) Send(values ...T) {
	d.tb.Helper()
	d.awaitHanded(d.Post(values...))
}

// SendRecords is Send for records with keys, times and headers. Their origin becomes this source.
func (d *Driver[T]) SendRecords(records ...runnel.Record[T]) {
	d.tb.Helper()
	d.awaitHanded(d.feed(records, nil))
}

// SendUndecodable feeds a record that could not be decoded, for the source's error policy, and waits as Send does.
func (d *Driver[T]) SendUndecodable(value T, err error) {
	d.tb.Helper()
	d.awaitHanded(d.feed([]runnel.Record[T]{{Value: value}}, err))
}

// Post feeds values as Send does and does not wait. It returns how many records were fed in all.
func (d *Driver[T]) Post(values ...T) int {
	records := make([]runnel.Record[T], len(values))
	for i, v := range values {
		records[i].Value = v
	}
	return d.feed(records, nil)
}

func (d *Driver[T]) feed(records []runnel.Record[T], failure error) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if failure != nil {
		d.failed[len(d.records)] = failure
	}
	d.records = append(d.records, records...)
	d.cuts = append(d.cuts, len(d.records))
	d.broadcast()
	return len(d.records)
}

func (d *Driver[T]) awaitHanded(n int) {
	d.tb.Helper()
	d.await(d.tb, func() bool { return d.handed >= n }, func() string {
		return fmt.Sprintf("a pipeline to take %d records from its driver; it has taken %d (the source is open: %t)",
			n, d.handed, d.open != nil)
	})
}

// Checkpoint asks for a marker behind what was sent so far, and waits until it is committed.
func (d *Driver[T]) Checkpoint() {
	d.tb.Helper()
	var answered bool // guarded by mu
	var outcome error // set before answered
	d.requestCheckpoint(func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		answered, outcome = true, err
		d.broadcast()
	})
	d.await(d.tb, func() bool { return answered }, func() string { return "a checkpoint" })
	if outcome != nil {
		d.tb.Fatalf("runneltest: the checkpoint failed: %v", outcome)
	}
}

// RequestCheckpoint asks for a marker behind what was sent so far. The channel receives nil when it is committed, else
// the reason why it cannot be.
func (d *Driver[T]) RequestCheckpoint() <-chan error {
	outcome := make(chan error, 1)
	d.requestCheckpoint(func(err error) { outcome <- err })
	return outcome
}

func (d *Driver[T]) requestCheckpoint(done func(error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drains = append(d.drains, drainRequest{at: len(d.records), done: done})
	d.broadcast()
}

// End ends the source behind what was sent so far. It does not wait.
func (d *Driver[T]) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.broadcast()
}

// Fail makes the read behind what was sent so far fail, once. It does not wait.
func (d *Driver[T]) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure = &driverFailure{at: len(d.records), err: err}
	d.broadcast()
}

// Committed returns how many records are committed, counted from the first.
func (d *Driver[T]) Committed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.committed
}

// Commits returns every number that was committed, in order.
func (d *Driver[T]) Commits() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]int(nil), d.commits...)
}

// AwaitCommitted waits until n records are committed at least.
func (d *Driver[T]) AwaitCommitted(n int) {
	d.tb.Helper()
	d.await(d.tb, func() bool { return d.committed >= n }, func() string {
		return fmt.Sprintf("%d records to be committed; %d are", n, d.committed)
	})
}

// Position returns the position behind n records, as a checkpoint has it.
func (d *Driver[T]) Position(n int) checkpoint.Position {
	return checkpoint.Position{DriverPartition: checkpoint.OffsetToken(int64(n), nil)}
}

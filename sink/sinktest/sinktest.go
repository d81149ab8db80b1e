// Package sinktest checks that a sink keeps the contract of [runnel.Sink]: every connector runs it.
//
//	func TestLinesKeepTheContract(t *testing.T) {
//		sinktest.Run(t, func(t *testing.T) sinktest.System[string] {
//			path := filepath.Join(t.TempDir(), "out")
//			return sinktest.System[string]{
//				Sink:  func() runnel.Sink[string] { return filesink.Lines(path) },
//				Value: strconv.Itoa,
//				Read:  func(t *testing.T) []string { return readLines(t, path) },
//			}
//		}, sinktest.Features{})
//	}
//
// What a sink says of itself decides which cases it gets: transactional ones prepare and commit, deciding ones decide,
// those that acknowledge later do that, and the others flush.
package sinktest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/runneltest"
)

// System is somewhere that sinks write to.
type System[T any] struct {
	// Sink returns a sink of the system. It is called for each process that the suite plays; what outlives a process is
	// in the system.
	Sink func() runnel.Sink[T]
	// Value returns the value with a number; values of different numbers differ.
	Value func(i int) T
	// Read returns what is durable and visible in the system, in order.
	Read func(t *testing.T) []T
	// Bad, if not nil, returns a value that the sink refuses and that is not for all the others to suffer from.
	Bad func() T
	// Kill, if not nil, releases what a process holds that died without closing its writer, such as a lock.
	Kill func()
	// Show returns what tells one value from another; nil stands for fmt's %v.
	Show func(value T) string
}

// Features says what the suite can ask of a sink beyond what its traits say. The zero value is a sink that keeps the
// order.
type Features struct {
	// Unordered: the system does not keep the order of what is written.
	Unordered bool
	// Unique: the system keeps one of what is written more than once.
	Unique bool
	// VisibleAtOnce: a transactional sink whose records may be seen before their commit, such as the end of a file that is
	// written in place. The next start takes back what was not committed.
	VisibleAtOnce bool
	// CloseToKill: in this process a writer that was not closed keeps another from being opened, so the suite closes
	// those that it plays dead. Prefer [System.Kill].
	CloseToKill bool
}

// patience is how long the suite waits for what should not take any time.
const patience = 30 * time.Second

// Run runs the suite. setup returns a new, empty system, and cleans up with t.Cleanup.
func Run[T any](t *testing.T, setup func(t *testing.T) System[T], f Features) {
	s := &suite[T]{setup: setup, f: f}
	cases := []struct {
		name string
		test func(t *testing.T)
	}{
		{"is what it says", s.says},
		{"makes durable what it is given", s.writes},
		{"keeps nothing of a batch when Write returns", s.keepsNothing},
		{"acknowledges markers with nothing between", s.nothing},
		{"closes twice, with something written too", s.closes},
		{"returns when its context has ended", s.ends},
		{"names the records that it refuses", s.refuses},
		{"acknowledges each marker once", s.acknowledgesOnce},
		{"shows nothing before the commit, and all of it after", s.commits},
		{"gives up what was not prepared", s.aborts},
		{"finishes at the start what was decided", s.finishes},
		{"drops at the start what was not decided", s.drops},
		{"decides rows and checkpoint together", s.decides},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			runneltest.CheckGoroutines(t)
			c.test(t)
		})
	}
	t.Run("loses nothing when the process is killed", s.survivesKills) // the dead leave goroutines behind
}

type suite[T any] struct {
	setup func(t *testing.T) System[T]
	f     Features
}

// traits returns what a sink says of itself.
func traits[T any](sink runnel.Sink[T]) runnel.Traits {
	if d, ok := sink.(runnel.Describer); ok {
		return d.Describe()
	}
	return runnel.Traits{}
}

// process is one process that writes.
type process[T any] struct {
	t       *testing.T
	sys     System[T]
	f       Features
	w       runnel.Writer[T]
	tx      runnel.Transactional // nil if it is not
	decider runnel.Decider       // nil if it does not
	n       checkpoint.Number    // of the newest marker
	token   []byte               // that its Prepare returned
	closed  bool
}

// start opens the sink as the first process of a system does: before anything is written, checkpoint 1 is taken.
func (s *suite[T]) start(t *testing.T) *process[T] {
	t.Helper()
	p := s.open(t, s.setup(t), 0, nil)
	p.marker()
	return p
}

// open opens the sink at a checkpoint.
func (s *suite[T]) open(t *testing.T, sys System[T], from checkpoint.Number, token []byte) *process[T] {
	t.Helper()
	sink := sys.Sink()
	if v, ok := sink.(runnel.Validator); ok {
		if err := v.Validate(); err != nil {
			t.Fatalf("Validate: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w, err := sink.Open(ctx, runnel.SinkEnv{
		Name: "conformance", Log: slog.New(slog.DiscardHandler), Clock: wallclock.Clock{},
		From: from, Prepared: token, Durable: true,
	})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	p := &process[T]{t: t, sys: sys, f: s.f, w: w, n: from, token: token}
	p.tx, _ = w.(runnel.Transactional)
	p.decider, _ = w.(runnel.Decider)
	t.Cleanup(p.close)
	return p
}

// do calls a method of the writer, which must succeed and not take long.
func (p *process[T]) do(what string, f func(ctx context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f(ctx); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// write writes values from lo to hi, hi left out, as one batch.
func (p *process[T]) write(lo, hi int) {
	p.t.Helper()
	values := p.values(lo, hi)
	p.do("Write", func(ctx context.Context) error { return p.w.Write(ctx, runnel.NewBatch(values, nil)) })
}

func (p *process[T]) values(lo, hi int) []T {
	values := make([]T, 0, hi-lo)
	for i := lo; i < hi; i++ {
		values = append(values, p.sys.Value(i))
	}
	return values
}

// marker does what a pipeline does at a marker: afterwards, everything written is durable and visible.
func (p *process[T]) marker() {
	p.t.Helper()
	if p.tx != nil {
		p.prepare()
		p.commit()
		return
	}
	p.n++
	if b, ok := p.w.(runnel.Barrier); ok && p.decider == nil {
		done := make(chan error, 1)
		p.do("Barrier", func(ctx context.Context) error {
			b.Barrier(ctx, func(err error) { done <- err })
			select {
			case err := <-done:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return
	}
	p.do("Flush", p.w.Flush)
	if p.decider != nil {
		p.do("Decide", func(ctx context.Context) error {
			return p.decider.Decide(ctx, &checkpoint.Checkpoint{Pipeline: "conformance", Number: p.n})
		})
	}
}

// prepare does the part of a transactional writer before the decision.
func (p *process[T]) prepare() {
	p.t.Helper()
	p.n++
	p.do(fmt.Sprintf("Prepare %d", p.n), func(ctx context.Context) (err error) {
		p.token, err = p.tx.Prepare(ctx, p.n)
		return err
	})
}

// commit does the part behind the decision.
func (p *process[T]) commit() {
	p.t.Helper()
	p.do(fmt.Sprintf("Commit %d", p.n), func(ctx context.Context) error { return p.tx.Commit(ctx, p.n, p.token) })
}

// close closes the writer once.
func (p *process[T]) close() {
	if p.closed {
		return
	}
	p.closed = true
	if err := p.w.Close(context.Background()); err != nil {
		p.t.Errorf("Close: %v", err)
	}
}

// kill ends the process without closing the writer.
func (p *process[T]) kill() {
	switch {
	case p.sys.Kill != nil:
		p.closed = true
		p.sys.Kill()
	case p.f.CloseToKill:
		p.close()
	}
}

// requireVisible fails the test unless the values from 0 to n, n left out, are what the system shows.
func (p *process[T]) requireVisible(n int) {
	p.t.Helper()
	requireShown(p.t, p.sys, p.f, p.values(0, n))
}

// requireNotYet fails the test if more than the values from 0 to n, n left out, is shown of what was written and not
// committed, unless the system may show that.
func (p *process[T]) requireNotYet(n int) {
	p.t.Helper()
	if !p.f.VisibleAtOnce {
		p.requireVisible(n)
	}
}

// requireShown fails the test unless the system shows exactly these values.
func requireShown[T any](t *testing.T, sys System[T], f Features, values []T) {
	t.Helper()
	want, got := sys.show(values), sys.show(sys.Read(t))
	if f.Unordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		t.Fatalf("the system shows %d values, want %d: %v, want %v", len(got), len(want), brief(got), brief(want))
	}
}

func (s System[T]) show(values []T) []string {
	shown := make([]string, len(values))
	for i, v := range values {
		if s.Show != nil {
			shown[i] = s.Show(v)
		} else {
			shown[i] = fmt.Sprint(v)
		}
	}
	return shown
}

// brief shortens a long list.
func brief(values []string) []string {
	const most = 12
	if len(values) <= most {
		return values
	}
	return append(slices.Clone(values[:most]), "…")
}

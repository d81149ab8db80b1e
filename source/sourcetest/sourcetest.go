// Package sourcetest checks that a source keeps the contract of [runnel.Source]: every connector runs it.
//
//	func TestLinesKeepTheContract(t *testing.T) {
//		sourcetest.Run(t, func(t *testing.T, n int) sourcetest.System[string] {
//			path, lines := writeLines(t, n)
//			return sourcetest.System[string]{
//				Values: lines,
//				Source: func() runnel.Source[string] { return filesource.Lines(path) },
//			}
//		}, sourcetest.Features{})
//	}
//
// A source that can end as well as wait for more runs it twice, once with [Features.Endless].
package sourcetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/runneltest"
)

// System is a set of data, and the sources that read it.
type System[T any] struct {
	// Values are the values that the data has. Those of one partition are in their order.
	Values []T
	// Source returns a source of the data. It is called for each process that the suite plays; what outlives a process
	// is in the system.
	Source func() runnel.Source[T]
	// Missing, if not nil, returns a source of data that cannot be reached. It can be built and validated, and Open
	// fails.
	Missing func() runnel.Source[T]
	// Show returns what tells one value from another; nil stands for fmt's %#v, which shows addresses of nested
	// pointers.
	Show func(value T) string
}

// Features says what the suite can ask of a source beyond what its traits say. The zero value is a source that ends.
type Features struct {
	// Endless: behind its last record the source waits for more.
	Endless bool
	// KeepsPosition: the source's own system keeps what was committed, and a source that is opened without a position
	// goes on there.
	KeepsPosition bool
	// LargeFetches: a fetch may have more records than MaxBatch. The pipeline cuts them.
	LargeFetches bool
	// CloseToKill: in this process a source that was not closed keeps another from being opened, so the suite closes
	// those that it plays dead.
	CloseToKill bool
}

// sourceName is the name of the source in the suite.
const sourceName = "conformance"

// patience is how long the suite waits for what should not take any time.
const patience = 30 * time.Second

// Run runs the suite. setup returns a new system with n records, and cleans up with t.Cleanup. The cases behind one that
// waited in vain for the source, or got far more than there is, are not run.
func Run[T any](t *testing.T, setup func(t *testing.T, n int) System[T], f Features) {
	(&suite[T]{setup: setup, f: f, patience: patience}).run(t)
}

func (s *suite[T]) run(t *testing.T) {
	cases := []struct {
		name string
		test func(t *testing.T)
	}{
		{"reads every record once, with its place", s.readsAll},
		{"resumes from each position with exactly the rest", s.resumes},
		{"leaves alone what it gave away", s.givesAway},
		{"ends a read with its context", s.endsRead},
		{"commits beside a read and behind the last", s.commits},
		{"closes twice, at any time, and wakes a read", s.closes},
		{"goes on behind what was committed", s.keepsPosition},
		{"opens nothing before Open, and fails there", s.missing},
		{"runs in a pipeline and repeats nothing after a clean stop", s.runs},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			runneltest.CheckGoroutines(t)
			c.test(t)
		})
		if s.over {
			t.Log("the cases behind this one are not run: the same would happen in each")
			return
		}
	}
	t.Run("loses and repeats nothing when the process is killed", s.survivesKills) // the dead leave goroutines behind
}

type suite[T any] struct {
	setup    func(t *testing.T, n int) System[T]
	f        Features
	patience time.Duration // for one Read
	over     bool          // no more cases: the source does not give what it has, or does not end
}

// traits returns what a source says of itself.
func traits[T any](src runnel.Source[T]) runnel.Traits {
	if d, ok := src.(runnel.Describer); ok {
		return d.Describe()
	}
	return runnel.Traits{}
}

// show returns what tells a value from others.
func (s System[T]) show(v T) string {
	if s.Show != nil {
		return s.Show(v)
	}
	return fmt.Sprintf("%#v", v)
}

// open opens a source; it is closed when the test ends.
func (s *suite[T]) open(t *testing.T, sys System[T], from checkpoint.Position, maxBatch int) *reading[T] {
	t.Helper()
	src := sys.Source()
	if v, ok := src.(runnel.Validator); ok {
		if err := v.Validate(); err != nil {
			t.Fatalf("Validate: %v", err)
		}
	}
	openCtx, opened := context.WithTimeout(context.Background(), patience)
	defer opened()
	r, err := src.Open(openCtx, runnel.SourceEnv{
		Name: sourceName, Log: slog.New(slog.DiscardHandler), Clock: wallclock.Clock{}, MaxBatch: maxBatch,
	}, from)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	rd := &reading[T]{
		t: t, s: s, sys: sys, r: r, ctx: ctx, cancel: cancel, max: maxBatch, want: len(sys.Values),
		position: from.Clone(), offsets: make(map[string]int64), faults: make(map[string]int),
	}
	t.Cleanup(rd.close)
	return rd
}

// soon fails the test if f takes long.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		t.Fatalf("%s does not return", what)
	}
}

// ended says whether err is the end of a source: io.EOF itself.
func ended(err error) bool { return err == io.EOF } //nolint:errorlint // one that is wrapped is a failure

package sinktest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink/sinktest"
	"github.com/stretchr/testify/require"
)

// breakage says what is wrong with a sink.
type breakage struct {
	keepsBatch, losesOnFlush, plain, early, commitsTwice, forgets, keepsUndecided, hidesBad, abortsNothing, closesOnce, saysClosed bool
}

// system is a list that sinks write to in transactions.
type system struct {
	b        breakage
	visible  []int
	prepared map[checkpoint.Number][]int
}

func (s *system) Describe() runnel.Traits { return runnel.Traits{Transactional: true} }

func (s *system) Open(_ context.Context, env runnel.SinkEnv) (runnel.Writer[int], error) {
	w := &writer{s: s}
	if env.Prepared != nil {
		if !s.b.forgets {
			_ = w.Commit(context.Background(), env.From, env.Prepared)
		}
		for n, values := range s.prepared {
			if s.b.keepsUndecided && n > env.From {
				s.visible = append(s.visible, values...)
			}
		}
		clear(s.prepared)
	}
	if s.b.plain {
		return struct{ runnel.Writer[int] }{w}, nil
	}
	return w, nil
}

type writer struct {
	s       *system
	batches [][]int // not copied if the sink is broken so
	closed  bool
}

func (w *writer) Write(_ context.Context, b runnel.Batch[int]) error {
	values := b.Values()
	for i, v := range values {
		if v < 0 && !w.s.b.hidesBad {
			w.batches = append(w.batches, append(append([]int(nil), values[:i]...), values[i+1:]...))
			return &runnel.BatchError[int]{Failed: []runnel.Record[int]{b.Record(i)}, Errs: []error{errors.New("bad")}}
		}
	}
	if !w.s.b.keepsBatch {
		values = append([]int(nil), values...)
	}
	if w.s.b.early {
		w.s.visible = append(w.s.visible, values...)
		return nil
	}
	w.batches = append(w.batches, values)
	return nil
}

func (w *writer) Flush(context.Context) error { return nil }

func (w *writer) Prepare(_ context.Context, n checkpoint.Number) ([]byte, error) {
	var all []int
	for _, b := range w.batches {
		all = append(all, b...)
	}
	if w.s.b.losesOnFlush && len(all) > 2 {
		all = all[1:]
	}
	w.batches = nil
	w.s.prepared[n] = all
	return strconv.AppendUint(nil, uint64(n), 10), nil
}

func (w *writer) Commit(_ context.Context, n checkpoint.Number, _ []byte) error {
	w.s.visible = append(w.s.visible, w.s.prepared[n]...)
	if !w.s.b.commitsTwice {
		delete(w.s.prepared, n)
	}
	return nil
}

func (w *writer) Abort(context.Context) error {
	if !w.s.b.abortsNothing {
		w.batches = nil
	}
	return nil
}

func (w *writer) Close(ctx context.Context) error {
	switch {
	case w.closed && w.s.b.closesOnce:
		return errors.New("it was closed before")
	case w.closed && w.s.b.saysClosed:
		return fmt.Errorf("broken: %w", runnel.ErrClosed)
	}
	w.closed = true
	if w.s.b.abortsNothing && len(w.batches) > 0 {
		n := checkpoint.Number(1000)
		token, _ := w.Prepare(ctx, n)
		return w.Commit(ctx, n, token)
	}
	return nil
}

const breakageEnv = "RUNNEL_TEST_BREAKAGE"

var breakages = map[string]breakage{
	"none": {}, "keeps the batch": {keepsBatch: true}, "loses a record": {losesOnFlush: true},
	"is not what it says": {plain: true}, "shows too early": {early: true}, "commits twice": {commitsTwice: true},
	"forgets what was decided": {forgets: true}, "shows what was not decided": {keepsUndecided: true},
	"hides what it refuses": {hidesBad: true}, "does not abort": {abortsNothing: true},
	"closes once": {closesOnce: true}, "says that it is closed": {saysClosed: true},
}

// TestSuiteRunsOnBrokenSink is run by the test below in a process of its own, where it may fail.
func TestSuiteRunsOnBrokenSink(t *testing.T) {
	b, ok := breakages[os.Getenv(breakageEnv)]
	if !ok {
		t.Skip("runs in the process of TestSuiteFindsBrokenSinks")
	}
	sinktest.Run(t, func(*testing.T) sinktest.System[int] {
		s := &system{b: b, prepared: make(map[checkpoint.Number][]int)}
		return sinktest.System[int]{
			Sink:  func() runnel.Sink[int] { return s },
			Value: func(i int) int { return i },
			Read:  func(*testing.T) []int { return s.visible },
			Bad:   func() int { return -1 },
		}
	}, sinktest.Features{})
}

func TestSuiteFindsBrokenSinks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ of, finds string }{
		"keeps the batch":            {"keeps", "the system shows 20 values"},
		"loses a record":             {"makes", "the system shows 502 values, want 503"},
		"is not what it says":        {"is", "is transactional: false, and the sink says: true"},
		"shows too early":            {"shows", "the system shows 3 values, want 0"},
		"commits twice":              {"shows", "the system shows 6 values, want 3"},
		"forgets what was decided":   {"finishes", "the system shows 3 values, want 6"},
		"shows what was not decided": {"drops", "the system shows 8 values, want 3"},
		"hides what it refuses":      {"names", "want a *BatchError"},
		"does not abort":             {"gives", "the system shows 8 values, want 3"},
		"closes once":                {"closes", "Close, the second time: it was closed before, want nil or ErrClosed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runSuite(t, name, c.of)
			require.Error(t, err, "the suite passed")
			require.Contains(t, out, c.finds)
		})
	}
	for _, name := range []string{"none", "says that it is closed"} {
		out, err := runSuite(t, name, "")
		require.NoError(t, err, out)
	}
}

// runSuite runs the cases of the suite whose names begin with of.
func runSuite(t *testing.T, name, of string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuiteRunsOnBrokenSink$/^"+of)
	cmd.Env = append(os.Environ(), breakageEnv+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

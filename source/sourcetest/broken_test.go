package sourcetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/source/sourcetest"
	"github.com/stretchr/testify/require"
)

// breakage says what is wrong with a source.
type breakage struct {
	reuses, noPosition, startsEarly, back, large, wrongName, leaks, repeats, waits, deaf, spins, closesOnce, saysClosed bool
}

// broken is a source of numbers that breaks the contract in one way.
type broken struct {
	n int
	b breakage
}

func (s broken) Describe() runnel.Traits { return runnel.Traits{Replay: true} }

func (s broken) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r := &brokenReader{broken: s, max: env.MaxBatch, a: runnel.NewAssignment(env.Name, "0")}
	if s.b.wrongName {
		r.a = runnel.NewAssignment("other", "0")
	}
	if token := from["0"]; token != nil {
		next, _, err := checkpoint.ParseOffset(token)
		if err != nil {
			return nil, err
		}
		r.at = int(next)
		if s.b.startsEarly {
			r.at--
		}
	}
	if s.b.leaks {
		go func() { select {} }()
	}
	return r, nil
}

type brokenReader struct {
	broken
	max, at int
	values  []int
	a       *runnel.Assignment
	closed  atomic.Bool
}

// end is what Read does behind the last record.
func (r *brokenReader) end(ctx context.Context) error {
	switch {
	case r.b.waits:
		<-ctx.Done()
		return context.Cause(ctx)
	case r.b.deaf:
		select {}
	case r.b.spins:
		return nil
	}
	return io.EOF
}

func (r *brokenReader) Read(ctx context.Context) (runnel.Fetch[int], error) {
	if r.b.repeats && r.n > 0 {
		r.at = min(r.at, r.n-1)
	}
	if r.at >= r.n {
		return runnel.Fetch[int]{}, r.end(ctx)
	}
	lo, hi := r.at, min(r.at+r.max, r.n)
	if r.b.large {
		hi = r.n
	}
	if !r.b.reuses {
		r.values = nil
	}
	r.values = r.values[:0]
	for i := lo; i < hi; i++ {
		r.values = append(r.values, i)
	}
	r.at = hi
	f := runnel.Fetch[int]{Batch: runnel.NewBatch(r.values, nil).WithOrigin(r.a, int64(lo))}
	next := int64(hi)
	if r.b.back {
		next = int64(r.n - hi)
	}
	if !r.b.noPosition {
		f.Position = checkpoint.Position{"0": checkpoint.OffsetToken(next, nil)}
	}
	return f, nil
}

func (r *brokenReader) ComparePosition(_ string, a, b []byte) int {
	c, _ := checkpoint.CompareOffsets(a, b)
	return c
}

func (r *brokenReader) Commit(context.Context, checkpoint.Position) error { return nil }

func (r *brokenReader) Close(context.Context) error {
	switch again := r.closed.Swap(true); {
	case again && r.b.closesOnce:
		return errors.New("it was closed before")
	case again && r.b.saysClosed:
		return fmt.Errorf("broken: %w", runnel.ErrClosed)
	}
	return nil
}

const breakageEnv = "RUNNEL_TEST_BREAKAGE"

var breakages = map[string]breakage{
	"none": {}, "uses memory again": {reuses: true}, "has no position": {noPosition: true},
	"starts early": {startsEarly: true}, "goes back": {back: true}, "fetches too much": {large: true},
	"gives another name": {wrongName: true}, "leaks a goroutine": {leaks: true},
	"repeats the last": {repeats: true}, "waits at the end": {waits: true}, "hangs at the end": {deaf: true},
	"spins at the end": {spins: true}, "closes once": {closesOnce: true}, "says that it is closed": {saysClosed: true},
}

// TestSuiteRunsOnBrokenSource is run by the test below in a process of its own, where it may fail.
func TestSuiteRunsOnBrokenSource(t *testing.T) {
	b, ok := breakages[os.Getenv(breakageEnv)]
	if !ok {
		t.Skip("runs in the process of TestSuiteFindsBrokenSources")
	}
	patience := 30 * time.Second
	if b.waits || b.deaf {
		patience = 50 * time.Millisecond // which passes for certain
	}
	sourcetest.RunWithin(t, func(_ *testing.T, n int) sourcetest.System[int] {
		values := make([]int, n)
		for i := range values {
			values[i] = i
		}
		return sourcetest.System[int]{Values: values, Source: func() runnel.Source[int] { return broken{n, b} }}
	}, sourcetest.Features{}, patience)
}

func TestSuiteFindsBrokenSources(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ of, finds string }{
		"uses memory again":  {"leaves", "was changed after it was given away"},
		"has no position":    {"reads", "records without a position"},
		"starts early":       {"resumes", "from behind fetch 1"},
		"goes back":          {"reads", "goes back"},
		"fetches too much":   {"reads", "MaxBatch is"},
		"gives another name": {"reads", "is from \"other\""},
		"leaks a goroutine":  {"closes", "goroutines are left behind"},
		"repeats the last":   {"reads", "records came, want 1: Read returns more than there is; the last is 0 of partition \"0\""},
		"waits at the end":   {"reads", "Read waited 50ms behind the last record: return io.EOF, or set Features.Endless"},
		"hangs at the end":   {"reads", "Read waited 50ms behind the last record: return io.EOF, or set Features.Endless"},
		"spins at the end":   {"reads", "Read returned 10000 times in a row without a record"},
		"closes once":        {"closes", "want nil or ErrClosed"},
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

// A source that does not end where it should would cost each case its patience, and the reader of the log theirs.
func TestSuiteStopsAtASourceThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"repeats the last", "waits at the end", "hangs at the end", "spins at the end"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runSuite(t, name, "")
			require.Error(t, err, "the suite passed")
			require.Contains(t, out, "the cases behind this one are not run")
			require.NotContains(t, out, "resumes_from")
			require.Less(t, len(out), 4000)
		})
	}
}

func TestPipelineOfTheSuiteEndsWhereTheSourceDoesNot(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"runs", "loses"} {
		out, err := runSuite(t, "repeats the last", of)
		require.Error(t, err, "the suite passed")
		require.Contains(t, out, "far more records came than there are")
	}
}

// runSuite runs the cases of the suite whose names begin with of.
func runSuite(t *testing.T, name, of string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuiteRunsOnBrokenSource$/^"+of)
	cmd.Env = append(os.Environ(), breakageEnv+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

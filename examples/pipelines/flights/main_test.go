package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/examples/internal/flightdata"
	"github.com/stretchr/testify/require"
)

var (
	kills = flag.Int("crash.kills", 50, "how often the crash test kills the program, at least")
	seed  = flag.Uint64("crash.seed", 1, "what its moments are drawn from")
)

// program builds the command once.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flights")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestSampleGivesTheExpectedOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), program(t), "-out", filepath.Join(dir, "late.csv")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	requireSameFile(t, filepath.Join("testdata", "expected.csv"), filepath.Join(dir, "late.csv"))
	rejects, err := os.ReadFile(filepath.Join(dir, "late.rejects.ndjson"))
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(rejects, []byte("\n")))
	require.Contains(t, string(out), "rejected          2")
}

func TestSecondStartWithStateRepeatsNothing(t *testing.T) {
	t.Parallel()
	dir, flights := t.TempDir(), program(t)
	for range 2 {
		out, err := exec.CommandContext(t.Context(), flights,
			"-out", filepath.Join(dir, "late.csv"), "-state", filepath.Join(dir, "state")).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	requireSameFile(t, filepath.Join("testdata", "expected.csv"), filepath.Join(dir, "late.csv"))
}

func TestOtherLimitKeepsFewerFlights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), program(t), "-late", "60", "-out", filepath.Join(dir, "late.csv")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	rows, err := os.ReadFile(filepath.Join(dir, "late.csv"))
	require.NoError(t, err)
	require.Positive(t, bytes.Count(rows, []byte("\n")))
	require.Less(t, bytes.Count(rows, []byte("\n")), 600)
}

func TestBadInputEndsWithOneClearLine(t *testing.T) {
	t.Parallel()
	dir, flights := t.TempDir(), program(t)
	cut := filepath.Join(dir, "cut.ndjson.gz")
	require.NoError(t, os.WriteFile(cut, flightdata.Sample[:len(flightdata.Sample)/2], 0o600))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such file":        {[]string{"-in", filepath.Join(dir, "none.ndjson")}, "none.ndjson"},
		"a broken archive":    {[]string{"-in", cut}, "cut.ndjson.gz"},
		"an output in no dir": {[]string{"-out", filepath.Join(dir, "none", "late.csv")}, "none"},
		"an argument":         {[]string{"flights.ndjson"}, "unexpected argument"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-out", filepath.Join(t.TempDir(), "late.csv")}, c.args...)
			cmd := exec.CommandContext(t.Context(), flights, args...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Run(), &exit)
			require.Equal(t, 1, exit.ExitCode())
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			require.Contains(t, stderr.String(), c.says)
		})
	}
}

// TestKilledAtAnyMomentItWritesWhatAnUndisturbedRunWrites is the test of invariant 5 with a real process: it is killed
// with SIGKILL at random moments until it has come to its end, and the output is that of a run that nobody disturbs,
// byte for byte. Most lives begin at a checkpoint. The full form is run with -crash.kills 1000.
func TestKilledAtAnyMomentItWritesWhatAnUndisturbedRunWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a process for half a minute")
	}
	dir, flights := t.TempDir(), program(t)
	in := filepath.Join(dir, "flights.ndjson")
	writeInput(t, in)
	want := filepath.Join(dir, "want.csv")
	out, err := exec.CommandContext(t.Context(), flights, "-in", in, "-out", want).CombinedOutput()
	require.NoError(t, err, "%s", out)

	rng := rand.New(rand.NewPCG(*seed, 1))
	killed, resumed := 0, 0
	for round := 0; killed < *kills; round++ {
		got, state := filepath.Join(dir, fmt.Sprint(round, ".csv")), filepath.Join(dir, fmt.Sprint("state", round))
		for {
			if hasCheckpoint(t, state) {
				resumed++
			}
			life := 20*time.Millisecond + time.Duration(rng.Int64N(int64(150*time.Millisecond)))
			if !runFor(t, life, flights, "-in", in, "-out", got, "-state", state, "-every", "5ms") {
				break
			}
			killed++
		}
		requireSameFile(t, want, got)
		requireSameFile(t, rejectsOf(want), rejectsOf(got))
		require.NoError(t, os.Remove(got))
	}
	t.Logf("killed %d times, and started from a checkpoint %d times", killed, resumed)
	require.GreaterOrEqual(t, killed, *kills)
	require.Greater(t, resumed, killed/2, "most lives begin at a checkpoint")
}

func rejectsOf(out string) string { return settings{out: out}.rejects() }

// writeInput makes an input of some hundred thousand lines out of the sample.
func writeInput(t *testing.T, path string) {
	t.Helper()
	packed, err := gzip.NewReader(bytes.NewReader(flightdata.Sample))
	require.NoError(t, err)
	lines, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Repeat(lines, 120), 0o600))
}

// hasCheckpoint says whether a start finds a checkpoint behind the first, which is taken before anything is read.
func hasCheckpoint(t *testing.T, state string) bool {
	t.Helper()
	all, err := checkpoint.Inspect(t.Context(), state)
	if err != nil {
		return false
	}
	for _, c := range all {
		if c.Number > 1 {
			return true
		}
	}
	return false
}

// runFor runs the program and kills it after a while, and says whether that was needed.
func runFor(t *testing.T, life time.Duration, name string, args ...string) (killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...) // its end is SIGKILL
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if ctx.Err() != nil && err != nil {
		return true
	}
	require.NoError(t, err, output.String())
	return false
}

func requireSameFile(t *testing.T, want, got string) {
	t.Helper()
	a, err := os.ReadFile(want)
	require.NoError(t, err)
	b, err := os.ReadFile(got)
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b), "%s (%d bytes) differs from %s (%d bytes)", got, len(b), want, len(a))
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/checkpoint"
)

// The test binary starts itself again: as the command itself, or as a run that holds the folder of holdVar.
const (
	commandVar = "RUNNEL_TEST_COMMAND"
	holdVar    = "RUNNEL_TEST_HOLD"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(commandVar) != "":
		main()
	case os.Getenv(holdVar) != "":
		if err := hold(os.Getenv(holdVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// hold keeps the lease until standard input ends.
func hold(folder string) error {
	log, err := checkpoint.Dir(folder).Open(context.Background(), "flights")
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, log.Close())
}

var taken = time.Date(2026, 3, 29, 3, 59, 59, 0, time.FixedZone("CEST", 2*3600))

// fill puts checkpoints of the pipeline flights into a new folder, which is relative to the working directory.
func fill(t *testing.T, list ...*checkpoint.Checkpoint) {
	t.Helper()
	ctx := context.Background()
	log, err := checkpoint.Dir("state").Open(ctx, "flights")
	require.NoError(t, err)
	for _, c := range list {
		c.Pipeline, c.Taken = "flights", taken
		require.NoError(t, log.Save(ctx, c))
	}
	require.NoError(t, log.Close())
}

// chain is a full checkpoint and two changes.
func chain() []*checkpoint.Checkpoint {
	sources := func(n int64) map[string]checkpoint.Position {
		return map[string]checkpoint.Position{
			"flights": {
				"a.ndjson":    checkpoint.OffsetToken(n, []byte("guard")),
				"long.ndjson": checkpoint.OffsetToken(1<<40, nil),
				"odd\x1b[2J":  []byte("some other token of 32 bytes ..."),
			},
			"idle": nil,
		}
	}
	put := func(n int) map[string][]byte { return map[string][]byte{fmt.Sprint(n): make([]byte, 2000)} }
	shape := []string{"sink out", "source flights", "source idle", "stage count"}
	return []*checkpoint.Checkpoint{
		{Number: 7, Shape: shape, Sources: sources(7), Sinks: map[string][]byte{"out": {1, 2, 3}},
			States: map[string]checkpoint.State{"count": {Full: true, Put: put(7)}}},
		{Number: 8, Shape: shape, Sources: sources(8), Sinks: map[string][]byte{"out": {1, 2, 3}},
			States: map[string]checkpoint.State{"count": {Put: put(8), Deleted: []string{"7"}}}},
		{Number: 9, Shape: shape, Sources: sources(9), Sinks: map[string][]byte{"out": {1, 2, 3}},
			States: map[string]checkpoint.State{"count": {}, "take-1": {Full: true}}},
	}
}

// result is what a command gave back.
type result struct {
	out, err string
	code     int
}

// run runs a command in this process.
func run(stdin string, args ...string) result {
	var out, err bytes.Buffer
	code := root().execute(context.Background(), args, console{strings.NewReader(stdin), &out, &err})
	return result{out.String(), err.String(), code}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want int
		out  string // a part of it; "" is nothing at all
		err  string
	}{
		{"nothing", nil, exitUsage, "", "Usage:\n  runnel COMMAND\n"},
		{"help", []string{"help"}, exitOK, "Usage:\n  runnel COMMAND\n", ""},
		{"short help flag", []string{"-h"}, exitOK, "checkpoint   Look into", ""},
		{"help flag", []string{"--help"}, exitOK, "version      Print", ""},
		{"help of a group", []string{"help", "checkpoint"}, exitOK, "Usage:\n  runnel checkpoint COMMAND\n", ""},
		{"help within a group", []string{"checkpoint", "help", "show"}, exitOK, "Usage:\n  runnel checkpoint show [--all] DIR\n", ""},
		{"help of a command", []string{"help", "checkpoint", "reset"}, exitOK, "Flags:\n  --yes   do not ask\n", ""},
		{"help flag of a command", []string{"checkpoint", "reset", "-h"}, exitOK, "Usage:\n  runnel checkpoint reset [--yes] DIR\n", ""},
		{"help of the unknown", []string{"help", "fly"}, exitUsage, "", `runnel: unknown command "fly"`},
		{"help below a command", []string{"help", "version", "fly"}, exitUsage, "", `unknown command "fly"`},
		{"unknown command", []string{"fly"}, exitUsage, "", "runnel: unknown command \"fly\"\nRun 'runnel -h' for usage.\n"},
		{"unknown flag", []string{"--fly"}, exitUsage, "", "runnel: unknown flag --fly"},
		{"group alone", []string{"checkpoint"}, exitUsage, "", "runnel checkpoint COMMAND"},
		{"unknown in a group", []string{"checkpoint", "fly"}, exitUsage, "",
			"runnel checkpoint: unknown command \"fly\"\nRun 'runnel checkpoint -h' for usage.\n"},
		{"version of a group", []string{"checkpoint", "--version"}, exitUsage, "", "unknown flag --version"},
		{"no folder", []string{"checkpoint", "show"}, exitUsage, "", "runnel checkpoint show: needs one folder, not 0"},
		{"two folders", []string{"checkpoint", "reset", "a", "b"}, exitUsage, "", "needs one folder, not 2"},
		{"empty folder name", []string{"checkpoint", "show", ""}, exitUsage, "", "needs one folder"},
		{"flag of another", []string{"checkpoint", "show", "--yes", "a"}, exitUsage, "", "-yes"},
		{"flag behind the folder", []string{"checkpoint", "show", "a", "--fly"}, exitUsage, "", "-fly"},
		{"folder named like a flag", []string{"checkpoint", "show", "--", "--all"}, exitFailure, "", "checkpoint: stat --all"},
		{"absent folder", []string{"checkpoint", "show", "absent"}, exitFailure, "", "runnel checkpoint show: checkpoint: stat absent"},
		{"reset of an absent folder", []string{"checkpoint", "reset", "absent", "--yes"}, exitFailure, "", "absent: no such file"},
		{"version", []string{"version"}, exitOK, "runnel devel", ""},
		{"version flag", []string{"--version"}, exitOK, "runnel devel", ""},
		{"version of something", []string{"version", "now"}, exitUsage, "", "takes no argument"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run("", test.args...)
			require.Equal(t, test.want, got.code)
			for _, part := range []struct{ got, want string }{{got.out, test.out}, {got.err, test.err}} {
				require.Contains(t, part.got, part.want)
				if part.want == "" {
					require.Empty(t, part.got)
				} else {
					require.True(t, strings.HasSuffix(part.got, "\n"))
				}
			}
		})
	}
}

func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	var visit func(cmd *command)
	visit = func(cmd *command) {
		require.Regexp(t, `^[A-Z].*\.$`, cmd.short, cmd.name)
		require.NotEqual(t, cmd.sub == nil, cmd.setup == nil, "%s is a command or a group", cmd.name)
		for _, sub := range cmd.sub {
			visit(sub)
		}
	}
	visit(root())
}

// runProcess runs the command as a process of its own.
func runProcess(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), commandVar+"=1")
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exit *exec.ExitError
	if runErr := cmd.Run(); runErr != nil {
		require.ErrorAs(t, runErr, &exit)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

func TestProcessEndsWithTheExitCode(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	require.Equal(t, exitOK, runProcess(t, "checkpoint", "show", "state").code)
	require.Equal(t, exitFailure, runProcess(t, "checkpoint", "show", "absent").code)
	require.Equal(t, exitUsage, runProcess(t).code)
	got := runProcess(t, "checkpoint", "reset", "state")
	require.Equal(t, exitFailure, got.code, "standard input is at its end: nobody says yes")
	require.Contains(t, got.err, "not confirmed")
	require.Equal(t, exitOK, runProcess(t, "checkpoint", "reset", "state", "--yes").code)
	require.Contains(t, runProcess(t, "checkpoint", "show", "state").out, "state: no checkpoints")
}

func TestResetIsRefusedWhileARunHoldsTheFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holdVar+"=state")
	stdin, err := holder.StdinPipe()
	require.NoError(t, err)
	stdout, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())

	got := run("", "checkpoint", "reset", "--yes", "state")
	require.Equal(t, exitFailure, got.code)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "runnel checkpoint reset: checkpoint: in use by another run")
	require.Contains(t, got.err, fmt.Sprintf("held by pid %d on host ", holder.Process.Pid))
	require.Contains(t, got.err, "pipeline flights")
	require.Contains(t, run("", "checkpoint", "show", "state").out, "state: 3 checkpoints of pipeline flights\n")

	require.NoError(t, stdin.Close())
	require.False(t, lines.Scan())
	require.NoError(t, holder.Wait())
	require.Equal(t, exitOK, run("", "checkpoint", "reset", "--yes", "state").code)
}

// brokenPipe is an output that nobody reads.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	for _, args := range [][]string{
		{"checkpoint", "show", "state"}, {"version"}, {"help"}, {"checkpoint", "reset", "--yes", "state"},
	} {
		var err bytes.Buffer
		code := root().execute(context.Background(), args, console{strings.NewReader(""), brokenPipe{}, &err})
		require.Equal(t, exitFailure, code)
		require.Contains(t, err.String(), "broken pipe")
	}
}

func damage(t *testing.T, n int) {
	t.Helper()
	name := filepath.Join("state", fmt.Sprintf("%020d.checkpoint", n))
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	file[len(file)-1]++
	require.NoError(t, os.WriteFile(name, file, 0o600))
}

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResetAsksAndSaysWhatItRemoved(t *testing.T) {
	for _, answer := range []string{"y\n", "YES\n", " yes"} {
		t.Run(answer, func(t *testing.T) {
			t.Chdir(t.TempDir())
			fill(t, chain()...)
			require.Equal(t, result{
				out: "removed 00000000000000000007.checkpoint\n" +
					"removed 00000000000000000008.checkpoint\n" +
					"removed 00000000000000000009.checkpoint\n" +
					"state: 3 files removed; the next run starts anew\n",
				err: "state: 3 checkpoints of pipeline flights.\nRemove everything, so that the next run starts anew? [y/N] ",
			}, run(answer, "checkpoint", "reset", "state"))
			require.Equal(t, "state: no checkpoints\n", run("", "checkpoint", "show", "state").out)
		})
	}
}

func TestResetWithoutAYesRemovesNothing(t *testing.T) {
	for _, answer := range []string{"", "\n", "n\n", "no\n", "yesterday\n"} {
		t.Run(answer, func(t *testing.T) {
			t.Chdir(t.TempDir())
			fill(t, chain()...)
			got := run(answer, "checkpoint", "reset", "state")
			require.Equal(t, exitFailure, got.code)
			require.Empty(t, got.out)
			require.Contains(t, got.err, "nothing was removed")
			require.Contains(t, run("", "checkpoint", "show", "state").out, "state: 3 checkpoints")
		})
	}
}

func TestResetWithYesDoesNotAsk(t *testing.T) {
	for _, args := range [][]string{{"checkpoint", "reset", "--yes", "state"}, {"checkpoint", "reset", "state", "--yes"}} {
		t.Chdir(t.TempDir())
		fill(t, chain()...)
		damage(t, 9)
		got := run("", args...)
		require.Equal(t, exitOK, got.code)
		require.Empty(t, got.err)
		require.Contains(t, got.out, "3 files removed")
	}
}

func TestResetOfAFolderWithoutCheckpointsHasNothingToAsk(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("state", 0o700))
	require.Equal(t, result{out: "state: 0 files removed; the next run starts anew\n"}, run("", "checkpoint", "reset", "state"))
}

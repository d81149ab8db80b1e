package main

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/checkpoint"
)

const contentOfNine = `  taken of sink out, source flights, source idle, stage count
  source flights
    a.ndjson       next offset 9, guard of 5 B 6775617264
    long.ndjson    next offset 1099511627776
    "odd\x1b[2J"   32 B 736f6d65206f7468657220746f6b656e…
  source idle
    no position yet
  sink out       token of 3 B
  stage count    0 entries set and 0 removed, 0 B
  stage take-1   0 entries, 0 B
`

func TestShowPrintsTheNewestInFull(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	got := run("", "checkpoint", "show", "state")
	require.Equal(t, result{out: `state: 3 checkpoints of pipeline flights

checkpoint 9, the newest: taken 2026-03-29T01:59:59Z, changes in the chain from 7
  file 00000000000000000009.checkpoint (249 B)
` + contentOfNine + `
checkpoint 8: taken 2026-03-29T01:59:59Z, changes in the chain from 7
  file 00000000000000000008.checkpoint (2.2 KiB)

checkpoint 7: taken 2026-03-29T01:59:59Z
  file 00000000000000000007.checkpoint (2.2 KiB)
`}, got)
}

func TestShowPrintsAllInFullIfAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	for _, args := range [][]string{{"checkpoint", "show", "--all", "state"}, {"checkpoint", "show", "state", "--all"}} {
		got := run("", args...)
		require.Equal(t, exitOK, got.code)
		require.Contains(t, got.out, contentOfNine)
		require.Contains(t, got.out, "  stage count   1 entry set and 1 removed, 2.0 KiB\n")
		require.Contains(t, got.out, "  stage count   1 entry, 2.0 KiB\n")
		require.Contains(t, got.out, "next offset 7,")
	}
}

func TestShowNamesWhatIsDamagedAndWhatTheNextRunGoesOnFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	damage(t, 8)
	got := run("", "checkpoint", "show", "state")
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.out, `state: 3 checkpoints of pipeline flights, 2 damaged

checkpoint 9, the newest: taken 2026-03-29T01:59:59Z, changes in the chain from 7
  file 00000000000000000009.checkpoint (249 B)
  DAMAGED: builds on checkpoint 8, which is missing or damaged

checkpoint 8
  file 00000000000000000008.checkpoint (2.2 KiB)
  DAMAGED: checksum does not match: truncated or overwritten

checkpoint 7: taken 2026-03-29T01:59:59Z
  file 00000000000000000007.checkpoint (2.2 KiB)
  taken of sink out, source flights, source idle, stage count
`)
	require.Contains(t, got.out, "next offset 7,")
	require.NotContains(t, got.out, "next offset 9,")

	damage(t, 7)
	damage(t, 9)
	got = run("", "checkpoint", "show", "state", "--all")
	require.Contains(t, got.out, "state: 3 checkpoints, 3 damaged\n", "no file tells whose they are")
	require.Contains(t, got.out, "\nNone of them can be read.\n")
}

func TestShowListsWhatWasSetAside(t *testing.T) {
	t.Chdir(t.TempDir())
	fill(t, chain()...)
	log, err := checkpoint.Dir("state").Open(context.Background(), "flights")
	require.NoError(t, err)
	require.NoError(t, log.Rewind(context.Background(), 8))
	require.NoError(t, log.Close())
	require.Contains(t, run("", "checkpoint", "show", "state").out, `
set aside by a rewind, not used:
  00000000000000000009.checkpoint.aside-1 (249 B)
`)
}

func TestShowOfAFolderWithoutCheckpoints(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("state", 0o700))
	require.Equal(t, result{out: "state: no checkpoints\n"}, run("", "checkpoint", "show", "state"))
}

func TestSizesAreForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB",
		7 << 40: "7.0 TiB", 2048 << 40: "2048.0 TiB",
	} {
		require.Equal(t, want, bytesText(n))
	}
}

package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// names returns the names of what is in a folder, but for the lock file.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names
}

// put writes a file into a folder.
func put(t *testing.T, folder, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), fileMode))
}

func TestFolderIsCreatedWithWhatIsMissingAbove(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", "b", "state")
	save(t, open(t, Dir(folder)), flights(1, nil))
	info, err := os.Stat(folder)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // where files have no such mode
		require.Zero(t, info.Mode().Perm()&0o007, "others may not look into state")
	}
	require.Equal(t, []string{"00000000000000000001.checkpoint"}, names(t, folder))
}

func TestFolderThatCannotBeCreatedIsAnError(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	put(t, folder, "file", "")
	_, err := Dir(filepath.Join(folder, "file", "state")).Open(ctx, "flights")
	require.ErrorContains(t, err, "checkpoint: ")
}

func TestEmptyPathIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	save(t, open(t, Dir(".")), flights(1, nil))
	const why = `has an empty path: name the folder, or say "." for the working directory`
	stored := names(t, folder)
	require.NotEmpty(t, stored)

	store := Dir("")
	require.EqualError(t, store.(Validator).Validate(), "checkpoint: Dir "+why)
	_, err := store.Open(ctx, "flights")
	require.EqualError(t, err, "checkpoint: Dir "+why)
	_, err = Reset(ctx, "")
	require.EqualError(t, err, "checkpoint: Reset "+why)
	_, err = Inspect(ctx, "")
	require.EqualError(t, err, "checkpoint: Inspect "+why)
	require.Equal(t, stored, names(t, folder))
	require.NoError(t, Dir(".").(Validator).Validate())
}

func TestFolderStaysTheSameWhenTheWorkingDirectoryChanges(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Chdir(first)
	log := open(t, Dir("state"))
	t.Chdir(second)
	save(t, log, flights(1, nil))
	require.Len(t, names(t, filepath.Join(first, "state")), 1)
	require.Empty(t, names(t, second))
}

func TestOpenRemovesWhatWasHalfWrittenAndNothingElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	others := []string{"notes.tmp", "1.checkpoint", "00000000000000000000.checkpoint", "99999999999999999999.checkpoint",
		"00000000000000000002.checkpoint.bak", "00000000000000000002.checkpoint.aside-x", ".checkpoint"}
	for _, name := range append(others, storedName(2)+tempSuffix, storedName(7)+tempSuffix) {
		put(t, folder, name, "x")
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, storedName(3)), folderMode))
	log := open(t, Dir(folder))
	require.Nil(t, newest(t, log))
	require.ElementsMatch(t, append(others, storedName(3)), names(t, folder))
}

func TestOnlyTheLastRewindsAreKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil))
	for range 5 {
		save(t, log, flights(2, nil), flights(3, nil))
		require.NoError(t, log.Rewind(ctx, 1))
	}
	require.Equal(t, []string{
		"00000000000000000001.checkpoint",
		"00000000000000000002.checkpoint.aside-3",
		"00000000000000000002.checkpoint.aside-4",
		"00000000000000000002.checkpoint.aside-5",
		"00000000000000000003.checkpoint.aside-3",
		"00000000000000000003.checkpoint.aside-4",
		"00000000000000000003.checkpoint.aside-5",
	}, names(t, folder))
}

func TestFilesThatCannotBeRemovedAreReportedWhenClosing(t *testing.T) {
	t.Parallel()
	m, log := scenario{saved: []*Checkpoint{flights(1, nil), flights(2, nil), flights(3, nil)}}.arrange(t)
	m.before = func(op, _ string) error {
		if op == "remove" {
			return os.ErrPermission
		}
		return nil
	}
	save(t, log, flights(4, nil))
	m.before = nil
	save(t, log, flights(5, nil))
	require.Len(t, m.live, 3, "the next one tried again")
	m.before = func(op, _ string) error {
		if op == "remove" {
			return os.ErrPermission
		}
		return nil
	}
	save(t, log, flights(6, nil))
	require.ErrorIs(t, log.Close(), os.ErrPermission)
	require.NoError(t, log.Close())
}

func TestTooLongANameIsRefusedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := string(make([]byte, maxHeader))
	log, err := Dir(folder).Open(ctx, name)
	require.NoError(t, err)
	defer log.Close()
	require.ErrorContains(t, log.Save(ctx, &Checkpoint{Pipeline: name, Number: 1}), "name of the pipeline")
	require.Empty(t, names(t, folder))
}

func TestRunOfAnotherProcessIsRefusedByWhoHoldsIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil))
	require.NoError(t, log.Close())
	other := startChild(t, roleHold, folder)
	require.Equal(t, "held", other.line(t))

	_, err := Dir(folder).Open(ctx, "flights")
	require.ErrorIs(t, err, ErrInUse)
	host, hostErr := os.Hostname()
	require.NoError(t, hostErr)
	require.ErrorContains(t, err, fmt.Sprintf("pid %d on host %s since 2", other.cmd.Process.Pid, host))
	require.ErrorContains(t, err, "pipeline flights")
	require.ErrorContains(t, err, folder)
	_, err = Reset(ctx, folder)
	require.ErrorIs(t, err, ErrInUse)
	infos, err := Inspect(ctx, folder)
	require.NoError(t, err)
	require.Len(t, infos, 1)

	require.NoError(t, other.stdin.Close())
	require.False(t, other.lines.Scan())
	require.NoError(t, other.cmd.Wait())
	require.NoError(t, open(t, Dir(folder)).Close())

	killed := startChild(t, roleHold, folder)
	require.Equal(t, "held", killed.line(t))
	killed.kill()
	require.Equal(t, flights(1, nil), newest(t, open(t, Dir(folder))), "the lease ended with the process")
}

func TestProcessKilledWhileSavingLosesNothingThatItReported(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var last Number
	for round := range 5 {
		saver := startChild(t, roleSave, folder)
		for range 12 + round {
			n, err := strconv.ParseUint(saver.line(t), 10, 64)
			require.NoError(t, err)
			last = Number(n)
		}
		saver.kill()
		log, err := Dir(folder).Open(ctx, "flights")
		require.NoError(t, err)
		c := load(t, log, 0)
		require.GreaterOrEqual(t, c.Number, last)
		require.Len(t, c.States["count"].Put, int((c.Number-1)%10+1), "all of its chain")
		require.NoError(t, log.Rewind(ctx, 0))
		require.NoError(t, log.Close())
	}
}

func TestRunWhoseFolderWasTakenAwaySavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove an open lock file")
	}
	tests := map[string]func(t *testing.T, folder string){
		"removed": func(t *testing.T, folder string) {
			require.NoError(t, os.RemoveAll(folder))
		},
		"given to another run": func(t *testing.T, folder string) {
			require.NoError(t, os.Remove(filepath.Join(folder, lockName)))
			save(t, open(t, Dir(folder)), flights(7, nil))
		},
	}
	for name, take := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "state")
			log := open(t, Dir(folder))
			save(t, log, flights(1, nil))
			take(t, folder)
			require.ErrorIs(t, log.Save(ctx, flights(2, nil)), ErrLeaseLost)
			require.ErrorIs(t, log.Rewind(ctx, 0), ErrLeaseLost)
		})
	}
}

func TestHolderThatCannotBeReadIsUnknown(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"empty": "", "half": `{"pid":1`, "other": "hello", "no pid": "{}"} {
		put(t, folder, name, text)
		require.Equal(t, "an unknown process", readHolder(filepath.Join(folder, name)))
	}
	require.Equal(t, "an unknown process", readHolder(filepath.Join(folder, "absent")))
}

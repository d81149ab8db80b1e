package faultfs_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func write(t *testing.T, fsys fileconn.FS, name, text string) fileconn.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
	return f
}

func read(t *testing.T, fsys fileconn.FS, name string) string {
	t.Helper()
	f, err := fileconn.Open(fsys, name)
	require.NoError(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(data)
}

// TestMemBehavesLikeTheMachine runs the same steps on both.
func TestMemBehavesLikeTheMachine(t *testing.T) {
	t.Parallel()
	systems := map[string]struct {
		fsys fileconn.FS
		dir  string
	}{
		"memory":  {faultfs.NewMem(), "d"},
		"machine": {fileconn.OS{}, filepath.Join(t.TempDir(), "d")},
	}
	for name, s := range systems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, a, b := s.fsys, filepath.Join(s.dir, "a"), filepath.Join(s.dir, "b")
			_, err := fileconn.Open(fsys, a)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NoError(t, fsys.MkdirAll(s.dir, 0o755))

			f := write(t, fsys, a, "hello")
			defer f.Close()
			require.Equal(t, "hello", read(t, fsys, a))
			require.NoError(t, fsys.Rename(a, b))
			_, err = fsys.Stat(a)
			require.ErrorIs(t, err, fs.ErrNotExist)

			byName, err := fsys.Stat(b)
			require.NoError(t, err)
			byHandle, err := f.Stat()
			require.NoError(t, err)
			require.NotZero(t, fileconn.IDOf(byName))
			require.Equal(t, fileconn.IDOf(byName), fileconn.IDOf(byHandle))

			write(t, fsys, a, "other").Close()
			other, err := fsys.Stat(a)
			require.NoError(t, err)
			require.NotEqual(t, fileconn.IDOf(byName), fileconn.IDOf(other))

			entries, err := fsys.ReadDir(s.dir)
			require.NoError(t, err)
			require.Len(t, entries, 2)
			require.Equal(t, "a", entries[0].Name())

			require.NoError(t, fsys.Truncate(b, 2))
			require.NoError(t, fsys.Remove(b))
			buf := make([]byte, 5)
			n, err := f.ReadAt(buf, 0)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, "he", string(buf[:n]), "an open file outlives its name")
			require.NoError(t, fsys.SyncDir(s.dir))
		})
	}
}

func TestMemCrashKeepsOnlyWhatWasSynced(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	f := write(t, m, "a", "safe")
	require.NoError(t, f.Sync())
	require.NoError(t, m.SyncDir("."))
	_, err := io.WriteString(f, " lost")
	require.NoError(t, err)
	g := write(t, m, "nameless", "x")
	require.NoError(t, g.Sync())

	require.Equal(t, "safe", read(t, m.Crash(0), "a"))
	require.Equal(t, "safe l", read(t, m.Crash(2), "a"))
	_, err = m.Crash(0).Stat("nameless")
	require.ErrorIs(t, err, fs.ErrNotExist, "its directory was not synced")
	require.Equal(t, "safe lost", read(t, m, "a"), "the original goes on")

	require.NoError(t, m.Rename("a", "b"))
	require.Equal(t, "safe", read(t, m.Crash(0), "a"), "a rename without a sync of the directory")
	require.NoError(t, m.SyncDir("."))
	_, err = m.Crash(0).Stat("a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, "safe", read(t, m.Crash(0), "b"))
}

func TestMemGivesAnInodeToTheNextFile(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	f := write(t, m, "a", "x")
	was, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, m.Remove("a"))
	g := write(t, m, "b", "y")
	is, err := g.Stat()
	require.NoError(t, err)
	require.NotEqual(t, fileconn.IDOf(was), fileconn.IDOf(is), "the old one is still open")
	require.NoError(t, f.Close())
	require.NoError(t, write(t, m, "c", "z").Close())
	is, err = m.Stat("c")
	require.NoError(t, err)
	require.Equal(t, fileconn.IDOf(was), fileconn.IDOf(is))
	require.Equal(t, 1, m.OpenFiles())
}

func TestMemRunsOutOfSpace(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	m.SetCapacity(10)
	f := write(t, m, "a", "12345678")
	n, err := io.WriteString(f, "abcd")
	require.Equal(t, 2, n)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Truncate(8))
	n, err = io.WriteString(f, "ab")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, "12345678ab", read(t, m, "a"))
}

func TestInjectFailsShortensOrLetsPass(t *testing.T) {
	t.Parallel()
	var fault error
	fsys := faultfs.Inject(faultfs.NewMem(), func(c faultfs.Call) error {
		if c.Op == faultfs.OpWrite {
			return fault
		}
		return nil
	})
	f := write(t, fsys, "a", "one ")
	fault = syscall.EIO
	n, err := io.WriteString(f, "two ")
	require.Zero(t, n)
	require.ErrorIs(t, err, syscall.EIO)
	fault = &faultfs.Short{N: 2}
	n, err = f.Write([]byte("three"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	fault = &faultfs.Short{N: 1, Err: syscall.ENOSPC}
	n, err = f.Write([]byte("four"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 1, n)
	require.Equal(t, "one thf", read(t, fsys, "a"))
	require.NotErrorAs(t, err, new(*faultfs.Short))
}

package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

func TestZerosAtTheEndAreCutAndReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1<<20, quiet())
	w.put(t, 1, 3)
	require.NoError(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}))
	w.stop(t)
	for _, name := range []string{filepath.Join(dir, "journal"), segments(t, dir)[0]} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(name, info.Size()+1000))
	}
	var told bytes.Buffer
	w = start(t, dir, 1<<20, Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
	defer w.stop(t)
	require.Equal(t, count(0, 3), w.offsets(t, 0, everything))
	require.Equal(t, map[string]string{"a": "1"}, entries(t, w.Store))
	require.Equal(t, 2, bytes.Count(told.Bytes(), []byte("level=WARN")))
	require.Equal(t, 2, bytes.Count(told.Bytes(), []byte("bytes=1000")))
	require.Contains(t, told.String(), segments(t, dir)[0])
}

func TestAnOlderSegmentHasToBeWhole(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(files []string) error{
		"cut":     func(files []string) error { return os.Truncate(files[0], 300) },
		"missing": func(files []string) error { return os.Remove(files[1]) },
		"foreign": func(files []string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(files[0]), "1.log"), nil, fileMode)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := start(t, dir, 1000, quiet())
			for range 9 {
				w.put(t, 1, 5)
			}
			w.stop(t)
			files := segments(t, dir)
			require.NoError(t, spoil(files))
			_, err := tryStart(dir, 1000, quiet())
			require.ErrorContains(t, err, filepath.Dir(files[0]))
		})
	}
}

func TestFewOpenFilesDoForManySegments(t *testing.T) {
	t.Parallel()
	options := quiet()
	options.OpenFiles = 2
	w := start(t, t.TempDir(), 1000, options)
	defer w.stop(t)
	for range 50 {
		w.put(t, 1, 5)
		require.LessOrEqual(t, len(w.files.all), 2)
	}
	require.Equal(t, count(0, 250), w.offsets(t, 0, everything))
	require.LessOrEqual(t, len(w.files.all), 2)
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions on windows")
	}
	dir := filepath.Join(t.TempDir(), "data")
	w := start(t, dir, 1000, quiet())
	w.put(t, 1, 5)
	w.stop(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

// slowFile counts what is made durable, or does not.
type slowFile struct {
	file
	syncs *atomic.Int32
	err   *atomic.Pointer[error]
}

func (f slowFile) Sync() error {
	f.syncs.Add(1)
	if err := f.err.Load(); err != nil {
		return *err
	}
	return f.file.Sync()
}

func TestAnIntervalMakesDurableWhatWasWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int32
		var fault atomic.Pointer[error]
		options := quiet()
		options.Fsync = FsyncEvery(time.Second)
		options.open = func(name string, flag int) (file, error) {
			f, err := openFile(name, flag)
			return slowFile{f, &syncs, &fault}, err
		}
		w := start(t, t.TempDir(), 1<<20, options)
		before := syncs.Load()
		w.put(t, 1, 1)
		require.NoError(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}))
		require.Equal(t, before, syncs.Load())
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, before+2, syncs.Load(), "the segment and the journal")
		time.Sleep(5 * time.Second)
		require.Equal(t, before+2, syncs.Load(), "nothing was written")

		w.put(t, 1, 1)
		bad := errors.New("input/output error")
		fault.Store(&bad)
		time.Sleep(time.Second)
		require.ErrorContains(t, w.log.Append(wiretest.Stored(t, 2, 1, 1)), "an earlier error: ")
		fault.Store(nil)
		w.stop(t)
	})
}

func TestWhatCannotBeMadeDurableIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var syncs atomic.Int32
	var fault atomic.Pointer[error]
	options := quiet()
	options.Fsync = FsyncAlways
	options.open = func(name string, flag int) (file, error) {
		f, err := openFile(name, flag)
		return slowFile{f, &syncs, &fault}, err
	}
	w := start(t, dir, 1<<20, options)
	w.put(t, 1, 1)
	bad := errors.New("input/output error")
	fault.Store(&bad)
	require.ErrorIs(t, w.log.Append(wiretest.Stored(t, 1, 1, 1)), bad)
	require.ErrorIs(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}), bad)
	require.ErrorContains(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}), "an earlier error")
	fault.Store(nil)
	require.ErrorContains(t, w.log.Append(wiretest.Stored(t, 1, 1, 1)), "an earlier error")
	_ = w.Close() // tells the error of the journal once more
	w = start(t, dir, 1<<20, quiet())
	defer w.stop(t)
	require.Equal(t, count(0, 1), w.offsets(t, 0, everything))
	require.Empty(t, entries(t, w.Store))
}

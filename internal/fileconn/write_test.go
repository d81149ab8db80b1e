package fileconn_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// create returns a new file in memory, whose calls ask hook, and a function that reads it.
func create(t *testing.T, hook faultfs.Hook) (fileconn.File, func() string) {
	t.Helper()
	mem := faultfs.NewMem()
	f, err := fileconn.Create(faultfs.Inject(mem, hook), "out", 0o644)
	require.NoError(t, err)
	return f, func() string { return content(t, mem, "out") }
}

func content(t *testing.T, fsys fileconn.FS, name string) string {
	t.Helper()
	f, err := fileconn.Open(fsys, name)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(b)
}

// once returns a hook that fails the next call of a kind, each time one is put in.
type once struct{ faults map[faultfs.Op]error }

func (o *once) hook(c faultfs.Call) error {
	err := o.faults[c.Op]
	delete(o.faults, c.Op)
	return err
}

func TestOutputCutsAFailedWriteBackToTheLastWholeRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fault error
		taken int
		cause error
	}{
		{"nothing was written", syscall.EIO, 0, syscall.EIO},
		{"a part of the first record", &faultfs.Short{N: 2, Err: syscall.ENOSPC}, 0, syscall.ENOSPC},
		{"exactly the first record", &faultfs.Short{N: 4, Err: syscall.ENOSPC}, 4, syscall.ENOSPC},
		{"a part of the second record", &faultfs.Short{N: 7, Err: syscall.ENOSPC}, 4, syscall.ENOSPC},
		{"short without an error", &faultfs.Short{N: 9}, 8, io.ErrShortWrite},
		{"all of it, and an error", &faultfs.Short{N: 12, Err: syscall.EIO}, 12, syscall.EIO},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			faults := &once{map[faultfs.Op]error{faultfs.OpWrite: tc.fault}}
			f, read := create(t, faults.hook)
			out, err := fileconn.NewOutput(f, 0)
			require.NoError(t, err)

			const records = "one\ntwo\nsix\n"
			n, err := out.Write([]byte(records), []int{4, 8, 12})
			require.ErrorIs(t, err, tc.cause)
			require.Equal(t, tc.taken, n)
			require.Equal(t, records[:n], read())

			n, err = out.Write([]byte(records[n:]), nil)
			require.NoError(t, err)
			require.Equal(t, len(records)-tc.taken, n)
			require.Equal(t, records, read())
			require.NoError(t, out.Close())
		})
	}
}

func TestOutputCutsBeforeTheNextWriteWhatItCouldNotCutAtOnce(t *testing.T) {
	t.Parallel()
	faults := &once{map[faultfs.Op]error{}}
	f, read := create(t, faults.hook)
	out, err := fileconn.NewOutput(f, 0)
	require.NoError(t, err)

	faults.faults[faultfs.OpWrite] = &faultfs.Short{N: 6, Err: syscall.ENOSPC}
	faults.faults[faultfs.OpTruncate] = syscall.EIO
	n, err := out.Write([]byte("one\ntwo\n"), []int{4, 8})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, err, syscall.EIO)
	require.Equal(t, 4, n)
	require.Equal(t, "one\ntw", read(), "the torn line is still there")

	_, err = out.Write([]byte("t\n"), nil)
	require.NoError(t, err)
	require.Equal(t, "one\nt\n", read())

	faults.faults[faultfs.OpWrite] = &faultfs.Short{N: 1, Err: syscall.ENOSPC}
	faults.faults[faultfs.OpTruncate] = syscall.EIO
	_, err = out.Write([]byte("longer than before\n"), nil)
	require.Error(t, err)
	require.NoError(t, out.Close())
	require.Equal(t, "one\nt\n", read(), "closing cuts it too")
}

func TestOutputWritesNothingAfterAFailedSync(t *testing.T) {
	t.Parallel()
	faults := &once{map[faultfs.Op]error{faultfs.OpSync: syscall.ENOSPC}}
	f, read := create(t, faults.hook)
	out, err := fileconn.NewOutput(f, 0)
	require.NoError(t, err)
	_, err = out.Write([]byte("one\n"), nil)
	require.NoError(t, err)

	for range 2 {
		err = out.Sync()
		require.ErrorIs(t, err, fileconn.ErrLost)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.False(t, fileconn.WriteCanBeRepeated(err))
	}
	_, err = out.Write([]byte("two\n"), nil)
	require.ErrorIs(t, err, fileconn.ErrLost)
	require.NoError(t, out.Close())
	require.Equal(t, "one\n", read())
}

func TestOutputSyncsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	syncs := 0
	f, _ := create(t, func(c faultfs.Call) error {
		if c.Op == faultfs.OpSync {
			syncs++
		}
		return nil
	})
	out, err := fileconn.NewOutput(f, 0)
	require.NoError(t, err)
	for i := range 3 {
		_, err = out.Write([]byte("x\n"), nil)
		require.NoError(t, err)
		require.NoError(t, out.Sync())
		require.NoError(t, out.Sync())
		require.Equal(t, i+1, syncs)
	}
	require.NoError(t, out.Cut(2))
	require.NoError(t, out.Sync())
	require.Equal(t, 4, syncs)
}

func TestOutputGoesOnFromALengthAndCutsWhatLiesBeyond(t *testing.T) {
	t.Parallel()
	f, read := create(t, func(faultfs.Call) error { return nil })
	_, err := f.Write([]byte("one\ntwo\nsi"))
	require.NoError(t, err)
	out, err := fileconn.NewOutput(f, 8)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", read())
	_, err = out.Write([]byte("ten\n"), nil)
	require.NoError(t, err)
	require.NoError(t, out.Cut(4))
	require.Error(t, out.Cut(5), "what was given up is gone")
	_, err = out.Write([]byte("six\n"), nil)
	require.NoError(t, err)
	require.Equal(t, "one\nsix\n", read())

	_, err = fileconn.NewOutput(f, 9)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a file that is too short is not padded")
}

func TestMarkTellsOneFileFromAnother(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1023, 1024, 1025, 5000} {
		for _, step := range []int{1, 7, 1024, 3000} {
			f, read := create(t, func(faultfs.Call) error { return nil })
			out, err := fileconn.NewOutput(f, 0)
			require.NoError(t, err)
			for at := 0; at < size; at += step {
				var p []byte
				for i := at; i < min(size, at+step); i++ {
					p = append(p, byte(i*7))
				}
				_, err := out.Write(p, nil)
				require.NoError(t, err)
			}
			m := out.Mark()
			require.EqualValues(t, size, m.Size)
			same, err := fileconn.Matches(f, m)
			require.NoError(t, err)
			require.True(t, same, "size %d, step %d", size, step)

			_, err = out.Write([]byte("more"), nil)
			require.NoError(t, err)
			same, err = fileconn.Matches(f, m)
			require.NoError(t, err)
			require.True(t, same, "what comes behind does not matter")
			if size == 0 {
				continue
			}
			require.Len(t, read(), size+4)
			_, err = f.Seek(int64(size-1), io.SeekStart)
			require.NoError(t, err)
			_, err = f.Write([]byte{0xff})
			require.NoError(t, err)
			same, err = fileconn.Matches(f, m)
			require.NoError(t, err)
			require.False(t, same, "size %d, step %d", size, step)
			require.NoError(t, f.Truncate(int64(size-1)))
			same, err = fileconn.Matches(f, m)
			require.NoError(t, err)
			require.False(t, same, "a shorter file is another")
		}
	}
}

func TestWriteCanBeRepeatedAfterAFullDiskOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{io.ErrShortWrite, true},
		{&os.PathError{Op: "write", Err: syscall.ENOSPC}, true},
		{fmt.Errorf("place: %w", syscall.EDQUOT), true},
		{syscall.EIO, false},
		{os.ErrClosed, false},
		{errors.New("other"), false},
		{nil, false},
	} {
		require.Equal(t, tc.want, fileconn.WriteCanBeRepeated(tc.err), "%v", tc.err)
	}
}

func TestLockKeepsASecondWriterOutUntilTheFirstCloses(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "out")
	first, err := fileconn.Create(fileconn.OS{}, name, 0o644)
	require.NoError(t, err)
	require.NoError(t, fileconn.Lock(first))
	second, err := fileconn.OS{}.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	require.ErrorIs(t, fileconn.Lock(second), fileconn.ErrLocked)
	require.NoError(t, first.Close())
	require.NoError(t, fileconn.Lock(second))
	require.NoError(t, second.Close())
}

package disk

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

func TestALogReadsWhatWasAppendedAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	w := start(t, dir, 64<<10, quiet())
	for i := range 400 {
		w.put(t, uint64(i+1), 1+random.IntN(20))
	}
	for range 2 {
		next := w.log.Span().Next
		require.Greater(t, w.log.Span().Segments, uint32(3))
		for range 300 {
			from, n := uint64(random.IntN(int(next)+3)), 1+random.IntN(400)
			require.Equal(t, count(from, min(next, from+uint64(n))), w.offsets(t, from, broker.ReadLimit{Count: uint32(n), Bytes: 1 << 30}))
			got, _, err := w.log.Read([]byte("before"), from, broker.ReadLimit{Count: 1 << 30, Bytes: 9000})
			require.NoError(t, err)
			require.Equal(t, "before", string(got[:6]))
			require.LessOrEqual(t, len(got), 9006)
		}
		require.Equal(t, count(0, next), w.offsets(t, 0, everything))
		span := w.log.Span()
		w.stop(t)
		w = start(t, dir, 64<<10, quiet())
		require.Equal(t, span, w.log.Span())
	}
	w.stop(t)
}

func TestALogFindsTheFirstMessageSinceATime(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir(), 2000, quiet())
	defer w.stop(t)
	for i, n := range []int{2, 3, 1, 9, 30} {
		w.put(t, uint64(i+1)*10, n)
	}
	for at, want := range map[uint64]uint64{0: 0, 10: 0, 11: 2, 20: 2, 30: 5, 31: 6, 50: 15, 51: 45} {
		got, err := w.log.Since(at)
		require.NoError(t, err)
		require.Equal(t, want, got, at)
	}
}

func TestDroppedSegmentsAreGoneAndTheNextOffsetStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1000, quiet())
	for range 6 {
		w.put(t, 1, 5)
	}
	require.NoError(t, w.log.DropSegments(2))
	first := w.log.Span().First
	require.NotZero(t, first)
	require.Equal(t, count(first, 30), w.offsets(t, 0, everything))
	require.NoError(t, w.log.DropSegments(99))
	require.Equal(t, broker.Span{First: 30, Next: 30, Segments: 1}, w.log.Span())
	w.stop(t)
	w = start(t, dir, 1000, quiet())
	defer w.stop(t)
	require.Equal(t, broker.Span{First: 30, Next: 30, Segments: 1}, w.log.Span())
	w.put(t, 1, 1)
	require.Equal(t, []uint64{30}, w.offsets(t, 0, everything))
}

func TestALogThatIsTruncatedGoesOnFromThere(t *testing.T) {
	t.Parallel()
	for next := range uint64(9) {
		dir := t.TempDir()
		w := start(t, dir, 900, quiet())
		for i, n := range []int{2, 3, 1} {
			w.put(t, uint64(i+1), n)
		}
		require.NoError(t, w.log.Truncate(next))
		require.Equal(t, count(0, min(next, 6)), w.offsets(t, 0, everything))
		w.stop(t)
		w = start(t, dir, 900, quiet())
		require.Equal(t, count(0, min(next, 6)), w.offsets(t, 0, everything))
		w.put(t, 9, 1)
		require.Equal(t, count(0, min(next, 6)+1), w.offsets(t, 0, everything))
		w.stop(t)
	}
}

// segments are the files of the log.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, partitionsName, "1.2.0.77", "*.log"))
	require.NoError(t, err)
	return files
}

func TestATornEndIsCutWhereverItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1<<20, quiet())
	w.put(t, 1, 3)
	whole := w.log.Span().Bytes
	w.put(t, 1, 2)
	w.stop(t)
	name := segments(t, dir)[0]
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	for end := int(whole); end < len(data); end++ {
		require.NoError(t, os.WriteFile(name, data[:end], fileMode))
		w := start(t, dir, 1<<20, quiet())
		require.Equal(t, whole, w.log.Span().Bytes)
		w.put(t, 1, 1)
		require.Equal(t, count(0, 4), w.offsets(t, 0, everything))
		w.stop(t)
	}
}

func TestDamageBeforeTheEndIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1<<20, quiet())
	w.put(t, 1, 3)
	w.put(t, 1, 2)
	w.stop(t)
	name := segments(t, dir)[0]
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	first := len(wiretest.Stored(t, 0, 1, 3))
	for at := range first {
		bad := append([]byte(nil), data...)
		bad[at] ^= 0x41
		require.NoError(t, os.WriteFile(name, bad, fileMode))
		_, err := tryStart(dir, 1<<20, quiet())
		var damage *DamageError
		require.ErrorAs(t, err, &damage, at)
		require.Equal(t, name, damage.File)
		require.Zero(t, damage.Offset)
		kept, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, bad, kept, "nothing is changed")
	}
}

// fullFile is a file on a disk without room: half of a write is done.
type fullFile struct {
	file
	full *bool
}

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	if !*f.full {
		return f.file.WriteAt(b, at)
	}
	n, err := f.file.WriteAt(b[:len(b)/2], at)
	return n, errors.Join(err, syscall.ENOSPC)
}

func TestAFullDiskRefusesAndLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	dir, full := t.TempDir(), false
	options := quiet()
	options.open = func(name string, flag int) (file, error) {
		f, err := openFile(name, flag)
		return fullFile{f, &full}, err
	}
	w := start(t, dir, 1<<20, options)
	w.put(t, 1, 3)
	require.NoError(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}))
	full = true
	require.ErrorIs(t, w.log.Append(wiretest.Stored(t, 3, 1, 5)), syscall.ENOSPC)
	require.ErrorIs(t, w.Commit(broker.Change{Key: "a", Value: []byte("2")}), syscall.ENOSPC)
	require.Equal(t, count(0, 3), w.offsets(t, 0, everything))
	full = false
	w.put(t, 1, 1)
	require.NoError(t, w.Commit(broker.Change{Key: "b", Value: []byte("3")}))
	w.stop(t)
	w = start(t, dir, 1<<20, options)
	defer w.stop(t)
	require.Equal(t, count(0, 4), w.offsets(t, 0, everything))
	require.Equal(t, map[string]string{"a": "1", "b": "3"}, entries(t, w.Store))
}

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// entries are what a store has.
func entries(t *testing.T, s *Store) map[string]string {
	t.Helper()
	found := map[string]string{}
	_, err := s.Load(func(key string, value []byte) error { found[key] = string(value); return nil })
	require.NoError(t, err)
	return found
}

func open1(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, quiet())
	require.NoError(t, err)
	return s
}

func TestAJournalKeepsTheLastValueOfEachKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for start := range uint64(3) {
		s := open1(t, dir)
		starts, err := s.Load(func(string, []byte) error { return nil })
		require.NoError(t, err)
		require.Equal(t, start, starts)
		for i := range 30_000 {
			require.NoError(t, s.Commit(broker.Change{Key: fmt.Sprint("k", i%7), Value: fmt.Appendf(nil, "%050d", i)}))
		}
		require.NoError(t, s.Commit(broker.Change{Key: "k1"}, broker.Change{Key: "empty", Value: []byte{}}))
		require.Less(t, s.journal.size, int64(2<<20), "it is written anew")
		require.NoError(t, s.Close())
	}
	s := open1(t, dir)
	defer s.Close()
	got := entries(t, s)
	require.Len(t, got, 7)
	require.Equal(t, fmt.Sprintf("%050d", 29_999), got[fmt.Sprint("k", 29_999%7)])
	require.NotContains(t, got, "k1")
	require.Contains(t, got, "empty")
}

// journalOf makes a folder whose journal ends with a record of a change.
func journalOf(t *testing.T) (dir string, data []byte, last int) {
	t.Helper()
	dir = t.TempDir()
	s := open1(t, dir)
	require.NoError(t, s.Commit(broker.Change{Key: "a", Value: []byte("one")}))
	last = int(s.journal.size)
	require.NoError(t, s.Commit(broker.Change{Key: "a", Value: []byte("two")}, broker.Change{Key: "b", Value: []byte("x")}))
	require.NoError(t, s.Close())
	data, err := os.ReadFile(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	return dir, data, last
}

func TestATornRecordIsCutWhereverItIs(t *testing.T) {
	t.Parallel()
	dir, data, last := journalOf(t)
	for end := last; end < len(data); end++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "journal"), data[:end], fileMode))
		s := open1(t, dir)
		require.Equal(t, map[string]string{"a": "one"}, entries(t, s))
		require.NoError(t, s.Close())
	}
}

func TestADamagedJournalIsRefused(t *testing.T) {
	t.Parallel()
	dir, data, last := journalOf(t)
	for at := range last {
		bad := append([]byte(nil), data...)
		bad[at] ^= 0x41
		require.NoError(t, os.WriteFile(filepath.Join(dir, "journal"), bad, fileMode))
		_, err := Open(dir, quiet())
		var damage *DamageError
		require.ErrorAs(t, err, &damage, at)
		require.True(t, strings.HasSuffix(damage.File, "journal"))
	}
}

func TestAFolderIsUsedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open1(t, dir)
	_, err := Open(dir, quiet())
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, s.Close())
	require.NoError(t, open1(t, dir).Close())
}

func TestMessagesWithoutAJournalAreNotTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1<<20, quiet())
	w.put(t, 1, 1)
	w.stop(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "journal")))
	for range 2 {
		_, err := Open(dir, quiet())
		require.ErrorContains(t, err, "is missing, though")
	}
	require.Len(t, segments(t, dir), 1)
}

func TestPruneRemovesLogsThatWereNotOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, dir, 1<<20, quiet())
	w.put(t, 1, 1)
	require.NoError(t, w.Prune())
	require.Len(t, segments(t, dir), 1)
	w.stop(t)
	s := open1(t, dir)
	defer s.Close()
	require.NoError(t, s.Prune())
	require.Empty(t, segments(t, dir))
}

// A bit that flips in the last record looks like an end that was half written. What that record told of is not lost.
func TestMessagesOfWhatWasAtTheCutEndOfTheJournalAreSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		w := start(t, dir, 1<<20, quiet())
		require.NoError(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}))
		w.put(t, 1, 1)
		w.stop(t)
		name := filepath.Join(dir, "journal")
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		data[len(data)-1] ^= 1
		require.NoError(t, os.WriteFile(name, data, 0o600))
		s := open1(t, dir)
		require.NoError(t, s.Prune())
		require.NoError(t, s.Close())
		require.Empty(t, segments(t, dir))
	}
	kept, err := filepath.Glob(filepath.Join(dir, setAsideName, "*", "1.2.0.77", "*.log"))
	require.NoError(t, err)
	require.Len(t, kept, 2)
}

func TestEveryPolicyStores(t *testing.T) {
	t.Parallel()
	for _, policy := range []Fsync{FsyncNever, FsyncAlways, FsyncEvery(time.Millisecond)} {
		dir, options := t.TempDir(), quiet()
		options.Fsync = policy
		w := start(t, dir, 1<<20, options)
		w.put(t, 1, 3)
		require.NoError(t, w.Commit(broker.Change{Key: "a", Value: []byte("1")}))
		w.stop(t)
		w = start(t, dir, 1<<20, options)
		require.Equal(t, count(0, 3), w.offsets(t, 0, everything))
		require.Equal(t, map[string]string{"a": "1"}, entries(t, w.Store))
		w.stop(t)
	}
}

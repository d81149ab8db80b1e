package disk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// model is what a store has to have.
type model struct {
	first, next uint64
	entries     map[string]string
}

func TestAStoreIsWhatAModelSaysAfterAnyCrash(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			m := model{entries: map[string]string{}}
			dir := t.TempDir()
			for range 8 {
				dir = m.live(t, dir, random)
			}
		})
	}
}

// live starts a store, compares it, changes it, and ends it well or with a crash. It returns the folder to go on with.
func (m *model) live(t *testing.T, dir string, random *rand.Rand) string {
	t.Helper()
	w := start(t, dir, 4000, quiet())
	require.Equal(t, m.entries, entries(t, w.Store))
	require.Equal(t, count(m.first, m.next), w.offsets(t, 0, everything))
	require.Equal(t, m.next, w.log.Span().Next)
	for range random.IntN(40) {
		m.change(t, w, random)
	}
	require.Equal(t, count(m.first, m.next), w.offsets(t, 0, everything))
	defer w.stop(t)
	if random.IntN(3) == 0 {
		return dir
	}
	return m.crash(t, w, dir, random)
}

func (m *model) change(t *testing.T, w *world, random *rand.Rand) {
	t.Helper()
	switch random.IntN(12) {
	case 0:
		require.NoError(t, w.log.DropSegments(uint32(random.IntN(3))))
		m.first = w.log.Span().First
	case 1:
		next := m.first + uint64(random.IntN(int(m.next-m.first)+1))
		require.NoError(t, w.log.Truncate(next))
		m.next = next
	case 2, 3, 4:
		key, value := fmt.Sprint("key", random.IntN(5)), fmt.Sprint(random.Uint64())
		m.entries[key] = value
		require.NoError(t, w.Commit(broker.Change{Key: key, Value: []byte(value)}))
	case 5:
		key := fmt.Sprint("key", random.IntN(5))
		delete(m.entries, key)
		require.NoError(t, w.Commit(broker.Change{Key: key}))
	default:
		n := 1 + random.IntN(9)
		w.put(t, 1, n)
		m.next += uint64(n)
	}
}

// crash makes a write that is not acknowledged, and returns a copy of the folder in which a part of it has come.
func (m *model) crash(t *testing.T, w *world, dir string, random *rand.Rand) string {
	t.Helper()
	journal := filepath.Join(dir, "journal")
	name, before := journal, w.journal.size
	if random.IntN(2) == 0 {
		w.put(t, 1, 1) // so that there is a segment
		m.next++
		segment := w.log.(*log).segments[len(w.log.(*log).segments)-1]
		name, before = segment.name, segment.size
		w.put(t, 1, 1)
	} else {
		require.NoError(t, w.Commit(broker.Change{Key: "unacknowledged", Value: []byte("value")}))
	}
	next := t.TempDir()
	require.NoError(t, os.CopyFS(next, os.DirFS(dir)))
	relative, err := filepath.Rel(dir, name)
	require.NoError(t, err)
	info, err := os.Stat(name)
	require.NoError(t, err)
	whole := info.Size() == before // the write went into another segment
	cut := before
	if !whole {
		cut += int64(random.IntN(int(info.Size() - before)))
	}
	require.NoError(t, os.Truncate(filepath.Join(next, relative), cut))
	if whole {
		m.next++
	}
	m.entries = maps.Clone(m.entries)
	return next
}

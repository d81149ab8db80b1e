package flow

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A key that is cut out of a line, or shares a block with others, would keep all of that in memory.
func TestDedupKeepsNoMemoryButThatOfItsKeys(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1000)
	m := newMemory[string](10, 0)
	require.True(t, m.add(line[10:20], time.Time{}))
	require.False(t, m.add(line[30:40], time.Time{}), "the same text")
	kept := m.keys[0].key
	require.Equal(t, line[10:20], kept)
	require.NotSame(t, unsafe.StringData(line[10:20]), unsafe.StringData(kept))
	for key := range m.set {
		require.Same(t, unsafe.StringData(kept), unsafe.StringData(key))
	}
	type pair struct{ a, b int }
	pairs := newMemory[pair](10, 0)
	require.True(t, pairs.add(pair{1, 2}, time.Time{}))
	require.False(t, pairs.add(pair{1, 2}, time.Time{}))
}

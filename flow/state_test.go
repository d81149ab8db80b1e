package flow

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// entries is the state of one stage.
type entries map[string][]byte

func (e entries) Full() bool            { return true }
func (e entries) Put(key, value []byte) { e[string(key)] = value }
func (e entries) Delete(key []byte)     { delete(e, string(key)) }
func (e entries) All(f func(key, value []byte) bool) {
	for k, v := range e {
		if !f([]byte(k), v) {
			return
		}
	}
}

func TestCountIsStoredWithAVersion(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{0, 1, 127, 128, 1 << 40, math.MaxUint64} {
		state := entries{}
		require.NoError(t, (&counter{n: n}).Snapshot(1, state))
		require.EqualValues(t, 1, state["count"][0])
		var back counter
		require.NoError(t, back.Restore(state))
		require.Equal(t, n, back.n)
	}
}

func TestStoredCountThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string][]byte{
		"empty":           {},
		"another version": {2, 5},
		"no number":       {1},
		"cut off":         {1, 0x80},
		"too long":        {1, 5, 0},
		"too large":       append([]byte{1}, binary.AppendUvarint([]byte{0xff}, math.MaxUint64)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c counter
			require.ErrorIs(t, c.Restore(entries{"count": stored}), errCounterState)
			require.Zero(t, c.n)
		})
	}
}

func FuzzStoredCount(f *testing.F) {
	f.Add([]byte{1, 5})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, stored []byte) {
		n, err := decodeCount(stored)
		if err != nil {
			require.ErrorIs(t, err, errCounterState)
			return
		}
		state := entries{}
		require.NoError(t, (&counter{n: n}).Snapshot(1, state))
		again, err := decodeCount(state["count"])
		require.NoError(t, err)
		require.Equal(t, n, again)
	})
}

func TestMemoryForgetsTheOldestKeyFirst(t *testing.T) {
	t.Parallel()
	m, now := newMemory[int](50, 0), time.Time{}
	for k := range 1000 {
		require.True(t, m.add(k, now))
		require.False(t, m.add(k, now))
		require.Equal(t, min(k+1, 50), m.n)
		require.Len(t, m.set, m.n)
		require.LessOrEqual(t, len(m.keys), 50)
		if k >= 50 {
			require.Contains(t, m.set, k-49)
			require.NotContains(t, m.set, k-50)
		}
	}
}

func TestMemoryForgetsKeysInTime(t *testing.T) {
	t.Parallel()
	m, start := newMemory[int](1000, 10*time.Second), time.Unix(0, 0)
	for k := range 100 {
		now := start.Add(time.Duration(k) * time.Second)
		m.expire(now)
		require.Equal(t, min(k, 9), m.n)
		require.True(t, m.add(k, now))
	}
	m.expire(start.Add(time.Hour))
	require.Zero(t, m.n)
	require.Empty(t, m.set)
	require.True(t, m.add(99, start))
}

func TestMemoryDoesNotGrowWithKeysThatEqualNothing(t *testing.T) {
	t.Parallel()
	m := newMemory[float64](10, 0)
	for range 1000 {
		require.True(t, m.add(math.NaN(), time.Time{}))
	}
	require.Empty(t, m.set)
}

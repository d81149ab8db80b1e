package gostreams

import (
	"testing"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestPositionCountsElements(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 127, 128, 1 << 40, 1<<63 - 1} {
		at, err := parsePosition(position(n))
		require.NoError(t, err)
		require.Equal(t, n, at)
	}
	at, err := parsePosition(nil)
	require.NoError(t, err)
	require.Zero(t, at)
}

func TestPositionThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for name, token := range map[string][]byte{
		"empty": {}, "another version": {2, 1}, "no number": {1}, "cut off": {1, 0x80}, "too long": {1, 1, 1},
		"negative": {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		_, err := parsePosition(checkpoint.Position{partition: token})
		require.ErrorIs(t, err, errPosition, name)
	}
}

func FuzzPosition(f *testing.F) {
	f.Add([]byte{1, 5})
	f.Fuzz(func(t *testing.T, token []byte) {
		at, err := parsePosition(checkpoint.Position{partition: token})
		if err != nil {
			require.ErrorIs(t, err, errPosition)
			return
		}
		again, err := parsePosition(position(at))
		require.NoError(t, err)
		require.Equal(t, at, again)
	})
}

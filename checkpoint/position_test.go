package checkpoint

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOffsetTokenGivesBackWhatItWasMadeOf(t *testing.T) {
	t.Parallel()
	for _, offset := range []int64{0, 1, 255, 1 << 40, math.MaxInt64, -1, math.MinInt64} {
		for _, guard := range [][]byte{nil, {0}, []byte("leader epoch 7")} {
			next, got, err := ParseOffset(OffsetToken(offset, guard))
			require.NoError(t, err)
			require.Equal(t, offset, next)
			require.Equal(t, guard, got)
		}
	}
}

// The bytes follow from the layout in position.go; stored positions rely on them.
func TestOffsetTokenKeepsItsFirstFormat(t *testing.T) {
	t.Parallel()
	want := []byte{0xA1, 0, 0, 0, 0, 0, 0, 0x01, 0x02, 'g'}
	require.Equal(t, want, OffsetToken(258, []byte("g")))
	next, guard, err := ParseOffset(want)
	require.NoError(t, err)
	require.Equal(t, int64(258), next)
	require.Equal(t, []byte("g"), guard)
}

func TestParseOffsetRefusesOtherTokens(t *testing.T) {
	t.Parallel()
	tests := map[string][]byte{
		"nothing":         nil,
		"too short":       OffsetToken(1, nil)[:8],
		"other version":   append([]byte{0xA2}, OffsetToken(1, nil)[1:]...),
		"text":            []byte(`{"offset": 12345678}`),
		"version of zero": make([]byte, 9),
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ParseOffset(token)
			require.ErrorIs(t, err, ErrToken)
			_, err = CompareOffsets(token, OffsetToken(1, nil))
			require.ErrorIs(t, err, ErrToken)
			_, err = CompareOffsets(OffsetToken(1, nil), token)
			require.ErrorIs(t, err, ErrToken)
		})
	}
}

func TestCompareOffsetsLooksAtOffsetsOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a, b []byte
		want int
	}{
		{"below", OffsetToken(9, nil), OffsetToken(10, nil), -1},
		{"equal with other guards", OffsetToken(9, []byte("z")), OffsetToken(9, []byte("a")), 0},
		{"above", OffsetToken(256, []byte("a")), OffsetToken(255, []byte("z")), 1},
		{"negative", OffsetToken(-1, nil), OffsetToken(0, nil), -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := CompareOffsets(test.a, test.b)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestGuardCannotBeGrownIntoItsToken(t *testing.T) {
	t.Parallel()
	token := append(OffsetToken(1, []byte("ab")), make([]byte, 8)...)[:11]
	_, guard, err := ParseOffset(token)
	require.NoError(t, err)
	require.Equal(t, len(guard), cap(guard))
}

func TestPositionCloneIsIndependent(t *testing.T) {
	t.Parallel()
	require.Nil(t, Position(nil).Clone())
	p := Position{"a": OffsetToken(1, nil)}
	clone := p.Clone()
	clone["b"] = OffsetToken(2, nil)
	require.Equal(t, Position{"a": OffsetToken(1, nil)}, p)
}

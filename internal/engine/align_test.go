package engine

import (
	"testing"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestAlignmentCompletesAMarkerWithItsLastInput(t *testing.T) {
	t.Parallel()
	type arrival struct {
		input int
		n     checkpoint.Number
		done  bool
	}
	for name, arrivals := range map[string][]arrival{
		"one input":            {{0, 1, true}, {0, 2, true}},
		"two in turn":          {{0, 1, false}, {1, 1, true}, {1, 2, false}, {0, 2, true}},
		"one far ahead":        {{0, 1, false}, {0, 2, false}, {1, 1, true}, {1, 2, true}},
		"the same twice":       {{0, 1, false}, {0, 1, false}, {1, 1, true}, {1, 1, false}},
		"an older one is late": {{0, 2, false}, {1, 2, true}, {0, 1, false}, {1, 1, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := 1
			for _, a := range arrivals {
				inputs = max(inputs, a.input+1)
			}
			al := NewAlignment(inputs)
			for i, a := range arrivals {
				require.Equal(t, a.done, al.Marker(a.input, a.n), "arrival %d", i)
			}
		})
	}
}

func TestAlignmentEndsWhenEveryInputHasEnded(t *testing.T) {
	t.Parallel()
	al := NewAlignment(2)
	require.False(t, al.End(1))
	require.False(t, al.End(1), "an input that ends twice counts once")
	require.True(t, al.End(0))
}

package engine

import (
	"bytes"
	"testing"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestTrackerRefusesAPositionThatIsEmptyOrGoesBack(t *testing.T) {
	t.Parallel()
	compare := func(_ string, a, b []byte) int { return bytes.Compare(a, b) }
	for name, c := range map[string]struct {
		compare func(string, []byte, []byte) int
		moved   checkpoint.Position
		want    checkpoint.Position
		err     string
	}{
		"forward":              {compare, checkpoint.Position{"a": {6}}, checkpoint.Position{"a": {6}, "b": {5}}, ""},
		"the same again":       {compare, checkpoint.Position{"a": {5}}, checkpoint.Position{"a": {5}, "b": {5}}, ""},
		"a new partition":      {compare, checkpoint.Position{"c": {1}}, checkpoint.Position{"a": {5}, "b": {5}, "c": {1}}, ""},
		"a dropped partition":  {compare, checkpoint.Position{"a": nil}, checkpoint.Position{"b": {5}}, ""},
		"back":                 {compare, checkpoint.Position{"a": {4}}, nil, "goes back"},
		"back, not comparable": {nil, checkpoint.Position{"a": {4}}, checkpoint.Position{"a": {4}, "b": {5}}, ""},
		"empty":                {compare, checkpoint.Position{"a": {}}, nil, "is empty"},
		"empty beside a good":  {nil, checkpoint.Position{"b": {9}, "a": {}}, nil, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := checkpoint.Position{"a": {5}, "b": {5}}
			tr := NewTracker(start, c.compare)
			err := tr.Advance(c.moved)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Equal(t, start, tr.Position(), "a refused position changes nothing")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, tr.Position())
			require.Equal(t, checkpoint.Position{"a": {5}, "b": {5}}, start, "the start is not touched")
		})
	}
}

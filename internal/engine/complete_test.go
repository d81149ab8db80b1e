package engine

import (
	"testing"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestCommitHasOnlyThePartitionsThatMoved(t *testing.T) {
	t.Parallel()
	pos := func(tokens ...string) checkpoint.Position {
		p := checkpoint.Position{}
		for i := 0; i < len(tokens); i += 2 {
			p[tokens[i]] = []byte(tokens[i+1])
		}
		return p
	}
	cases := map[string]struct{ committed, pos, want checkpoint.Position }{
		"the first":                          {nil, pos("a", "1", "b", "1"), pos("a", "1", "b", "1")},
		"nothing moved":                      {pos("a", "1"), pos("a", "1"), pos()},
		"one moved, the other rests":         {pos("a", "1", "b", "1"), pos("a", "1", "b", "2"), pos("b", "2")},
		"one was given up":                   {pos("a", "1", "b", "1"), pos("a", "1"), pos()},
		"one came, with an older generation": {pos("a", "1"), pos("a", "1", "b", "0"), pos("b", "0")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, movedSince(c.committed, c.pos))
		})
	}
}

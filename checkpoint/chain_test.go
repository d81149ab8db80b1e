package checkpoint

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPruningKeepsTheNewestChains(t *testing.T) {
	t.Parallel()
	// Each number stands for a checkpoint and names its base: equal ones are a chain, 0 is a header nobody can read.
	tests := []struct {
		name  string
		bases []Number
		want  int
	}{
		{"nothing", nil, 0},
		{"one", []Number{1}, 0},
		{"three alone", []Number{1, 2, 3}, 0},
		{"four alone", []Number{1, 2, 3, 4}, 1},
		{"many alone", []Number{1, 2, 3, 4, 5, 6, 7}, 4},
		{"one chain however long", []Number{1, 1, 1, 1, 1, 1}, 0},
		{"two chains", []Number{1, 1, 1, 4, 4}, 0},
		{"three chains", []Number{1, 1, 1, 4, 4, 6}, 3},
		{"three chains, two of them short", []Number{1, 1, 1, 4, 5}, 0},
		{"chain behind three alone", []Number{1, 2, 3, 4, 4}, 2},
		{"unreadable one goes with the chain before", []Number{1, 0, 3, 4, 5}, 2},
		{"unreadable newest", []Number{1, 2, 3, 0}, 1},
		{"unreadable all", []Number{0, 0, 0, 0, 0}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var links []link
			for i, base := range test.bases {
				links = append(links, link{number: Number(i + 1), base: base})
			}
			require.Equal(t, test.want, prunable(links))
		})
	}
}

func TestChangesAreMergedIntoTheStateBefore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		before, states, want map[string]State
	}{
		{"no state at all", full("a", "k", "1"), nil, nil},
		{"full replaces", full("a", "k", "1"), full("a", "x", "2"), full("a", "x", "2")},
		{"set", full("a", "k", "1"), changes("a", "k", "2", "m", "3"), full("a", "k", "2", "m", "3")},
		{"delete", full("a", "k", "1", "m", "2"), map[string]State{"a": {Deleted: []string{"k", "absent"}}}, full("a", "m", "2")},
		{"delete, then set", full("a", "k", "1"),
			map[string]State{"a": {Put: entries([]string{"k", "2"}), Deleted: []string{"k"}}}, full("a", "k", "2")},
		{"nothing changed", full("a", "k", "1"), changes("a"), full("a", "k", "1")},
		{"changes to an empty state", map[string]State{"a": {Full: true}}, changes("a", "k", "1"), full("a", "k", "1")},
		{"stage that is gone", full("a", "k", "1"), full("b", "k", "1"), full("b", "k", "1")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, merged(test.before, test.states))
		})
	}
}

func TestPlaceOfTheNextCheckpoint(t *testing.T) {
	t.Parallel()
	newest := link{number: 5, parent: 4, base: 3}
	disk := errors.New("disk")
	holds := func() (map[string]bool, error) { return map[string]bool{"a": true}, nil }
	fails := func() (map[string]bool, error) { return nil, disk }
	mixed := map[string]State{"a": {}, "b": {Full: true}}
	tests := []struct {
		name   string
		c      *Checkpoint
		states func() (map[string]bool, error)
		want   link
		is     error
		text   string
	}{
		{name: "no state", c: flights(6, nil), states: fails, want: link{number: 6, base: 6}},
		{name: "full", c: flights(9, full("b")), states: fails, want: link{number: 9, base: 9}},
		{name: "changes", c: flights(6, changes("a")), states: holds, want: link{number: 6, parent: 5, base: 3}},
		{name: "changes beside full", c: flights(6, mixed), states: holds, want: link{number: 6, parent: 5, base: 3}},
		{name: "changes to an unknown state", c: flights(6, changes("b")), states: holds, text: `changes to the state of "b"`},
		{name: "changes to what cannot be read", c: flights(6, changes("a")), states: fails, is: disk},
		{name: "equal number", c: flights(5, nil), states: holds, is: ErrStale, text: "5 after 5"},
		{name: "lower number", c: flights(4, nil), states: holds, is: ErrStale},
		{name: "no number", c: flights(0, nil), states: holds, is: ErrStale},
		{name: "other pipeline", c: &Checkpoint{Pipeline: "orders", Number: 6}, is: ErrOtherPipeline, text: `"orders"`},
		{name: "full state with deletions", c: flights(6, map[string]State{"a": {Full: true, Deleted: []string{"k"}}}),
			text: "deletes keys"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.c.place("flights", newest, test.states)
			require.Equal(t, test.want, got)
			if test.is == nil && test.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.text)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
		})
	}
}

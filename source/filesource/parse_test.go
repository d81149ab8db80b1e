package filesource_test

import (
	"testing"

	"github.com/runnel-go/runnel/source/filesource"
	"github.com/stretchr/testify/require"
)

func TestParseJSONReadsOneText(t *testing.T) {
	t.Parallel()
	type flight struct {
		ID    int
		Place string
	}
	parse := filesource.ParseJSON[flight]()
	for line, want := range map[string]flight{
		`{"id":7,"place":"Málaga"}`: {7, "Málaga"},
		` {"ID":7} `:                {7, ""},
	} {
		got, err := parse(line)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, line := range []string{``, `{`, `{"id":"x"}`, `{"id":7} x`} {
		got, err := parse(line)
		require.Error(t, err, line)
		require.Zero(t, got)
	}
}

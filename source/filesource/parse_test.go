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
		got := flight{9, "what was there before"}
		require.NoError(t, parse(line, &got))
		require.Equal(t, want, got)
	}
	for _, line := range []string{``, `{`, `{"id":"x"}`, `{"id":7} x`} {
		require.Error(t, parse(line, new(flight)), line)
	}
}

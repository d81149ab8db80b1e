package filesink

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatternFindsItsOwnNamesOnly(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"out-%05d.ndjson": "out-00042.ndjson", "dir%d/%d": "dir%d/42", "%03d%%.csv": "042%%.csv",
	} {
		p, err := parsePattern(path)
		require.NoError(t, err, path)
		require.Equal(t, want, p.done(42))
		n, hidden := p.number(p.base(42))
		require.Equal(t, 42, n)
		require.False(t, hidden)
		n, hidden = p.number("." + p.base(42) + ".part")
		require.Equal(t, 42, n)
		require.True(t, hidden)
	}
	p, err := parsePattern("o-%03d.csv")
	require.NoError(t, err)
	for _, name := range []string{"o-1.csv", "o-0001.csv", "o-000.csv", "o--01.csv", "o-abc.csv", "o-001", "o-001.csv.part", ".o-001.csv", "", "o-+01.csv"} {
		n, _ := p.number(name)
		require.Zero(t, n, name)
	}
	n, _ := p.number("o-1234.csv")
	require.Equal(t, 1234, n)
	for _, path := range []string{"out", "%d/out", "%d-%d", "%5d", "/a/x%1d", "%s", "%020d", ""} {
		_, err := parsePattern(path)
		require.Error(t, err, path)
	}
}

package dial

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The comment of the package has each option, with its default and its effect, and no other.
func TestCommentAndTablesOfOptionsAgree(t *testing.T) {
	t.Parallel()
	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	type row struct{ name, standard, effect string }
	described := map[row]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z_]+) +(\S+) +(\S.*)$`).FindAllStringSubmatch(string(comment), -1) {
		described[row{m[1], m[2], m[3]}] = true
	}
	inTables := map[row]bool{}
	for _, p := range []Protocol{TCP, QUIC, WebSocket, HTTP} {
		for _, k := range keysOf(p) {
			inTables[row{k.name, k.standard, k.effect}] = true
		}
	}
	require.Equal(t, inTables, described)
	require.Greater(t, len(inTables), 25)
}

func TestOptionWithoutEffectIsCheckedAllTheSame(t *testing.T) {
	t.Parallel()
	for _, p := range []Protocol{TCP, QUIC, WebSocket, HTTP} {
		for _, k := range keysOf(p) {
			require.False(t, k.set(&draft{}, "") || k.set(&draft{}, "no value") && k.allowed != "a text", k.name)
		}
	}
}

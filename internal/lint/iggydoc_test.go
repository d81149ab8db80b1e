package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIggyPageHasEverything compares docs/iggy.md with the code: every command, every key of a connection string, every flag
// of the server and every option of the client has its row.
func TestIggyPageHasEverything(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/iggy.md")
	for _, has := range []struct{ what, file, pattern, row string }{
		{"command", "transport/wire/command.go", `\tCmd\w+: +\{"([\w.]+)"`, "| %s |"},
		{"key", "transport/dial/doc.go", `(?m)^//\t(\w+) +\S+ {2,}`, "| `%s` |"},
		{"flag", "cmd/runnel/iggy_serve.go", `(?m)^\t(?:flags\.\w+\([^"]*|at\()"([\w-]+)"`, "`--%s`"},
		{"option of the server", "transport/iggyserver/options.go", `(?m)^func ([A-Z]\w+)\(.*\) Option \{`, "`%s`"},
		{"option of the producer", "sink/iggysink/options.go", `(?m)^func ([A-Z]\w+)\(.*\) Option \{`, "`%s`"},
		{"option of the producer", "sink/iggysink/modes.go", `(?m)^func ([A-Z]\w+)\(.*\) \w*Option \{`, "`%s`"},
		{"option of the consumer", "source/iggysource/options.go", `(?m)^func ([A-Z]\w+)\(.*\) Option \{`, "`%s`"},
		{"fault", "transport/iggyserver/faults.go", `(?m)^func \(f \*Faults\) ([A-Z]\w+)\(`, "`%s`"},
		{"option", "transport/client/options.go", `(?m)^func (\w+)\(.*\) Option \{`, "`%s`"},
	} {
		found := regexp.MustCompile(has.pattern).FindAllStringSubmatch(read(t, has.file), -1)
		require.Greater(t, len(found), 7, "%s has no %ss where this test looks", has.file, has.what)
		for _, m := range found {
			require.Contains(t, page, strings.Replace(has.row, "%s", m[1], 1), "docs/iggy.md does not tell of the %s %s", has.what, m[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

package lint

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConsumerCompilesOnlyWhatItUses builds a module that does nothing but use this one, and looks at what it has to
// compile and to put into its go.sum.
func TestConsumerCompilesOnlyWhatItUses(t *testing.T) {
	t.Parallel()
	core := []string{modulePath, "golang.org/x/sync", "github.com/sourcegraph/conc"}
	tests := map[string]struct {
		imports []string // packages of this module
		modules []string // that may be compiled
		sums    int      // lines that go.sum may have
	}{
		"root and flow": {
			imports: []string{".", "checkpoint", "flow"},
			modules: core,
			sums:    10,
		},
		"generic sources and sinks": {
			imports: []string{".", "checkpoint", "flow", "source", "sink"},
			modules: core,
			sums:    10,
		},
		"files": {
			imports: []string{".", "checkpoint", "flow", "source/filesource", "sink/filesink"},
			modules: slices.Concat(core, []string{"github.com/klauspost/compress", "github.com/fsnotify/fsnotify", "golang.org/x/sys"}),
			sums:    16,
		},
		"Iggy over TCP": {
			imports: []string{"transport", "transport/tcp"},
			modules: []string{modulePath},
			sums:    6,
		},
		"Iggy client over TCP": {
			imports: []string{"transport/client", "transport/tcp"},
			modules: []string{modulePath, "golang.org/x/sync", "github.com/zeebo/xxh3", "github.com/klauspost/cpuid/v2"},
			sums:    28, // its tests run against the server over all transports
		},
		"Iggy over WebSocket": {
			imports: []string{"transport", "transport/ws"},
			modules: []string{modulePath, "github.com/coder/websocket"},
			sums:    8,
		},
		"Iggy over any transport": {
			imports: []string{"transport/dial"},
			modules: []string{
				modulePath, "github.com/coder/websocket", "github.com/quic-go/quic-go",
				"golang.org/x/crypto", "golang.org/x/net", "golang.org/x/sys",
				"github.com/zeebo/xxh3", "github.com/klauspost/cpuid/v2", // bodies are hashed
				"golang.org/x/sync", // of the client
			},
			sums: 32, // the client and the server that its tests run against
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := consumer(t, "package main\n"+blankImports(tt.imports)+"func main() {}\n")
			run(t, dir, "go", "mod", "tidy")
			run(t, dir, "go", "build", "-o", os.DevNull, ".")

			compiled := strings.Fields(run(t, dir, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
			slices.Sort(compiled)
			compiled = slices.Compact(compiled)
			require.Contains(t, compiled, modulePath)
			for _, module := range compiled {
				require.Contains(t, append(tt.modules, "consumer"), module, "a program of a user compiles a module that it does not need")
			}

			sums := lines(t, filepath.Join(dir, "go.sum"))
			t.Logf("go.sum has %d lines, compiled are %s", len(sums), strings.Join(compiled, ", "))
			require.LessOrEqual(t, len(sums), tt.sums, "go.sum of a user grows: which test file of a public package brings it?\n%s",
				strings.Join(sums, "\n"))
		})
	}
}

// TestProgramsOfTheDocumentationCompile builds what README.md and docs show as complete programs.
func TestProgramsOfTheDocumentationCompile(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	require.NoError(t, err)
	program := regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")
	for _, page := range append(pages, filepath.Join(repository, "README.md")) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		found := program.FindAllSubmatch(text, -1)
		if filepath.Base(page) == "README.md" {
			require.NotEmpty(t, found, "README.md shows no complete program")
		}
		for i, m := range found {
			t.Run(filepath.Base(page)+" "+strconv.Itoa(i+1), func(t *testing.T) {
				t.Parallel()
				dir := consumer(t, string(m[1]))
				run(t, dir, "go", "mod", "tidy")
				run(t, dir, "go", "vet", ".")
			})
		}
	}
}

// consumer writes a module of one program, which uses this module as it lies here, and returns where.
func consumer(t *testing.T, program string) string {
	t.Helper()
	here, err := filepath.Abs(repository)
	require.NoError(t, err)
	mod := "module consumer\n\ngo " + goLine(t) + "\n\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " + here + "\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	return dir
}

// blankImports imports packages of this module, by their folders.
func blankImports(dirs []string) string {
	var text strings.Builder
	for _, dir := range dirs {
		text.WriteString("import _ " + strconv.Quote(path.Join(modulePath, dir)) + "\n")
	}
	return text.String()
}

// goLine returns the version of Go that this module asks for.
func goLine(t *testing.T) string {
	t.Helper()
	for _, line := range lines(t, filepath.Join(repository, "go.mod")) {
		if version, ok := strings.CutPrefix(line, "go "); ok {
			return version
		}
	}
	t.Fatal("go.mod has no go line")
	return ""
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// run runs a command in dir and returns what it printed.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), stderr.String())
	return string(out)
}

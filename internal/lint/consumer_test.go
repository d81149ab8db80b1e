package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
			imports: []string{"", "/checkpoint", "/flow"},
			modules: core,
			sums:    10,
		},
		"generic sources and sinks": {
			imports: []string{"", "/checkpoint", "/flow", "/source", "/sink"},
			modules: core,
			sums:    10,
		},
		"files": {
			imports: []string{"", "/checkpoint", "/flow", "/source/filesource", "/sink/filesink"},
			modules: slices.Concat(core, []string{"github.com/klauspost/compress", "github.com/fsnotify/fsnotify", "golang.org/x/sys"}),
			sums:    16,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := consumer(t, tt.imports)
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

// consumer writes a module that imports packages of this one, by its folder, and returns where.
func consumer(t *testing.T, imports []string) string {
	t.Helper()
	here, err := filepath.Abs(repository)
	require.NoError(t, err)
	main := "package main\n\nimport (\n"
	for _, path := range imports {
		main += "\t_ \"" + modulePath + path + "\"\n"
	}
	main += ")\n\nfunc main() {}\n"
	mod := "module consumer\n\ngo " + goLine(t) + "\n\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " + here + "\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o600))
	return dir
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

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
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

package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is a tree of one file.
type source struct{ path, text string }

// files parses a tree. A line feed in front makes it readable in a table and is not part of the file.
func files(t *testing.T, tree ...source) []*file {
	t.Helper()
	var all []*file
	for _, s := range tree {
		f, err := parse(s.path, []byte(strings.TrimPrefix(s.text, "\n")))
		require.NoError(t, err)
		all = append(all, f)
	}
	return all
}

// requireFaults wants faults at the places, file:line, and with the words, in order.
func requireFaults(t *testing.T, got []Fault, want ...string) {
	t.Helper()
	var shown []string
	for _, f := range sorted(got) {
		shown = append(shown, f.String())
	}
	require.Len(t, shown, len(want), "%q", shown)
	for i := range want {
		require.Contains(t, shown[i], want[i])
	}
}

func importing(path string, imports ...string) source {
	text := "package x\n"
	for _, i := range imports {
		text += "import _ \"" + strings.Replace(i, "~", modulePath, 1) + "\"\n"
	}
	return source{path, text}
}

func TestImportsThatTheTablesRefuseAreFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file source
		want []string
	}{
		"the root imports flow":              {importing("a.go", "~/flow"), []string{"a.go:2: imports flow, which package . may not"}},
		"the root imports its engine":        {importing("a.go", "~/internal/engine", "~/checkpoint"), nil},
		"a lower package imports the root":   {importing("checkpoint/a.go", "~"), []string{"imports ., which package checkpoint may not"}},
		"flow imports the engine":            {importing("flow/a.go", "~", "~/internal/engine"), []string{"flow/a.go:3: imports internal/engine"}},
		"a connector imports its own system": {importing("sink/filesink/a.go", "~/internal/fileconn"), nil},
		"a connector imports another system": {importing("sink/kafkasink/a.go", "~/internal/fileconn"), []string{"imports internal/fileconn"}},
		"a connector imports another":        {importing("sink/filesink/a.go", "~/source/filesource"), []string{"imports source/filesource"}},
		"a test of a connector may":          {importing("sink/filesink/a_test.go", "~/source/filesource"), nil},
		"production imports a test kit":      {importing("flow/a.go", "~/runneltest"), []string{"runneltest, a test kit"}},
		"an example imports what is hidden":  {importing("examples/pipelines/p/main.go", "~/flow", "~/internal/codec"), []string{"imports internal/codec"}},
		"a new package has no row":           {importing("extra/a.go", "~"), []string{"package extra has no row in arrows"}},
		"a module outside of its fence":      {importing("flow/a.go", "github.com/klauspost/compress/zstd"), []string{"which is for source/filesource, sink/filesink"}},
		"a module within its fence":          {importing("internal/fileconn/a.go", "github.com/klauspost/compress/zstd"), nil},
		"a module that begins alike":         {importing("internal/fileconn/a.go", "github.com/klauspost/compressor"), []string{"which no package may"}},
		"a module without a row":             {importing("sink/filesink/a_test.go", "github.com/pkg/errors"), []string{"which no package may"}},
		"testify in production":              {importing("sink/a.go", "github.com/stretchr/testify/require"), []string{"would get into users' programs"}},
		"testify in a test and in a kit":     {importing("source/sourcetest/a.go", "github.com/stretchr/testify/require"), nil},
		"testing in production":              {importing("sink/a.go", "testing"), []string{"imports testing"}},
		"reflection in an operator":          {importing("flow/window/a.go", "reflect"), []string{"no reflection"}},
		"reflection in a codec":              {importing("source/filesource/a.go", "reflect"), nil},
		"log instead of log/slog":            {importing("sink/filesink/a.go", "log", "log/slog"), []string{"a.go:2: imports log:"}},
		"the benchmarks are a module":        {importing("bench/a.go", "github.com/pkg/errors"), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireFaults(t, checkImports(files(t, tt.file)), tt.want...)
		})
	}
}

func TestWhatIsTooLongOrTooDeepIsAFault(t *testing.T) {
	t.Parallel()
	const (
		nested  = "package x\nfunc f() {\nfor {\nif a {\nswitch {\ncase b:\nif c {\n} else if d {\n}\n}\n}\n}\n}\n"
		literal = "package x\nfunc f() {\nfor {\nif a {\nfunc() {\nfor {\nif b {\n}\n}\n}()\n}\n}\n}\n"
	)
	lines := func(n int) string { return "package x\n" + strings.Repeat("\n", n-1) }
	function := func(n int) string { return "package x\nfunc f() {\n" + strings.Repeat("\n", n-2) + "}\n" }
	tests := map[string]struct {
		file source
		want []string
	}{
		"a file":                           {source{"a.go", lines(601)}, []string{"a.go:1: the file has 601 lines, at most 600"}},
		"a file as long as it may be":      {source{"a.go", lines(600)}, nil},
		"an example":                       {source{"examples/p/a.go", lines(121)}, []string{"at most 120"}},
		"a function":                       {source{"a.go", function(61)}, []string{"a.go:2: f has 61 lines, at most 60"}},
		"a function as long as it may be":  {source{"a.go", function(60)}, nil},
		"a test":                           {source{"a_test.go", function(151)}, []string{"at most 150"}},
		"nesting":                          {source{"a.go", nested}, []string{"a.go:7: f nests 4 deep here, at most 3"}},
		"nesting of a table test":          {source{"a_test.go", nested}, nil},
		"nesting begins anew in a literal": {source{"a.go", literal}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireFaults(t, checkSize(files(t, tt.file)), tt.want...)
		})
	}
}

func TestVisibleNamesWithoutCommentAreFaults(t *testing.T) {
	t.Parallel()
	const text = `
package x

func F() {}

// Does what it says.
func G() {}

// H is written well.
func H() {}

func (T[A]) M() {}

func (hidden) M() {}

// A T has an article.
type T[A any] struct {
	Field A
	Good  A // is said here
	Inner struct{ Deep int }
	hidden
}

type hidden struct{ Field int }

// Types have a comment each.
type (
	I interface {
		// M is said.
		M()
		N()
	}
)

// Both are said by the group.
const (
	A = 1
	B = 2
)

var C = 1
`
	requireFaults(t, checkDocs(files(t, source{"a.go", text})),
		"a.go:3: F has no comment",
		"a.go:5: the comment of G does not begin with G",
		"a.go:11: T.M has no comment",
		"a.go:17: T.Field has no comment",
		"a.go:19: T.Inner has no comment",
		"a.go:19: T.Inner.Deep has no comment",
		"a.go:27: I has no comment",
		"a.go:30: I.N has no comment",
		"a.go:40: C has no comment",
	)
	requireFaults(t, checkDocs(files(t, source{"a_test.go", text}, source{"main.go", "package main\nfunc F() {}\n"})))
}

func TestPackagesHaveOneCommentAndTheNameOfTheirFolder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tree []source
		want []string
	}{
		"none": {[]source{{"flow/a.go", "package flow\n"}, {"flow/a_test.go", "// Package flow is not said here.\npackage flow\n"}},
			[]string{"flow/a.go:1: package flow has no comment"}},
		"two": {[]source{{"flow/a.go", "// Package flow is.\npackage flow\n"}, {"flow/b.go", "// Package flow was.\npackage flow\n"}},
			[]string{"flow/b.go:2: the package is described in flow/a.go already"}},
		"other words":  {[]source{{"flow/a.go", "// It flows.\npackage flow\n"}}, []string{"does not begin with Package flow"}},
		"a command":    {[]source{{"cmd/runnel/main.go", "// Command runnel runs.\npackage main\n"}}, nil},
		"another name": {[]source{{"flow/a.go", "// Package run runs.\npackage run\n"}}, []string{"lies in a folder flow"}},
		"a small doc.go": {[]source{{"flow/doc.go", "// Package flow is.\npackage flow\n"}, {"flow/map.go", "package flow\n"}},
			[]string{"flow/doc.go:1: the comment has 1 lines"}},
		"a small doc.go beside tests": {[]source{{"flow/doc.go", "// Package flow is.\npackage flow\n"}}, nil},
		"a large doc.go": {[]source{{"flow/doc.go", "// Package flow is.\n" + strings.Repeat("// More.\n", 15) + "package flow\n"},
			{"flow/map.go", "package flow\n"}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireFaults(t, checkPackages(files(t, tt.tree...)), tt.want...)
		})
	}
}

func TestStateOfAPackageIsAFault(t *testing.T) {
	t.Parallel()
	const text = `
package x

import "sync/atomic"

var (
	_      I = (*T)(nil)
	ErrX     = errors.New("x")
	table    = map[string]int{"a": 1}
	cache    = map[string]int{}
	count    atomic.Int64
	queue    = make(chan int)
	total    = 0
	hidden   = 0
	limits   = [...]int{1, 2}
	//go:embed a.txt
	text string
)

func init() {}

func f(total int) { total++ }

func g() {
	total += 1
	limits[0]++
	hidden := 1
	hidden = 2
	table["a"]++
	h(&ErrX)
}
`
	other := source{"b.go", "package x\nfunc k() { delete(table, \"a\") }\n"}
	requireFaults(t, checkState(files(t, source{"a.go", text}, other)),
		"a.go:9: cache is state",
		"a.go:10: count is state",
		"a.go:11: queue is state",
		"a.go:19: init runs on import",
		"a.go:24: g changes total",
		"a.go:25: g changes limits",
		"a.go:28: g changes table",
		"a.go:29: g changes ErrX",
		"b.go:2: k changes table",
	)
	requireFaults(t, checkState(files(t, source{"a_test.go", text}, source{"bench/a.go", text})))
}

func TestWordsOfUnfinishedWorkAreFaults(t *testing.T) {
	t.Parallel()
	requireFaults(t, checkComments(files(t, source{"a.go", "package x\n\n// " + "TO" + "DO it.\nvar _ = 1 // TO" + "DON\n"})),
		"a.go:3: "+"TO"+"DO: do it")
}

func TestErrorsThatDoNotReadWellBehindOthersAreFaults(t *testing.T) {
	t.Parallel()
	const text = `
package x

var (
	_ = fmt.Errorf("failed to open: %w", err)
	_ = errors.New("x: not open")
	_ = errors.New("Open it first")
	_ = errors.New("Bytes is set and Size is not")
	_ = errors.New("CSV has no header")
	_ = errors.New("not open.")
	_ = strings.Repeat("Failed to open.", 2)
)

type T struct{ Bytes int }
`
	requireFaults(t, checkErrors(files(t, source{"a.go", text})),
		`a.go:4: "failed to" in an error`,
		"a.go:6: an error begins with Open",
		"a.go:9: an error ends like a sentence",
	)
	requireFaults(t, checkErrors(files(t, source{"a_test.go", text})))
}

func TestWhatGofmtWouldChangeIsAFault(t *testing.T) {
	t.Parallel()
	requireFaults(t, checkFormat(files(t, source{"a.go", "package x\n\nvar a = 1\n"}, source{"b.go", "package x\n\nvar  a = 1\n"})),
		"b.go:3: is not formatted: run gofmt -w b.go")
}

func TestSleepOnTheWallClockIsAFault(t *testing.T) {
	t.Parallel()
	const call = "func f() { time.Sleep(1) }\n"
	requireFaults(t, checkSleep(files(t,
		source{"a_test.go", "package x\n" + call},
		source{"b_test.go", "package x\nimport \"testing/synctest\"\n" + call},
		source{"c.go", "package x\n" + call},
	)), "a_test.go:2: sleeps on the wall clock")
}

func TestOperatorsInNoExampleAreFaults(t *testing.T) {
	t.Parallel()
	operators := source{"flow/a.go", `
package flow

func Map[I, O any](s runnel.Stream[I]) runnel.Stream[O] { return s }
func Tap[T any](s runnel.Stream[T]) (runnel.Stream[T], error) { return s, nil }
func Mute[T any](s runnel.Stream[T]) runnel.Stream[T] { return s }
func Filter[T any](s runnel.Stream[T]) runnel.Stream[T] { return s }
func Size() int { return 0 }
func own() runnel.Stream[int] { return nil }
`}
	example := source{"source/example_test.go", `
package source_test

import "` + modulePath + `/flow"

func ExampleSlice() {
	flow.Map[int, string](nil)
	// Output: 1
}

func ExampleMute() { flow.Mute(nil) }

func TestFilter(t *testing.T) { flow.Filter(nil) }

func ExampleTap() {
	flow.Tap(nil)
	// Unordered output:
	// 1
}
`}
	requireFaults(t, checkExamples(files(t, operators, example)),
		"flow/a.go:5: flow.Mute is in no example with an output: write ExampleMute",
		"flow/a.go:6: flow.Filter is in no example")
}

func TestDefaultsOfCommentsAndConstantsAreCompared(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		constant, comment string
		want              string // beginning of what the fault says; empty for none
	}{
		"a duration":              {"defaultGrace = 5 * time.Second", "The default is 5 s; 0 does not wait.", ""},
		"a duration as Go has it": {"defaultGrace = 90 * time.Second", "Default: 1m30s.", ""},
		"another duration":        {"defaultGrace = 5 * time.Second", "The default is 50 s.", `does not say "The default is 5 s"`},
		"no default":              {"defaultGrace = 5 * time.Second", "It is 5 s.", `does not say`},
		"a number":                {"DefaultGrace = 1024", "The default is 1,024, the least 1.", ""},
		"a number that goes on":   {"DefaultGrace = 1", "The default is 1,024, the least 1.", `does not say "The default is 1"`},
		"a size":                  {"DefaultGrace = 16 << 20", "The default is 16 MiB,\nthe least 1.", ""},
		"a character":             {"DefaultGrace = ','", "The default is ','.", ""},
		"a mode":                  {"defaultGrace = fs.FileMode(0o644)", "The default is 0644.", ""},
		"a computed constant":     {"defaultGrace = other + 1", "It is as it is.", ""},
		"another option by link":  {"// is for [Grace].\ndefaultWait = 2", "The default is 3.", `does not say "The default is 2"`},
		"a constant of no option": {"defaultWait = 2", "The default is 3.", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "package x\nconst (\n" + tt.constant + "\n)\n// Grace waits. " +
				strings.ReplaceAll(tt.comment, "\n", "\n// ") + "\nfunc Grace() {}\n"
			faults, _ := checkDefaults(files(t, source{"a.go", text}))
			if tt.want == "" {
				require.Empty(t, faults)
				return
			}
			requireFaults(t, faults, tt.want)
		})
	}
}

func TestDefaultsOfTheTreeAreFound(t *testing.T) {
	t.Parallel()
	tree, err := load(repository)
	require.NoError(t, err)
	_, compared := checkDefaults(tree)
	require.Greater(t, compared, 10, "constants of defaults that were compared")
}

package lint

import (
	"path"
	"slices"
	"strings"
)

// anywhere stands for every package in the tables below.
const anywhere = "..."

// fences says which modules from outside may be imported, and by which packages. What is not here may not be imported
// at all. A row is added by the change that needs it, with the reason for the module.
var fences = []struct {
	module string   // an import path, or what import paths begin with
	by     []string // folders, with what lies in them
}{
	{"golang.org/x/sync", []string{anywhere}},
	{"github.com/sourcegraph/conc", []string{anywhere}},
	{"github.com/klauspost/compress", []string{"source/filesource", "sink/filesink", "internal/fileconn"}},
	{"github.com/fsnotify/fsnotify", []string{"source/filesource", "sink/filesink", "internal/fileconn"}},
	{"github.com/quic-go/quic-go", []string{"transport/quic"}},      // QUIC is not in the standard library
	{"github.com/coder/websocket", []string{"transport/ws"}},        // nor is WebSocket
	{"github.com/golang-jwt/jwt", []string{"transport/iggyserver"}}, // tokens of the HTTP interface; clients take them as they are
	{"golang.org/x/net/netutil", []string{"transport/rest"}},        // a bound on the connections of a listener
	{"github.com/reugn/go-streams", []string{"flow/gostreams"}},
	{"github.com/schollz/progressbar", []string{"examples"}},
	{"golang.org/x/term", []string{"examples"}},
	{"github.com/zeebo/xxh3", []string{"transport/wire"}}, // the checksum of the Iggy protocol
}

// testModules may be imported by test files and by test kits, everywhere and nowhere else.
var testModules = []string{"github.com/stretchr/testify", "go.uber.org/goleak"}

// standard says which packages of the standard library not every package may import, outside of its tests.
var standard = []struct {
	path   string
	by     []string // folders that may, with what lies in them; nil for none
	except []string // folders among them that may not
	why    string
}{
	{"log", nil, nil, "log/slog is the one that users can direct"},
	{"math/rand", nil, nil, "math/rand/v2 took its place"},
	{"unsafe", []string{"internal/codec"}, nil, "only decoding pays for it"},
	{
		"reflect",
		[]string{anywhere}, []string{"checkpoint", "internal/engine", "flow/", "source", "sink"},
		"no reflection on the way of a record",
	},
}

// arrows says which packages of this module a package may import, outside of its tests. The first row that fits counts.
// A star stands for the name of a connector without its side: file for source/filesource.
var arrows = []struct {
	dir string // one that ends in / stands for what lies in it too
	may []string
}{
	{".", []string{"checkpoint", "internal/engine", "internal/wallclock"}},
	{"checkpoint", []string{"internal/fsync", "internal/lockfile"}},
	{"internal/engine", []string{"checkpoint"}},
	{"internal/fileconn/", []string{"internal/fileconn"}},
	{"internal/transporttest", []string{"transport"}},
	{"internal/wiretest", []string{"transport/wire"}},
	{"internal/", nil},
	{"flow", []string{".", "checkpoint"}},
	{"flow/", []string{".", "checkpoint", "flow"}},
	{"source", []string{".", "checkpoint"}},
	{"source/sourcetest", []string{".", "checkpoint", "runneltest", "source", "sink", "internal/wallclock"}},
	{"source/iggysource", []string{
		".", "checkpoint", "internal/codec", "internal/iggyconn", "internal/wallclock", "transport", "transport/client", "transport/wire",
	}},
	{"source/", []string{".", "checkpoint", "source", "internal/codec", "internal/*conn", "internal/wallclock"}},
	{"sink", []string{".", "checkpoint"}},
	{"sink/sinktest", []string{".", "checkpoint", "runneltest", "source", "sink", "internal/wallclock"}},
	{"sink/iggysink", []string{".", "checkpoint", "sink", "internal/codec", "internal/iggyconn", "transport", "transport/client", "transport/wire"}},
	{"sink/", []string{".", "checkpoint", "sink", "internal/codec", "internal/*conn"}},
	{"transport/wire", nil},
	{"transport/wire/", []string{"transport/wire"}},
	{"transport", nil},
	{"transport/internal/", []string{"transport", "transport/internal/"}},
	{"transport/client", []string{"transport", "transport/wire"}},
	{"transport/tcp", []string{"transport", "transport/internal/"}},
	{"transport/ws", []string{"transport", "transport/internal/"}},
	{"transport/quic", []string{"transport", "transport/internal/"}},
	{"transport/rest", []string{"transport", "transport/internal/", "transport/wire", "transport/wire/", "internal/wallclock"}},
	{"transport/dial", []string{"transport", "transport/client", "transport/tcp", "transport/ws", "transport/quic", "transport/rest"}},
	{"transport/iggyserver/internal/webapi", []string{"transport", "transport/rest", "transport/wire", "transport/iggyserver/internal/"}},
	{"transport/iggyserver/internal/disk", []string{
		"transport/wire", "transport/iggyserver/internal/broker", "internal/fsync", "internal/lockfile",
	}},
	{"transport/iggyserver/internal/", []string{"transport/wire", "internal/wallclock"}},
	{"transport/iggyserver", []string{
		"transport", "transport/dial", "transport/tcp", "transport/ws", "transport/quic", "transport/rest", "transport/wire",
		"transport/iggyserver/internal/",
	}},
	{"runneltest", []string{".", "checkpoint"}},
	{"cmd/runnel", []string{".", "checkpoint", "transport/dial", "transport/iggyserver"}},
	{"examples/internal/", nil},
	{"examples/", []string{
		".", "checkpoint", "flow/", "source/", "sink/", "runneltest", "transport/", "examples/internal/",
	}},
}

// checkImports holds the imports against the tables.
func checkImports(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		if f.ofBench() {
			continue
		}
		for _, spec := range f.tree.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if what := f.refuses(path); what != "" {
				faults = append(faults, f.fault(spec.Pos(), "%s", what))
			}
		}
	}
	return faults
}

// refuses says why f may not import path, or nothing.
func (f *file) refuses(path string) string {
	switch own, ours := strings.CutPrefix(path+"/", modulePath+"/"); {
	case ours:
		return f.refusesOwn(cleanOwn(own))
	case strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
		return f.refusesModule(path)
	default:
		return f.refusesStandard(path)
	}
}

// cleanOwn returns the folder of a package of this module.
func cleanOwn(p string) string { return path.Clean(strings.TrimSuffix(p, "/")) }

func (f *file) refusesOwn(dir string) string {
	if f.isTest() {
		return ""
	}
	if strings.HasSuffix(dir, "test") && !f.isKit() {
		return "imports " + dir + ", a test kit: move what is needed out of it"
	}
	may, ok := f.arrow()
	if !ok {
		return "imports " + dir + ", but package " + f.dir() + " has no row in arrows (internal/lint/imports.go): add one"
	}
	if fits(dir, may) {
		return ""
	}
	return "imports " + dir + ", which package " + f.dir() + " may not: allowed are " + list(may) + " (arrows in internal/lint/imports.go)"
}

// arrow returns what the package of f may import of this module.
func (f *file) arrow() (may []string, ok bool) {
	dir := f.dir()
	for _, row := range arrows {
		if !fits(dir, []string{row.dir}) {
			continue
		}
		for _, m := range row.may {
			may = append(may, strings.ReplaceAll(m, "*", system(dir)))
		}
		return may, true
	}
	return nil, false
}

// system returns what a connector is for: file for source/filesource.
func system(dir string) string {
	base := path.Base(dir)
	return strings.TrimSuffix(strings.TrimSuffix(base, "source"), "sink")
}

func (f *file) refusesModule(path string) string {
	for _, m := range testModules {
		if !within(path, m) {
			continue
		}
		if f.isTest() || f.isKit() {
			return ""
		}
		return "imports " + path + ", which would get into users' programs: it is for _test.go files and packages named …test"
	}
	for _, row := range fences {
		if !within(path, row.module) {
			continue
		}
		if inAny(f.dir(), row.by) {
			return ""
		}
		return "imports " + path + ", which is for " + list(row.by) + " (fences in internal/lint/imports.go)"
	}
	return "imports " + path + ", which no package may: a new module needs a reason and a row in fences (internal/lint/imports.go)"
}

func (f *file) refusesStandard(path string) string {
	if f.isTest() {
		return ""
	}
	if within(path, "testing") && !f.isKit() {
		return "imports " + path + ", which is for _test.go files and packages named …test"
	}
	for _, row := range standard {
		if path == row.path && (!inAny(f.dir(), row.by) || fits(f.dir(), row.except)) {
			return "imports " + path + ": " + row.why
		}
	}
	return ""
}

// inAny says whether dir is one of dirs or lies in one of them.
func inAny(dir string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return d == anywhere || within(dir, d) })
}

// fits says whether dir is one of dirs, of which one that ends in / stands for what lies in it too.
func fits(dir string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return dir == strings.TrimSuffix(d, "/") || strings.HasSuffix(d, "/") && strings.HasPrefix(dir, d)
	})
}

func list(dirs []string) string {
	if len(dirs) == 0 {
		return "none"
	}
	return strings.Join(dirs, ", ")
}

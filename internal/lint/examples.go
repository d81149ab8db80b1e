package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// shown are the folders whose operators, sources and sinks run without a server, so that an example can show them.
var shown = []string{"flow", "flow/window", "flow/gostreams", "source", "source/filesource", "sink", "sink/filesink"}

// made finds the types that operators, sources and sinks return.
var made = regexp.MustCompile(`^\*?(runnel\.)?(Stream|Keyed|Source|Sink)\[`)

// output finds the comment that makes an example a test.
var output = regexp.MustCompile(`(?mi)^\s*// (unordered )?output:`)

// checkExamples wants each operator, and each source and sink that runs without a server, to be used in an example with
// an output.
func checkExamples(files []*file) []Fault {
	used := map[string]bool{}
	for _, f := range files {
		f.addUsed(used)
	}
	var faults []Fault
	for _, f := range files {
		if f.isTest() || !slices.Contains(shown, f.dir()) {
			continue
		}
		for fn := range f.functions() {
			name := f.dir() + "." + fn.Name.Name
			if fn.Recv == nil && fn.Name.IsExported() && f.makes(fn) && !used[name] {
				faults = append(faults, f.fault(fn.Pos(), "%s is in no example with an output: write Example%s", name, fn.Name.Name))
			}
		}
	}
	return faults
}

// makes says whether a function returns a stream, a source or a sink.
func (f *file) makes(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil {
		return false
	}
	for _, r := range fn.Type.Results.List {
		if made.Match(f.src[f.fset.Position(r.Type.Pos()).Offset:]) {
			return true
		}
	}
	return false
}

// addUsed adds the functions of this module, by folder and name, that examples of f with an output use.
func (f *file) addUsed(used map[string]bool) {
	if !f.isTest() || !output.Match(f.src) {
		return
	}
	dirs := map[string]string{} // by the name of the package
	for _, spec := range f.tree.Imports {
		if dir, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath+"/"); ours {
			dirs[path.Base(dir)] = dir
		}
	}
	for fn := range f.functions() {
		from, to := f.fset.Position(fn.Pos()).Offset, f.fset.Position(fn.End()).Offset
		if !strings.HasPrefix(fn.Name.Name, "Example") || !output.Match(f.src[from:to]) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					used[dirs[pkg.Name]+"."+sel.Sel.Name] = true
				}
			}
			return true
		})
	}
}

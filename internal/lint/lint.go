// Package lint holds rules of the project that the compiler and golangci-lint do not know: which package may import
// what, how long a file and a function may be, what has to be documented, and what a program that uses the library
// has to pay for it. `go test ./internal/lint` holds the tree against them.
//
// A rule is a function from parsed files to faults; it reads source only, so that files for other systems count too.
package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// modulePath is the module that the rules are for.
const modulePath = "github.com/runnel-go/runnel"

// Fault is a place that breaks a rule.
type Fault struct {
	// File is the path of the file from the root of the repository, with slashes.
	File string
	// Line counts from 1.
	Line int
	// What says what is wrong and what to do about it.
	What string
}

// String returns the fault in the form of a compiler's message.
func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What) }

// file is a parsed file of the repository.
type file struct {
	path string // from the root of the repository, with slashes
	src  []byte
	fset *token.FileSet
	tree *ast.File
}

// dir is the folder of the file: "." for the root package.
func (f *file) dir() string { return path.Dir(f.path) }

// isTest says whether only `go test` compiles the file.
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isKit says whether the package exists for tests and is named so: runneltest, sourcetest.
func (f *file) isKit() bool { return strings.HasSuffix(f.dir(), "test") }

// isCommand says whether the file belongs to a program, which nobody imports.
func (f *file) isCommand() bool { return f.tree.Name.Name == "main" }

// ofBench says whether the file belongs to the module of the benchmarks, which has its own requirements.
func (f *file) ofBench() bool { return within(f.path, "bench") }

// line returns the line of a position.
func (f *file) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// fault returns a fault at pos.
func (f *file) fault(pos token.Pos, format string, args ...any) Fault {
	return Fault{f.path, f.line(pos), fmt.Sprintf(format, args...)}
}

// functions yields the functions and methods.
func (f *file) functions() iter.Seq[*ast.FuncDecl] {
	return func(yield func(*ast.FuncDecl) bool) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !yield(fn) {
				return
			}
		}
	}
}

// groups yields the declarations of constants, variables, types or imports.
func (f *file) groups(of token.Token) iter.Seq[*ast.GenDecl] {
	return func(yield func(*ast.GenDecl) bool) {
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == of && !yield(d) {
				return
			}
		}
	}
}

// load parses all Go files below root, but for those that the go command passes over too.
func load(root string) ([]*file, error) {
	var files []*file
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if at != root && (d.Name() == "testdata" || strings.ContainsAny(d.Name()[:1], "._")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(at, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(rel), src)
		files = append(files, f)
		return err
	})
	return files, err
}

func parse(name string, src []byte) (*file, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	return &file{name, src, fset, tree}, err
}

// within says whether p is dir or lies in it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// packages returns the files by folder, and the folders in order. The files of one folder that belong to an external
// test package are among them.
func packages(files []*file) (dirs []string, of map[string][]*file) {
	of = map[string][]*file{}
	for _, f := range files {
		of[f.dir()] = append(of[f.dir()], f)
	}
	for dir := range of {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, of
}

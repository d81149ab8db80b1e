package lint

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// checkFormat wants files as gofmt writes them.
func checkFormat(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		want, err := format.Source(f.src)
		switch {
		case err != nil:
			faults = append(faults, f.fault(f.tree.Package, "gofmt: %v", err))
		case !bytes.Equal(want, f.src):
			faults = append(faults, Fault{f.path, firstDifference(f.src, want), "is not formatted: run gofmt -w " + f.path})
		}
	}
	return faults
}

// firstDifference returns the number of the first line in which a differs from b.
func firstDifference(a, b []byte) int {
	line := 1
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

// leftover is a word of work that is not done.
var leftover = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// checkComments looks for words of work that is not done.
func checkComments(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		for _, group := range f.tree.Comments {
			faults = append(faults, f.checkComment(group)...)
		}
	}
	return faults
}

func (f *file) checkComment(group *ast.CommentGroup) []Fault {
	var faults []Fault
	for _, c := range group.List {
		if word := leftover.FindString(c.Text); word != "" {
			faults = append(faults, f.fault(c.Pos(), "%s: do it, or say as a limit in the documentation what is not done", word))
		}
	}
	return faults
}

// checkErrors looks at how errors are worded, but not at those of tests. They begin in lower case, or with the name of
// what they are about: an option, a field.
func checkErrors(files []*file) []Fault {
	names := exported(files)
	var faults []Fault
	for _, f := range files {
		if f.isTest() {
			continue
		}
		for lit := range f.errorTexts() {
			text, err := strconv.Unquote(lit.Value)
			first := firstWord.FindString(text)
			switch {
			case err != nil:
			case strings.Contains(strings.ToLower(text), "failed to"):
				faults = append(faults, f.fault(lit.Pos(), `"failed to" in an error: it is an error already, name the action and its object`))
			case capital.MatchString(first) && !names[first]:
				faults = append(faults, f.fault(lit.Pos(), "an error begins with %s: write it in lower case, as it stands behind others", first))
			case strings.HasSuffix(text, ".") || strings.HasSuffix(text, "\n"):
				faults = append(faults, f.fault(lit.Pos(), "an error ends like a sentence or a line: others may stand behind it"))
			}
		}
	}
	return faults
}

var (
	firstWord = regexp.MustCompile(`^\w+`)
	capital   = regexp.MustCompile(`^[A-Z][a-z]`) // unlike CSV
)

// exported returns the exported names of a tree.
func exported(files []*file) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.IsExported() {
				names[id.Name] = true
			}
			return true
		})
	}
	return names
}

// errorTexts yields the texts that errors are made from.
func (f *file) errorTexts() iter.Seq[*ast.BasicLit] {
	return func(yield func(*ast.BasicLit) bool) {
		for n := range ast.Preorder(f.tree) {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || !makesError(call) {
				continue
			}
			text, ok := call.Args[0].(*ast.BasicLit)
			if ok && text.Kind == token.STRING && !yield(text) {
				return
			}
		}
	}
}

// makesError says whether a call is one of errors.New and fmt.Errorf.
func makesError(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := fn.X.(*ast.Ident)
	return ok && (from.Name == "errors" && fn.Sel.Name == "New" || from.Name == "fmt" && fn.Sel.Name == "Errorf")
}

// checkSleep wants a test that sleeps to do so in a bubble, where sleeping takes no time.
func checkSleep(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		if !f.isTest() || imports(f, "testing/synctest") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Sleep" {
				return true
			}
			if from, ok := sel.X.(*ast.Ident); ok && from.Name == "time" {
				faults = append(faults, f.fault(n.Pos(), "sleeps on the wall clock: use testing/synctest, or a fake clock"))
			}
			return true
		})
	}
	return faults
}

func imports(f *file, path string) bool {
	for _, spec := range f.tree.Imports {
		if strings.Trim(spec.Path.Value, `"`) == path {
			return true
		}
	}
	return false
}

package lint

import (
	"bytes"
	"go/ast"
	"go/token"
)

// How long a file and a function may be, in lines, and how deep control statements may be nested in a function. A test
// may be longer by its table, and deeper by the loop over it. An example is read in one go.
const (
	maxFileLines     = 600
	maxExampleLines  = 120
	maxFuncLines     = 60
	maxTestFuncLines = 150
	maxNesting       = 3
	maxTestNesting   = 4
)

// checkSize measures files and functions.
func checkSize(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		limit := maxFileLines
		if within(f.path, "examples") && !f.isTest() {
			limit = maxExampleLines
		}
		if n := bytes.Count(f.src, []byte("\n")); n > limit {
			faults = append(faults, f.fault(f.tree.Package, "the file has %d lines, at most %d: split it by task", n, limit))
		}
		for fn := range f.functions() {
			if fn.Body != nil {
				faults = append(faults, f.checkFunc(fn)...)
			}
		}
	}
	return faults
}

func (f *file) checkFunc(fn *ast.FuncDecl) []Fault {
	var faults []Fault
	lines, nesting := maxFuncLines, maxNesting
	if f.isTest() {
		lines, nesting = maxTestFuncLines, maxTestNesting
	}
	if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > lines {
		faults = append(faults, f.fault(fn.Pos(), "%s has %d lines, at most %d: split it", fn.Name.Name, n, lines))
	}
	if at, depth := deepest(fn.Body); depth > nesting {
		faults = append(faults, f.fault(at, "%s nests %d deep here, at most %d: leave early or give the inner part a name",
			fn.Name.Name, depth, nesting))
	}
	return faults
}

// deepest returns the most deeply nested control statement of a body. A function literal counts anew, and an else-if
// like its if.
func deepest(body *ast.BlockStmt) (at token.Pos, depth int) {
	levels := []int{0} // of the nodes on the way from body
	elseIf := map[ast.Stmt]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			levels = levels[:len(levels)-1]
			return true
		}
		level := levels[len(levels)-1]
		switch n := n.(type) {
		case *ast.FuncLit:
			level = 0
		case *ast.IfStmt:
			if !elseIf[n] {
				level++
			}
			elseIf[n.Else] = n.Else != nil
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			level++
		}
		levels = append(levels, level)
		if level > depth {
			at, depth = n.Pos(), level
		}
		return true
	})
	return at, depth
}

package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkState wants no state at package level and no code that runs on import. Variables may hold what is written once,
// where they are declared: errors, tables, proofs of an interface.
func checkState(files []*file) []Fault {
	var faults []Fault
	dirs, of := packages(files)
	for _, dir := range dirs {
		names := map[string]bool{}
		for _, f := range of[dir] {
			if !f.isTest() && !f.ofBench() {
				faults = append(faults, f.checkVars(names)...)
			}
		}
		for _, f := range of[dir] {
			if !f.isTest() && !f.ofBench() {
				faults = append(faults, f.checkFuncs(names)...)
			}
		}
	}
	return faults
}

// checkVars looks at how variables are declared, and adds their names.
func (f *file) checkVars(names map[string]bool) []Fault {
	var faults []Fault
	for d := range f.groups(token.VAR) {
		for _, spec := range d.Specs {
			if spec := spec.(*ast.ValueSpec); !embeds(d.Doc) && !embeds(spec.Doc) {
				faults = append(faults, f.checkVar(spec, names)...)
			}
		}
	}
	return faults
}

func (f *file) checkVar(spec *ast.ValueSpec, names map[string]bool) []Fault {
	var faults []Fault
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		names[name.Name] = true
		if len(spec.Values) == 0 || i < len(spec.Values) && isHolder(spec.Values[i]) {
			faults = append(faults, f.fault(name.Pos(),
				"%s is state of the package: make it a field, or give it its value here", name.Name))
		}
	}
	return faults
}

// embeds says whether a variable with this comment gets its value from a file.
func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// isHolder says whether a value is there to be changed: a channel, an empty map, a lock, an atomic.
func isHolder(v ast.Expr) bool {
	if u, ok := v.(*ast.UnaryExpr); ok {
		v = u.X
	}
	switch v := v.(type) {
	case *ast.CallExpr:
		fn, ok := v.Fun.(*ast.Ident)
		return ok && (fn.Name == "make" || fn.Name == "new")
	case *ast.CompositeLit:
		switch t := v.Type.(type) {
		case *ast.MapType:
			return len(v.Elts) == 0
		case *ast.SelectorExpr:
			from, ok := t.X.(*ast.Ident)
			return ok && (from.Name == "sync" || from.Name == "atomic")
		}
	}
	return false
}

// checkFuncs finds init functions, and functions that change a variable of the package.
func (f *file) checkFuncs(names map[string]bool) []Fault {
	var faults []Fault
	for fn := range f.functions() {
		if fn.Body == nil {
			continue
		}
		if fn.Recv == nil && fn.Name.Name == "init" {
			faults = append(faults, f.fault(fn.Pos(), "init runs on import: let a constructor do this"))
		}
		own := declared(fn)
		for _, at := range changed(fn.Body) {
			if names[at.Name] && !own[at.Name] {
				faults = append(faults, f.fault(at.Pos(), "%s changes %s, a variable of the package: make it a field", fn.Name.Name, at.Name))
			}
		}
	}
	return faults
}

// changed returns the variables that a body assigns to, as a whole or in part, or takes the address of.
func changed(body *ast.BlockStmt) []*ast.Ident {
	var found []*ast.Ident
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if v := root(e); v != nil {
				found = append(found, v)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(n.Args) > 0 {
				add(n.Args[0])
			}
		}
		return true
	})
	return found
}

// root returns the variable that an expression is a part of.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// declared returns the names that a function declares anywhere. One of them hides the variable of the package for the
// whole function here, so that a change may be overlooked but none is made up.
func declared(fn *ast.FuncDecl) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		var idents []ast.Expr
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				idents = n.Lhs
			}
		case *ast.RangeStmt:
			idents = []ast.Expr{n.Key, n.Value}
		}
		for _, e := range idents {
			if v, ok := e.(*ast.Ident); ok {
				own[v.Name] = true
			}
		}
		return true
	})
	return own
}

package lint

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// checkDocs wants a comment at every name that users, or readers of another package, can see.
func checkDocs(files []*file) []Fault {
	var faults []Fault
	for _, f := range files {
		if f.isTest() || f.isCommand() || f.ofBench() {
			continue
		}
		for fn := range f.functions() {
			faults = append(faults, f.checkFuncDoc(fn)...)
		}
		for d := range f.groups(token.TYPE) {
			faults = append(faults, f.checkTypeDocs(d)...)
		}
		for _, of := range []token.Token{token.CONST, token.VAR} {
			for d := range f.groups(of) {
				faults = append(faults, f.checkValueDocs(d)...)
			}
		}
	}
	return faults
}

func (f *file) checkFuncDoc(fn *ast.FuncDecl) []Fault {
	name := fn.Name.Name
	if !fn.Name.IsExported() {
		return nil
	}
	if fn.Recv != nil {
		of := receiver(fn)
		if !ast.IsExported(of) {
			return nil
		}
		return f.wantDoc(fn.Pos(), of+"."+name, name, fn.Doc)
	}
	return f.wantDoc(fn.Pos(), name, name, fn.Doc)
}

// receiver returns the name of the type that a method is of.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// checkTypeDocs looks at types and what they consist of. The comment of a group does not stand for its types.
func (f *file) checkTypeDocs(d *ast.GenDecl) []Fault {
	var faults []Fault
	for _, spec := range d.Specs {
		s := spec.(*ast.TypeSpec)
		if !s.Name.IsExported() {
			continue
		}
		doc := s.Doc
		if doc == nil && !d.Lparen.IsValid() {
			doc = d.Doc
		}
		faults = append(faults, f.wantDoc(s.Pos(), s.Name.Name, s.Name.Name, doc)...)
		faults = append(faults, f.checkMembers(s.Name.Name, s.Type)...)
	}
	return faults
}

// checkValueDocs looks at constants and variables, which the comment of their group may stand for.
func (f *file) checkValueDocs(d *ast.GenDecl) []Fault {
	var faults []Fault
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		for _, name := range s.Names {
			if name.IsExported() && documented(s.Doc, s.Comment, d.Doc) == nil {
				faults = append(faults, f.fault(name.Pos(), "%s has no comment: say what it is, with its unit", name.Name))
			}
		}
	}
	return faults
}

// checkMembers looks at the fields of a struct and the methods of an interface. What is embedded has the comment of
// its own type.
func (f *file) checkMembers(of string, t ast.Expr) []Fault {
	var members *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		members = t.Fields
	case *ast.InterfaceType:
		members = t.Methods
	default:
		return nil
	}
	var faults []Fault
	for _, m := range members.List {
		for _, name := range m.Names {
			if name.IsExported() && documented(m.Doc, m.Comment) == nil {
				faults = append(faults, f.fault(name.Pos(), "%s.%s has no comment: say what it is and what it promises", of, name.Name))
			}
			faults = append(faults, f.checkMembers(of+"."+name.Name, m.Type)...)
		}
	}
	return faults
}

// wantDoc wants doc to begin with name, if need be behind an article.
func (f *file) wantDoc(pos token.Pos, shown, name string, doc *ast.CommentGroup) []Fault {
	if documented(doc) == nil {
		return []Fault{f.fault(pos, "%s has no comment: say what it does and what it promises", shown)}
	}
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if rest, ok := strings.CutPrefix(text, name); !ok || rest == "" || isWord(rest[0]) {
		return []Fault{f.fault(doc.Pos(), "the comment of %s does not begin with %s", shown, name)}
	}
	return nil
}

// documented returns the first comment that has text, directives aside.
func documented(comments ...*ast.CommentGroup) *ast.CommentGroup {
	for _, c := range comments {
		if c != nil && strings.TrimSpace(c.Text()) != "" {
			return c
		}
	}
	return nil
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// longDoc is from how many lines on the comment of a package gets a file doc.go.
const longDoc = 15

// checkPackages wants one comment for each package, and the name of its folder.
func checkPackages(files []*file) []Fault {
	var faults []Fault
	dirs, of := packages(files)
	for _, dir := range dirs {
		var sources []*file
		for _, f := range of[dir] {
			if !f.isTest() {
				sources = append(sources, f)
			}
		}
		if len(sources) > 0 {
			faults = append(faults, checkPackage(sources)...)
		}
	}
	return faults
}

func checkPackage(sources []*file) []Fault {
	var faults []Fault
	first, name := sources[0], sources[0].tree.Name.Name
	if base := path.Base(first.dir()); base != name && !first.isCommand() && first.dir() != "." {
		faults = append(faults, first.fault(first.tree.Name.Pos(), "package %s lies in a folder %s: give both one name", name, base))
	}
	var doc *file
	for _, f := range sources {
		switch {
		case documented(f.tree.Doc) == nil:
		case doc == nil:
			doc = f
		default:
			faults = append(faults, f.fault(f.tree.Package, "the package is described in %s already: keep one", doc.path))
		}
	}
	if doc == nil {
		return append(faults, first.fault(first.tree.Package, "package %s has no comment: say what it is for", name))
	}
	text := doc.tree.Doc.Text()
	if !first.isCommand() && !strings.HasPrefix(text, "Package "+name+" ") {
		faults = append(faults, doc.fault(doc.tree.Doc.Pos(), "the comment of the package does not begin with Package %s", name))
	}
	if lines := strings.Count(text, "\n"); path.Base(doc.path) == "doc.go" && lines <= longDoc && len(sources) > 1 {
		faults = append(faults, doc.fault(doc.tree.Doc.Pos(),
			"the comment has %d lines: up to %d stand in the file that a reader wants first", lines, longDoc))
	}
	return faults
}

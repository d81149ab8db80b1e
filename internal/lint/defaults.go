package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// checkDefaults compares the default that the comment of an option names with the constant. The constant for
// MaxBatch is called defaultMaxBatch or DefaultMaxBatch; one with another name links to the option in its comment.
// It returns how many it compared, too.
func checkDefaults(files []*file) (faults []Fault, compared int) {
	dirs, of := packages(files)
	for _, dir := range dirs {
		options := optionsOf(of[dir])
		for _, f := range of[dir] {
			if f.isTest() {
				continue
			}
			for d := range f.groups(token.CONST) {
				more, n := f.compareDefaults(d, options)
				faults, compared = append(faults, more...), compared+n
			}
		}
	}
	return faults, compared
}

// optionsOf returns the exported functions of a package.
func optionsOf(files []*file) map[string]*ast.FuncDecl {
	options := map[string]*ast.FuncDecl{}
	for _, f := range files {
		for fn := range f.functions() {
			if fn.Recv == nil && fn.Name.IsExported() && !f.isTest() {
				options[fn.Name.Name] = fn
			}
		}
	}
	return options
}

func (f *file) compareDefaults(d *ast.GenDecl, options map[string]*ast.FuncDecl) (faults []Fault, compared int) {
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Names) != 1 || len(spec.Values) != 1 {
			continue
		}
		option := optionOf(spec, options)
		value := evaluate(spec.Values[0])
		if option == nil || value == nil {
			continue
		}
		compared++
		if written := forms(value, spec.Values[0]); !namesDefault(option.Doc.Text(), written) {
			faults = append(faults, f.fault(spec.Pos(), "the comment of %s does not say \"The default is %s\", as %s has it",
				option.Name.Name, written[0], spec.Names[0].Name))
		}
	}
	return faults, compared
}

var (
	ofOption = regexp.MustCompile(`^[dD]efault(\w+)$`)
	link     = regexp.MustCompile(`\[(\w+)\]`)
)

// optionOf returns the option that a constant is the default of, or nil.
func optionOf(spec *ast.ValueSpec, options map[string]*ast.FuncDecl) *ast.FuncDecl {
	name := ofOption.FindStringSubmatch(spec.Names[0].Name)
	if name == nil {
		return nil
	}
	if fn := options[name[1]]; fn != nil {
		return fn
	}
	if to := link.FindStringSubmatch(spec.Doc.Text()); to != nil {
		return options[to[1]]
	}
	return nil
}

// evaluate computes a constant of literals and units of time; nil is one that needs more than that.
func evaluate(e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return evaluate(e.X)
	case *ast.CallExpr: // a conversion
		if len(e.Args) == 1 {
			return evaluate(e.Args[0])
		}
	case *ast.SelectorExpr:
		if d, ok := units[e.Sel.Name]; ok {
			return constant.MakeInt64(int64(d))
		}
	case *ast.BinaryExpr:
		x, y := evaluate(e.X), evaluate(e.Y)
		if x == nil || y == nil {
			return nil
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return nil
}

var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// forms returns how a comment may write a value, the best one first.
func forms(v constant.Value, e ast.Expr) []string {
	n, exact := constant.Int64Val(constant.ToInt(v))
	switch {
	case !exact:
		return []string{strings.Trim(v.ExactString(), `"`)}
	case mentions(e, "time"):
		return durations(time.Duration(n))
	case isRune(e):
		return []string{strconv.QuoteRune(rune(n))}
	case mentions(e, "FileMode"):
		return []string{"0" + strconv.FormatInt(n, 8), "0o" + strconv.FormatInt(n, 8)}
	default:
		return numbers(n)
	}
}

func durations(d time.Duration) []string {
	all := []string{d.String()}
	for _, u := range []struct {
		name string
		is   time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}} {
		if d%u.is == 0 {
			n := strconv.FormatInt(int64(d/u.is), 10)
			all = append([]string{n + " " + u.name}, append(all, n+u.name)...)
		}
	}
	return all
}

func numbers(n int64) []string {
	plain := strconv.FormatInt(n, 10)
	grouped := plain
	for i := len(grouped) - 3; i > 0; i -= 3 {
		grouped = grouped[:i] + "," + grouped[i:]
	}
	all := []string{grouped, plain}
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if size := int64(1) << (10 * (i + 1)); n >= size && n%size == 0 {
			all = append(all, strconv.FormatInt(n/size, 10)+" "+unit)
		}
	}
	return all
}

func isRune(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.CHAR
}

// mentions says whether a name is part of an expression.
func mentions(e ast.Expr, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return true
	})
	return found
}

// namesDefault says whether a comment names one of the forms as the default.
func namesDefault(doc string, forms []string) bool {
	doc = strings.Join(strings.Fields(doc), " ")
	for _, form := range forms {
		re := regexp.MustCompile(`[Dd]efault(s to| is|:)? ` + regexp.QuoteMeta(form) + `([^\w,]|,\D|,?$)`)
		if re.MatchString(doc) {
			return true
		}
	}
	return false
}

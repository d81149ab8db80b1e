package filesource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// structPlan fills structs. It looks at the type once, and at a header once for each file.
type structPlan[T any] struct {
	exact  bool
	fields []structField
	bound  []boundField
}

// structField is a field that a column is read into.
type structField struct {
	name     string // of the column
	tagged   bool   // name is from a tag, and so exact
	index    []int
	optional bool // the column may be missing
	set      cellSetter
}

// boundField is a field with its column.
type boundField struct {
	*structField
	column int
}

// newStructPlan returns a plan for T, or what is wrong with T.
func newStructPlan[T any](exact bool) (*structPlan[T], []error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, []error{fmt.Errorf("CSV cannot be read into %s: it is no struct", t)}
	}
	p := &structPlan[T]{exact: exact}
	errs := p.add(t, nil)
	if len(p.fields) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("CSV cannot be read into %s: it has no exported field", t))
	}
	return p, errs
}

// add lists the fields of a struct, those of embedded structs among them. It returns what is wrong with each.
func (p *structPlan[T]) add(t reflect.Type, at []int) (errs []error) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("csv"), ",")
		index := append(slices.Clone(at), i)
		switch {
		case tag == "-":
			continue
		case f.Anonymous && f.Type.Kind() == reflect.Struct && tag == "" && !hasCellForm(f.Type):
			errs = append(errs, p.add(f.Type, index)...)
			continue
		case !f.IsExported():
			continue
		}
		field := structField{name: tag, tagged: tag != "", index: index}
		if !field.tagged {
			field.name = f.Name
		}
		if err := field.configure(f.Type, options); err != nil {
			errs = append(errs, fmt.Errorf("CSV cannot be read into %s.%s: %w", t, f.Name, err))
		}
		p.fields = append(p.fields, field)
	}
	return errs
}

// configure reads the options of a tag: omitempty, optional, and layout, which takes the rest of the tag.
func (f *structField) configure(t reflect.Type, options string) error {
	var layout string
	var omitEmpty bool
	for options != "" {
		var option string
		if rest, ok := strings.CutPrefix(options, "layout="); ok {
			if err := fileconn.CheckLayout(rest); err != nil {
				return err
			}
			layout, options = rest, ""
			continue
		}
		switch option, options, _ = strings.Cut(options, ","); option {
		case "omitempty":
			omitEmpty = true
		case "optional":
			f.optional = true
		default:
			return fmt.Errorf("tag has no option %q", option)
		}
	}
	set, err := newCellSetter(t, layout)
	if err != nil {
		return err
	}
	if omitEmpty {
		set = leaveEmpty(set)
	}
	f.set = set
	return nil
}

// bind finds the column of each field.
func (p *structPlan[T]) bind(header []string) error {
	var missing, unknown []string
	p.bound = p.bound[:0]
	taken := make([]bool, len(header))
	for i := range p.fields {
		f := &p.fields[i]
		columns := f.columns(header)
		switch {
		case len(columns) > 1:
			return fmt.Errorf("%w: %d columns are named %q", ErrColumns, len(columns), f.name)
		case len(columns) == 1:
			taken[columns[0]] = true
			p.bound = append(p.bound, boundField{f, columns[0]})
		case !f.optional:
			missing = append(missing, f.name)
		}
	}
	for i, name := range header {
		if !taken[i] {
			unknown = append(unknown, name)
		}
	}
	if len(missing) > 0 {
		return missingColumns(missing, header)
	}
	if p.exact && len(unknown) > 0 {
		return fmt.Errorf("%w: no field for %s", ErrColumns, someNames(unknown))
	}
	return nil
}

// columns returns which columns have the name of the field: as it is, or else, for one without a tag, whatever the case.
func (f *structField) columns(header []string) []int {
	var same, folded []int
	for i, name := range header {
		if name == f.name {
			same = append(same, i)
		} else if !f.tagged && strings.EqualFold(name, f.name) {
			folded = append(folded, i)
		}
	}
	if len(same) > 0 {
		return same
	}
	return folded
}

func (p *structPlan[T]) grow(int, int) {}

func (p *structPlan[T]) decode(r csvText, to *T) error {
	v := reflect.ValueOf(to).Elem()
	for _, f := range p.bound {
		field := v.Field(f.index[0])
		for _, i := range f.index[1:] {
			field = field.Field(i)
		}
		if err := f.set(field, r.at(f.column)); err != nil {
			return fmt.Errorf("column %q: %w", f.name, err)
		}
	}
	return nil
}

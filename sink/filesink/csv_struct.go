package filesink

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// column is a field of a struct that is written as a column.
type column struct {
	name   string
	index  []int
	append appender
	plain  bool // a number or boolean
}

// structRow appends the row of a struct. Fields are looked up by the places found once, and nothing is allocated.
func (w *rowWriter) structRow(dst []byte, columns []column, v reflect.Value) ([]byte, error) {
	first := len(dst)
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			dst = append(dst, w.comma)
		}
		field := v.Field(c.index[0])
		for _, inner := range c.index[1:] {
			field = field.Field(inner)
		}
		start := len(dst)
		var err error
		if dst, err = c.append(dst, field); err != nil {
			return dst[:first], fmt.Errorf("column %s: %w", c.name, err)
		}
		if !(c.plain && w.plain) && w.needsQuotes(dst, start) {
			dst = quote(dst, start)
		}
	}
	if len(dst) == first {
		dst = append(dst, `""`...)
	}
	return append(dst, w.end...), nil
}

// columnsOf returns the columns of a struct type, and everything that is wrong with it.
func columnsOf(t reflect.Type) (columns []column, errs []error) {
	if t.Kind() != reflect.Struct {
		return nil, []error{fmt.Errorf("%s is not a struct", t)}
	}
	columns, errs = addColumns(nil, t, nil)
	if len(columns) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s has no field to be a column", t))
	}
	count := make(map[string]int, len(columns))
	for _, c := range columns {
		if count[c.name]++; count[c.name] == 2 {
			errs = append(errs, fmt.Errorf("%s has two columns named %q", t, c.name))
		}
	}
	return columns, errs
}

// addColumns appends the columns of a struct that lies at a place, those of embedded structs among them. errs says
// which fields can be none.
func addColumns(columns []column, t reflect.Type, place []int) (all []column, errs []error) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("csv"), ",")
		index := append(slices.Clone(place), i)
		switch {
		case name == "-":
		case f.Anonymous && f.Type.Kind() == reflect.Struct && name == "" && fieldAppender(f.Type) == nil:
			var inner []error
			columns, inner = addColumns(columns, f.Type, index)
			errs = append(errs, inner...)
		case f.IsExported():
			appendField, err := taggedAppender(f.Type, options)
			if err != nil {
				errs = append(errs, fmt.Errorf("field %s of %s: %w", f.Name, t, err))
			}
			if name == "" {
				name = f.Name
			}
			columns = append(columns, column{name, index, appendField, isPlain(f.Type)})
		}
	}
	return columns, errs
}

// isPlain says whether a field is written as a number or a boolean.
func isPlain(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	k := t.Kind()
	return k >= reflect.Bool && k <= reflect.Float64 && t != durationType &&
		!pointer.Implements(textAppender) && !pointer.Implements(textMarshaler)
}

// appender appends the form that a field has as a column.
type appender func(dst []byte, field reflect.Value) ([]byte, error)

// taggedAppender returns how a field is written whose tag has options behind the name.
func taggedAppender(t reflect.Type, options string) (appender, error) {
	write := fieldAppender(t)
	if write == nil {
		return nil, fmt.Errorf("type %s has no form as a column", t)
	}
	omitEmpty := false
	for options != "" {
		if layout, ok := strings.CutPrefix(options, "layout="); ok {
			if write = layoutAppender(t, layout); write == nil {
				return nil, fmt.Errorf("the tag has a layout, and %s is no time", t)
			}
			if err := fileconn.CheckLayout(layout); err != nil {
				return nil, err
			}
			break
		}
		var option string
		switch option, options, _ = strings.Cut(options, ","); option {
		case "omitempty":
			omitEmpty = true
		case "optional": // only who reads needs that
		default:
			return nil, fmt.Errorf("the tag has no option %q", option)
		}
	}
	if !omitEmpty {
		return write, nil
	}
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		if v.IsZero() {
			return dst, nil
		}
		return write(dst, v)
	}, nil
}

// layoutAppender returns how a time is written in a layout of package time.
func layoutAppender(t reflect.Type, layout string) appender {
	if t.Kind() == reflect.Pointer {
		return pointerAppender(layoutAppender(t.Elem(), layout))
	}
	if t != timeType {
		return nil
	}
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		return v.Addr().Interface().(*time.Time).AppendFormat(dst, layout), nil
	}
}

var (
	durationType  = reflect.TypeFor[time.Duration]()
	textAppender  = reflect.TypeFor[encoding.TextAppender]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	timeType      = reflect.TypeFor[time.Time]()
)

// fieldAppender returns how a field of a type is written; nil if there is no way.
func fieldAppender(t reflect.Type) appender {
	pointer := reflect.PointerTo(t)
	switch {
	case t == durationType:
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			return append(dst, time.Duration(v.Int()).String()...), nil
		}
	case t.Kind() == reflect.Pointer:
		return pointerAppender(fieldAppender(t.Elem()))
	case pointer.Implements(textAppender): // time.Time is one
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			return v.Addr().Interface().(encoding.TextAppender).AppendText(dst)
		}
	case pointer.Implements(textMarshaler):
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
			return append(dst, text...), err
		}
	}
	return kindAppender(t)
}

// pointerAppender leaves the field of a nil pointer empty.
func pointerAppender(elem appender) appender {
	if elem == nil {
		return nil
	}
	return func(dst []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return dst, nil
		}
		return elem(dst, v.Elem())
	}
}

// kindAppender is fieldAppender for types that go by their kind.
func kindAppender(t reflect.Type) appender {
	switch t.Kind() {
	case reflect.String:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return append(dst, v.String()...), nil }
	case reflect.Bool:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(dst, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(dst, v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(dst, v.Uint(), 10), nil }
	case reflect.Float32, reflect.Float64:
		bits := t.Bits()
		return func(dst []byte, v reflect.Value) ([]byte, error) {
			return strconv.AppendFloat(dst, v.Float(), 'g', -1, bits), nil
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return func(dst []byte, v reflect.Value) ([]byte, error) { return append(dst, v.Bytes()...), nil }
		}
	}
	return nil
}

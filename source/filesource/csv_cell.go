package filesource

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// cellSetter puts the text of a cell into a field. Its errors do not hold the text.
type cellSetter func(field reflect.Value, text string) error

var errEmpty = errors.New("empty, and neither a pointer nor omitempty")

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// hasCellForm says whether a struct type stands for one cell.
func hasCellForm(t reflect.Type) bool {
	return t == timeType || reflect.PointerTo(t).Implements(textType)
}

// newCellSetter returns the setter for a type; layout is for times, and empty for the usual forms.
func newCellSetter(t reflect.Type, layout string) (cellSetter, error) {
	if layout != "" && t != timeType && t != reflect.PointerTo(timeType) {
		return nil, errors.New("only a time has a layout")
	}
	switch {
	case t == timeType:
		return setTime(layout), nil
	case t == durationType:
		return setDuration, nil
	case reflect.PointerTo(t).Implements(textType):
		return setText, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return setPointer(t.Elem(), layout)
	case reflect.String:
		return func(f reflect.Value, text string) error { f.SetString(text); return nil }, nil
	case reflect.Bool:
		return setBool, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return setInt(t.Bits()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return setUint(t.Bits()), nil
	case reflect.Float32, reflect.Float64:
		return setFloat(t.Bits()), nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return func(f reflect.Value, text string) error { f.SetBytes([]byte(text)); return nil }, nil
		}
	}
	return nil, fmt.Errorf("a cell has no form as %s", t)
}

// setPointer leaves nil for an empty cell.
func setPointer(elem reflect.Type, layout string) (cellSetter, error) {
	set, err := newCellSetter(elem, layout)
	if err != nil {
		return nil, err
	}
	return leaveEmpty(func(f reflect.Value, text string) error {
		v := reflect.New(elem)
		if err := set(v.Elem(), text); err != nil {
			return err
		}
		f.Set(v)
		return nil
	}), nil
}

// leaveEmpty leaves the zero value for an empty cell.
func leaveEmpty(set cellSetter) cellSetter {
	return func(f reflect.Value, text string) error {
		if text == "" {
			return nil
		}
		return set(f, text)
	}
}

func setBool(f reflect.Value, text string) error {
	v, err := strconv.ParseBool(text)
	f.SetBool(v)
	return cellError(text, "a boolean", err)
}

func setInt(bits int) cellSetter {
	return func(f reflect.Value, text string) error {
		v, err := strconv.ParseInt(text, 10, bits)
		f.SetInt(v)
		return cellError(text, "an integer", err)
	}
}

func setUint(bits int) cellSetter {
	return func(f reflect.Value, text string) error {
		v, err := strconv.ParseUint(text, 10, bits)
		f.SetUint(v)
		return cellError(text, "an unsigned integer", err)
	}
}

func setFloat(bits int) cellSetter {
	return func(f reflect.Value, text string) error {
		v, err := strconv.ParseFloat(text, bits)
		f.SetFloat(v)
		return cellError(text, "a number", err)
	}
}

func setDuration(f reflect.Value, text string) error {
	v, err := time.ParseDuration(text)
	f.SetInt(int64(v))
	return cellError(text, "a duration", err)
}

func setText(f reflect.Value, text string) error {
	return f.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
}

// timeLayouts are the forms of a time without a layout of its own; without a zone it is UTC.
var timeLayouts = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, time.DateOnly}

func setTime(layout string) cellSetter {
	if layout != "" {
		return func(f reflect.Value, text string) error {
			v, err := time.Parse(layout, text)
			*f.Addr().Interface().(*time.Time) = v
			return cellError(text, "a time of the layout", err)
		}
	}
	return func(f reflect.Value, text string) error {
		v, err := parseTime(text)
		*f.Addr().Interface().(*time.Time) = v
		return cellError(text, "a time", err)
	}
}

// parseTime tries the layout that the length of a text suggests, then the others.
func parseTime(text string) (time.Time, error) {
	first := time.RFC3339Nano
	switch {
	case len(text) == len(time.DateOnly):
		first = time.DateOnly
	case len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == ' ':
		first = time.DateTime
	}
	v, err := time.Parse(first, text)
	for i := 0; err != nil && i < len(timeLayouts); i++ {
		v, err = time.Parse(timeLayouts[i], text)
	}
	return v, err
}

// cellError says that a text is not what it has to be.
func cellError(text, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case text == "":
		return errEmpty
	case errors.Is(err, strconv.ErrRange):
		return errors.New("out of range")
	}
	return errors.New("not " + what)
}

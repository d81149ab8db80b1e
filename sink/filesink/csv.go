package filesink

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/runnel-go/runnel"
)

// CSV writes each record as a row of CSV (RFC 4180), as encoding/csv does, and a header row at the beginning of each file
// unless header is nil. row returns the fields; it may return the same slice each time. A row with another number of
// fields than the header, or with none, is refused with [ErrFields]. A row of one empty field is written as "", as an
// empty line would not be read back.
func CSV[T any](path string, header []string, row func(T) []string, opts ...CSVOption) *Sink[T] {
	cfg, invalid := csvConfig(opts)
	w := newRowWriter(&cfg)
	s := newSink("csv", path, func(dst []byte, batch *runnel.Batch[T], i int) ([]byte, error) {
		fields := row(batch.Values()[i])
		if len(fields) == 0 || header != nil && len(fields) != len(header) {
			return dst, fmt.Errorf("%w: %d, the header has %d", ErrFields, len(fields), len(header))
		}
		return w.row(dst, fields), nil
	}, cfg, invalid)
	if row == nil {
		s.invalid = append(s.invalid, errors.New("the function for a row is nil"))
	}
	s.setHeader(w, header)
	return s
}

// CSVOf writes a struct as a row of CSV, with a header at the beginning of each file. The columns are the exported fields
// in their order, those of embedded structs among them. The tag `csv:"name"` names a column, which else has the name of
// the field; "-" leaves a field out.
//
// Fields are strings, []byte (as text), booleans, numbers, time.Duration (1h30m0s), time.Time (RFC 3339, or the rest of
// the tag behind layout=), whatever has MarshalText, and pointers to these. A nil pointer is an empty cell, and so is a
// zero value whose tag says omitempty. Another type of field is refused by Validate. It is what filesource.CSV reads.
func CSVOf[T any](path string, opts ...CSVOption) *Sink[T] {
	cfg, invalid := csvConfig(opts)
	w := newRowWriter(&cfg)
	columns, errs := columnsOf(reflect.TypeFor[T]())
	s := newSink("csv", path, func(dst []byte, batch *runnel.Batch[T], i int) ([]byte, error) {
		return w.structRow(dst, columns, reflect.ValueOf(&batch.Values()[i]).Elem())
	}, cfg, invalid)
	s.invalid = append(s.invalid, errs...)
	var header []string
	for _, c := range columns {
		header = append(header, c.name)
	}
	s.setHeader(w, header)
	return s
}

// csvConfig returns what the options set, and the mistakes in them.
func csvConfig(opts []CSVOption) (cfg config, invalid []error) {
	cfg = defaultConfig()
	for _, o := range opts {
		if o == nil {
			invalid = append(invalid, errNilOption)
			continue
		}
		o.applyCSV(&cfg)
	}
	return cfg, invalid
}

// setHeader says that the content is rows, and what each file begins with.
func (s *Sink[T]) setHeader(w *rowWriter, header []string) {
	s.format.rows = true
	if c := s.cfg.comma; c >= utf8.RuneSelf || c == '"' || c == '\r' || c == '\n' || c <= 0 {
		s.invalid = append(s.invalid, fmt.Errorf("Comma(%q) cannot stand between fields", c))
	}
	switch {
	case header == nil:
	case len(header) == 0:
		s.invalid = append(s.invalid, errors.New("the header has no column"))
	default:
		s.format.header = w.row(nil, header)
	}
}

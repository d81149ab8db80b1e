package filesource

import "errors"

var (
	errSkipHeader   = errors.New("SkipHeader is for CSVRows: CSV always has a header")
	errExactColumns = errors.New("ExactColumns is for CSV: CSVRows has no struct")
)

// CSV reads the records of CSV files with a header: into T, a struct, or into map[string]string by the names of the
// columns. A field of the struct takes the column of its `csv:"name"` tag, which has to agree, or else of its own name,
// whatever the case; fields of embedded structs are among them, and the tag "-" leaves one out. A column that is
// missing is an error of the file ([ErrColumns]), unless the tag says `csv:"name,optional"`.
//
// Fields are strings, []byte, booleans, numbers, time.Duration (1h30m), time.Time (RFC 3339, 2006-01-02T15:04:05 and
// 2006-01-02 15:04:05 and 2006-01-02 in UTC, or the rest of the tag behind layout=), whatever has UnmarshalText, and
// pointers to these. An empty cell is a nil pointer, an empty string, or else an error, unless the tag says
// omitempty: then it leaves the zero value. A cell that does not fit its field makes the record a failed one; the error
// names the column.
//
// Records are those of RFC 4180 as encoding/csv reads them.
func CSV[T any](pattern string, opts ...CSVOption) *Source[T] {
	s := newCSVSource[T](pattern, opts)
	if s.config.skipHeader {
		s.errs = append(s.errs, errSkipHeader)
	}
	if _, ok := any(&mapPlan{}).(csvPlan[T]); !ok {
		_, errs := newStructPlan[T](false)
		s.errs = append(s.errs, errs...)
	}
	s.parser = func(c *config) parser[T] {
		p := &csvParser[T]{csvSplitter: newCSVSplitter(c), consume: true, anyCount: c.anyLength}
		var ok bool
		if p.plan, ok = any(&mapPlan{}).(csvPlan[T]); !ok {
			p.plan, _ = newStructPlan[T](c.exactColumns) // checked above
		}
		return p
	}
	return s
}

// CSVRows reads the records of CSV files as they are, the first one among them unless [SkipHeader] says otherwise. The
// fields of one fetch share their memory.
func CSVRows(pattern string, opts ...CSVOption) *Source[[]string] {
	s := newCSVSource[[]string](pattern, opts)
	if s.config.exactColumns {
		s.errs = append(s.errs, errExactColumns)
	}
	s.parser = func(c *config) parser[[]string] {
		return &csvParser[[]string]{
			csvSplitter: newCSVSplitter(c), plan: &rowPlan{}, consume: c.skipHeader, anyCount: c.anyLength,
		}
	}
	return s
}

func newCSVSource[T any](pattern string, opts []CSVOption) *Source[T] {
	s := &Source[T]{kind: "csv", pattern: pattern, config: defaultConfig()}
	for _, o := range opts {
		if o == nil {
			s.errs = append(s.errs, errNilOption)
			continue
		}
		o.applyCSV(&s.config)
	}
	return s
}

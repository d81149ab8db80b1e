package filesource

import (
	"bytes"
	"unicode/utf8"
)

// csvSplitter finds the records and fields of CSV as RFC 4180 has it, and as encoding/csv reads it: empty lines are
// passed over, CR LF within quotes becomes LF, and a CR at the end of the file is no part of a field.
type csvSplitter struct {
	comma, comment byte // comment is 0 if there is none
	lazy           bool
	utf8           bool
	limit          int

	records []csvRecord // good ones
	fields  []csvField  // of all records
	bad     []bad
}

// csvRecord is where a record is in the input, and which of the fields are its own.
type csvRecord struct {
	start, end           int
	firstField, endField int
}

// csvField is where the text of a field is, without the quotes around it.
type csvField struct {
	start, end int
	fix        bool // has doubled quotes or CR LF
}

func newCSVSplitter(c *config) csvSplitter {
	return csvSplitter{
		comma: byte(c.comma), comment: byte(c.comment), lazy: c.lazyQuotes, utf8: c.utf8, limit: c.maxLine,
	}
}

// split finds up to most records and returns how many bytes they take.
func (s *csvSplitter) split(in input, most int) (used int) {
	s.records, s.fields, s.bad = s.records[:0], s.fields[:0], s.bad[:0]
	for used < len(in.data) && len(s.records)+len(s.bad) < most {
		next := s.record(in, used)
		if next == 0 {
			break
		}
		used = next
	}
	return used
}

// record takes the record or the line without one that begins at start. It returns where the next begins, or 0 if it
// does not end in the input.
func (s *csvSplitter) record(in input, start int) (next int) {
	end, next := in.lineEnd(start)
	if next == 0 {
		return 0
	}
	stop := lineStop(in.data, start, end)
	line := in.data[start:stop]
	if len(line) == 0 || (s.comment != 0 && line[0] == s.comment) {
		return next
	}
	if onlyNUL(line) {
		s.bad = append(s.bad, bad{start, len(line), cut(line), ErrNUL})
		return next
	}
	first := len(s.fields)
	var err error
	if bytes.IndexByte(line, '"') < 0 {
		s.plainFields(in.data, start, stop)
	} else {
		stop, next, err = s.quotedFields(in, start, stop, next)
	}
	if next == 0 {
		s.fields = s.fields[:first]
		return s.unclosed(in, start)
	}
	return s.add(in, csvRecord{start, stop, first, len(s.fields)}, next, err)
}

// add keeps a record, or what is wrong with it.
func (s *csvSplitter) add(in input, r csvRecord, next int, err error) int {
	text := in.data[r.start:r.end]
	switch {
	case len(text) > s.limit:
		s.bad = append(s.bad, bad{r.start, len(text), cut(text), ErrTooLong})
	case err != nil:
		s.bad = append(s.bad, bad{r.start, len(text), bytes.Clone(text), err})
	case s.utf8 && !utf8.Valid(text):
		s.bad = append(s.bad, bad{r.start, len(text), bytes.Clone(text), ErrUTF8})
	default:
		s.records = append(s.records, r)
		return next
	}
	s.fields = s.fields[:r.firstField]
	return next
}

// lineStop returns where the text of a line ends: before a CR.
func lineStop(data []byte, start, end int) int {
	if end > start && data[end-1] == '\r' {
		return end - 1
	}
	return end
}

// plainFields takes the fields of a line without quotes.
func (s *csvSplitter) plainFields(data []byte, pos, stop int) {
	for {
		i := bytes.IndexByte(data[pos:stop], s.comma)
		if i < 0 {
			s.fields = append(s.fields, csvField{start: pos, end: stop})
			return
		}
		s.fields = append(s.fields, csvField{start: pos, end: pos + i})
		pos += i + 1
	}
}

// quotedFields takes the fields of a record that has quotes; it may go beyond its first line, whose text ends at stop.
// It returns where the text of the record ends and where the next one begins, which is 0 if a quote is not closed.
func (s *csvSplitter) quotedFields(in input, pos, stop, next int) (int, int, error) {
	for {
		var field csvField
		var err error
		if pos < stop && in.data[pos] == '"' {
			field, pos, err = s.quoted(in, pos+1)
		} else {
			field, pos, err = s.unquoted(in.data, pos, stop)
		}
		if pos > next { // the field ended on a later line
			var end int
			end, next = in.lineEnd(pos)
			stop = lineStop(in.data, pos, end)
		}
		if pos < 0 || next == 0 {
			return 0, 0, nil
		}
		if err != nil {
			return stop, next, err
		}
		s.fields = append(s.fields, field)
		if pos >= stop {
			return stop, next, nil
		}
		pos++ // the comma
	}
}

// unquoted takes a field up to the comma or the end of the line.
func (s *csvSplitter) unquoted(data []byte, pos, stop int) (csvField, int, error) {
	end := stop
	if i := bytes.IndexByte(data[pos:stop], s.comma); i >= 0 {
		end = pos + i
	}
	if !s.lazy && bytes.IndexByte(data[pos:end], '"') >= 0 {
		return csvField{}, pos, ErrBareQuote
	}
	return csvField{start: pos, end: end}, end, nil
}

// quoted takes a field that begins behind a quote. It returns where the comma or the line end behind it is, or -1 if the
// field does not end.
func (s *csvSplitter) quoted(in input, start int) (csvField, int, error) {
	field := csvField{start: start}
	for pos := start; ; {
		i := bytes.IndexByte(in.data[pos:], '"')
		if i < 0 {
			return s.unended(in, field)
		}
		field.end = pos + i
		pos = field.end + 1
		rest := in.data[pos:]
		switch {
		case len(rest) == 0 && !in.final, len(rest) == 1 && rest[0] == '\r' && !in.final:
			return field, -1, nil
		case len(rest) == 0, rest[0] == s.comma, rest[0] == '\n', string(rest) == "\r",
			len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			field.fix = field.fix || bytes.Contains(in.data[start:field.end], []byte("\r\n"))
			return field, pos, nil
		case rest[0] == '"':
			field.fix = true
			pos++
		case !s.lazy:
			return field, pos, ErrQuote
		default:
			field.fix = true
		}
	}
}

// unended takes a quoted field that goes to the end of the file as encoding/csv does with lazy quotes, if that is not
// more than a line.
func (s *csvSplitter) unended(in input, field csvField) (csvField, int, error) {
	if !in.final || !s.lazy || bytes.IndexByte(in.data[field.start:], '\n') >= 0 {
		return field, -1, nil
	}
	field.end = lineStop(in.data, field.start, len(in.data))
	field.fix = true
	return field, len(in.data), nil
}

// unclosed gives up a record whose quote is not closed where no more input comes: it ends at its first line, as one
// wrong quote must not take the rest of the file with it.
func (s *csvSplitter) unclosed(in input, start int) (next int) {
	full := in.full && start == 0
	if !in.final && !full {
		return 0
	}
	end, next := in.lineEnd(start)
	err := ErrQuote
	if full {
		err = ErrTooLong
	}
	line := in.data[start:lineStop(in.data, start, end)]
	s.bad = append(s.bad, bad{start, len(line), cut(line), err})
	return next
}

// unescape returns the text of a quoted field.
func unescape(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if i+1 < len(text) && ((c == '"' && text[i+1] == '"') || (c == '\r' && text[i+1] == '\n')) {
			i++
			c = text[i]
		}
		out = append(out, c)
	}
	return string(out)
}

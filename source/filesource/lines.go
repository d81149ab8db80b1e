package filesource

import (
	"bytes"
	"runtime/debug"
	"unicode/utf8"

	"github.com/runnel-go/runnel"
)

// lineSplitter finds lines and tells bad ones.
type lineSplitter struct {
	limit     int
	raw       bool // keep CR
	utf8      bool // refuse what is not UTF-8
	skipBlank bool

	spans []span // of the good lines
	bad   []bad
}

func newLineSplitter(c *config) lineSplitter {
	return lineSplitter{limit: c.maxLine, raw: c.raw, utf8: c.utf8, skipBlank: c.skipBlank}
}

// split finds up to most lines and returns how many bytes they take.
func (s *lineSplitter) split(in input, most int) (used int) {
	s.spans, s.bad = s.spans[:0], s.bad[:0]
	data := in.data
	for used < len(data) && len(s.spans)+len(s.bad) < most {
		end, next := in.lineEnd(used)
		if next == 0 {
			break
		}
		if end > used && end < next && data[end-1] == '\r' && !s.raw {
			end--
		}
		line := data[used:end]
		switch {
		case len(line) == 0:
			if !s.skipBlank {
				s.spans = append(s.spans, span{used, end})
			}
		case len(line) > s.limit:
			s.bad = append(s.bad, bad{used, len(line), cut(line), ErrTooLong})
		case data[used] == 0 && onlyNUL(line):
			s.bad = append(s.bad, bad{used, len(line), cut(line), ErrNUL})
		case s.utf8 && !utf8.Valid(line):
			s.bad = append(s.bad, bad{used, len(line), bytes.Clone(line), ErrUTF8})
		case s.skipBlank && blank(line):
		default:
			s.spans = append(s.spans, span{used, end})
		}
		used = next
	}
	return used
}

// cutBytes is how much is kept of a record that is bad by its length.
const cutBytes = 4 << 10

func cut(line []byte) []byte { return bytes.Clone(line[:min(len(line), cutBytes)]) }

// blank says whether a line holds nothing but what JSON takes for white space.
func blank(line []byte) bool {
	return line[0] <= ' ' && len(bytes.Trim(line, " \t\r")) == 0
}

// textParser gives lines as strings. They share the memory of their chunk.
type textParser struct{ lineSplitter }

func (p *textParser) parse(in input, base int64, out *chunk[string]) int {
	used := p.split(in, out.max)
	out.bad = append(out.bad, p.bad...)
	if len(p.spans) == 0 {
		return used
	}
	first := p.spans[0].start
	text := string(in.data[first:p.spans[len(p.spans)-1].end])
	out.begin(len(p.spans))
	out.good = len(p.spans)
	values, offsets := out.values, out.offsets
	for i, s := range p.spans {
		values[i] = text[s.start-first : s.end-first]
		offsets[i] = base + int64(s.start)
	}
	return used
}

// decodeParser gives what a function makes of a line.
type decodeParser[T any] struct {
	lineSplitter
	decode func(line []byte, to *T) error
}

func (p *decodeParser[T]) parse(in input, base int64, out *chunk[T]) int {
	used := p.split(in, out.max)
	out.bad = append(out.bad, p.bad...)
	if len(p.spans) == 0 {
		return used
	}
	out.begin(len(p.spans))
	for at := 0; at < len(p.spans); {
		n, err := p.fill(in.data, base, p.spans[at:], out)
		if at += n; err != nil {
			s := p.spans[at]
			line := in.data[s.start:s.end]
			out.fail(bad{s.start, len(line), bytes.Clone(line), err})
			at++
		}
	}
	return used
}

// fill decodes lines until one fails. It returns how many it has decoded, and why the one behind these failed: a panic
// is an error of its line, and caught once for many lines because a defer for each is not free.
func (p *decodeParser[T]) fill(data []byte, base int64, lines []span, out *chunk[T]) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &runnel.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	for _, s := range lines {
		if err := p.decode(data[s.start:s.end:s.end], &out.values[out.good]); err != nil {
			return n, err
		}
		out.offsets[out.good] = base + int64(s.start)
		out.good++
		n++
	}
	return n, nil
}

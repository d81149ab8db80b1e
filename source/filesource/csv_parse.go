package filesource

import (
	"bytes"
	"fmt"
)

// csvParser gives records as rows of text, or as what a plan makes of them.
type csvParser[T any] struct {
	csvSplitter
	plan     csvPlan[T]
	consume  bool   // the first record of a file is its header and no record
	anyCount bool   // records may differ in their number of fields
	bound    []byte // the header that the plan is bound to
	line     int    // of the header that was found last
	want     int    // number of fields
}

// csvPlan makes values of records with the columns of one header.
type csvPlan[T any] interface {
	// bind makes the plan ready for records below that header.
	bind(header []string) error
	// grow tells how many values, and how many fields in all, are about to be made.
	grow(records, fields int)
	// decode makes a value of a record.
	decode(r csvText, to *T) error
}

// csvText is the text of one record.
type csvText struct {
	text   string // of the chunk, which begins at base in the input
	base   int
	fields []csvField
}

// at returns field i, or nothing if the record has fewer.
func (r csvText) at(i int) string {
	if i >= len(r.fields) {
		return ""
	}
	f := r.fields[i]
	text := r.text[f.start-r.base : f.end-r.base]
	if f.fix {
		return unescape(text)
	}
	return text
}

// strings returns all fields.
func (r csvText) strings() []string {
	all := make([]string, len(r.fields))
	for i := range all {
		all[i] = r.at(i)
	}
	return all
}

// header returns the first good record. Where it is no header, bad ones before it are left to parse.
func (p *csvParser[T]) header(in input) (record []byte, used int, ok bool, err error) {
	for {
		rest := input{data: in.data[used:], final: in.final, full: in.full}
		n := p.split(rest, 1)
		switch {
		case len(p.records) > 0:
			r := p.records[0]
			record = rest.data[r.start:r.end]
			p.line = 1 + bytes.Count(in.data[:used+r.start], []byte("\n"))
			if !p.consume {
				return record, 0, true, nil
			}
			return record, used + n, true, nil
		case len(p.bad) > 0 && p.consume:
			return nil, 0, false, p.bad[0].err
		case n == 0:
			return nil, 0, in.final, nil
		}
		used += n
	}
}

// begin binds the plan to a header.
func (p *csvParser[T]) begin(header []byte) error {
	if p.bound != nil && string(header) == string(p.bound) {
		return nil
	}
	p.split(input{data: header, final: true}, 1)
	r := csvText{text: string(header), fields: p.fields}
	if len(p.records) == 0 {
		return nil // an empty file
	}
	p.want = len(p.fields)
	if err := p.plan.bind(r.strings()); err != nil {
		return fmt.Errorf("line %d: %w", p.line, err)
	}
	p.bound = bytes.Clone(header)
	return nil
}

func (p *csvParser[T]) parse(in input, base int64, out *chunk[T]) int {
	used := p.split(in, out.max)
	out.bad = append(out.bad, p.bad...)
	if len(p.records) == 0 {
		return used
	}
	first := p.records[0].start
	text := string(in.data[first:p.records[len(p.records)-1].end])
	out.begin(len(p.records))
	p.plan.grow(len(p.records), len(p.fields))
	for _, r := range p.records {
		row := csvText{text: text, base: first, fields: p.fields[r.firstField:r.endField]}
		if err := p.decode(row, &out.values[out.good]); err != nil {
			raw := bytes.Clone(in.data[r.start:r.end])
			out.fail(bad{r.start, len(raw), raw, err})
			continue
		}
		out.offsets[out.good] = base + int64(r.start)
		out.good++
	}
	return used
}

func (p *csvParser[T]) decode(r csvText, to *T) error {
	if len(r.fields) != p.want && !p.anyCount {
		return fmt.Errorf("%w: %d, not %d", ErrFieldCount, len(r.fields), p.want)
	}
	return p.plan.decode(r, to)
}

// rowPlan gives records as they are.
type rowPlan struct{ slab []string }

func (p *rowPlan) bind([]string) error { return nil }

func (p *rowPlan) grow(_, fields int) { p.slab = make([]string, 0, fields) }

func (p *rowPlan) decode(r csvText, to *[]string) error {
	n := len(p.slab)
	for i := range r.fields {
		p.slab = append(p.slab, r.at(i))
	}
	*to = p.slab[n:len(p.slab):len(p.slab)]
	return nil
}

// mapPlan gives records by the names of their columns.
type mapPlan struct{ names []string }

func (p *mapPlan) bind(header []string) error {
	seen := make(map[string]int, len(header))
	for i, name := range header {
		if first, again := seen[name]; again {
			return fmt.Errorf("%w: columns %d and %d have one name; %s", ErrColumns, first+1, i+1, noHeader)
		}
		seen[name] = i
	}
	p.names = header
	return nil
}

func (p *mapPlan) grow(int, int) {}

func (p *mapPlan) decode(r csvText, to *map[string]string) error {
	row := make(map[string]string, len(p.names))
	for i, name := range p.names {
		row[name] = r.at(i)
	}
	*to = row
	return nil
}

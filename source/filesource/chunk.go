package filesource

import (
	"bytes"

	"github.com/runnel-go/runnel"
)

// input is what a parser is given: bytes of a file that begin with a record.
type input struct {
	data  []byte
	final bool // nothing follows data: what is not ended ends here
	full  bool // more of an unfinished record is not wanted: it is too long
}

// chunk is what a parser makes of an input.
type chunk[T any] struct {
	max     int // records
	buffers *runnel.Buffers[T]
	assign  *runnel.Assignment
	draft   runnel.Draft[T]

	good    int     // values that are records
	values  []T     // see begin
	offsets []int64 // of the values, in the file
	bad     []bad
}

// begin makes room for n values, which are zero. A chunk is begun once.
func (c *chunk[T]) begin(n int) {
	c.draft = c.buffers.Take(n)
	c.values, c.offsets = c.draft.Values, c.draft.Offsets(c.assign)
}

// fail makes the value that is under way a bad record.
func (c *chunk[T]) fail(b bad) {
	var zero T
	c.values[c.good] = zero
	c.bad = append(c.bad, b)
}

// batch returns the records.
func (c *chunk[T]) batch() runnel.Batch[T] {
	if c.good == 0 {
		return runnel.Batch[T]{}
	}
	return c.draft.Batch(c.good)
}

// bad is a record that cannot be read.
type bad struct {
	start, length int // in the input
	raw           []byte
	err           error
}

// parser makes records of bytes. It keeps nothing of its input.
type parser[T any] interface {
	// parse takes whole records from the start of in, as many as the chunk has room for, and returns the bytes it took;
	// base is the offset of the first. It takes nothing if there is no whole record, and all of a final input in the
	// end.
	parse(in input, base int64, out *chunk[T]) (used int)
}

// headed is a parser that needs the first record of a file before it can take any other.
type headed interface {
	// header returns the first record, and where the records to be parsed begin; ok is false if in does not hold it.
	header(in input) (record []byte, used int, ok bool, err error)
	// begin makes the parser ready for the records of a file with that header.
	begin(header []byte) error
}

// span is where a record, or a field, is in an input.
type span struct{ start, end int }

// onlyNUL says whether p, which is not empty, holds nothing but NUL.
func onlyNUL(p []byte) bool {
	return p[0] == 0 && len(bytes.Trim(p, "\x00")) == 0
}

// lineEnd returns where the line that begins at pos ends, and where the next one begins; next is 0 if it does not end.
// A last line may end without a line feed.
func (in input) lineEnd(pos int) (end, next int) {
	if i := bytes.IndexByte(in.data[pos:], '\n'); i >= 0 {
		return pos + i, pos + i + 1
	}
	if in.final {
		return len(in.data), len(in.data)
	}
	return 0, 0
}

package filesource

import (
	"encoding/binary"
	"errors"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// A partition is a path, and its token lists the files that were found under it and are not forgotten: those that were
// rotated away, and at last the one that is there now, whose offset is that of the token. The list is the guard of the
// token. Numbers are unsigned varints but for the hashes:
//
//	version (1 byte) | count | count × mark
//	mark: number | flags | device | inode | offset | line | head length, hash (8) | tail length, hash (8) |
//	      size | changed | gone | member packed, plain
const (
	listVersion = 1

	flagPacked   = 1 << 0
	flagFinished = 1 << 1
	flagReplaced = 1 << 2

	// maxMarks bounds what a damaged token can make us allocate, and is above what a track keeps.
	maxMarks = 1 << 16
)

var errToken = errors.New("position is damaged or of a later version")

// mark is what is stored of a file: which it is and what to read next.
type mark struct {
	number   uint64          // counts the files that were found under a path, from 1
	id       fileconn.FileID // zero where the system does not tell
	offset   int64           // of the next record; in an archive, of what is unpacked
	line     int64           // line feeds before offset
	head     sum             // of the first bytes
	tail     sum             // of the bytes before offset
	packed   bool            // an archive
	finished bool            // read to its end, which was at size
	replaced bool            // cut or written anew in place: nothing is this file any more, but a copy may be
	size     int64           // of the file when it was last seen, packed
	changed  int64           // when it was written to last, in Unix nanoseconds
	gone     int64           // since when it is gone, in Unix seconds; 0 while it is there
	member   fileconn.Member // where unpacking can start, before the tail
}

// encodeToken returns the token of a partition.
func encodeToken(marks []*mark) []byte {
	list := make([]byte, 0, 2+len(marks)*88)
	list = append(list, listVersion)
	list = binary.AppendUvarint(list, uint64(len(marks)))
	var next int64
	for _, m := range marks {
		list = m.append(list)
		next = m.offset
	}
	return checkpoint.OffsetToken(next, list)
}

func (m *mark) append(to []byte) []byte {
	var flags uint64
	if m.packed {
		flags |= flagPacked
	}
	if m.finished {
		flags |= flagFinished
	}
	if m.replaced {
		flags |= flagReplaced
	}
	for _, v := range [...]uint64{m.number, flags, m.id.Device, m.id.Inode, uint64(m.offset), uint64(m.line)} {
		to = binary.AppendUvarint(to, v)
	}
	for _, s := range [...]sum{m.head, m.tail} {
		to = binary.AppendUvarint(to, uint64(s.n))
		to = binary.BigEndian.AppendUint64(to, s.hash)
	}
	for _, v := range [...]int64{m.size, m.changed, m.gone, m.member.Packed, m.member.Plain} {
		to = binary.AppendUvarint(to, uint64(v))
	}
	return to
}

// decodeToken returns the marks of a partition.
func decodeToken(token []byte) ([]*mark, error) {
	_, list, err := checkpoint.ParseOffset(token)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0] != listVersion {
		return nil, errToken
	}
	d := &tokenReader{rest: list[1:]}
	count := d.uint()
	if count > maxMarks || count > uint64(len(d.rest)) {
		return nil, errToken
	}
	marks := make([]*mark, count)
	for i := range marks {
		marks[i] = d.mark()
		if d.bad || !marks[i].sound() || (i > 0 && marks[i].number <= marks[i-1].number) {
			return nil, errToken
		}
	}
	if len(d.rest) > 0 {
		return nil, errToken
	}
	return marks, nil
}

// sound says whether a mark is one that was made of a file.
func (m *mark) sound() bool {
	low := min(m.offset, m.line, m.size, m.changed, m.gone, m.member.Packed, m.member.Plain)
	return low >= 0 && m.head.n <= headBytes && m.tail.n <= tailBytes && int64(max(m.head.n, m.tail.n)) <= m.offset &&
		m.member.Plain <= m.offset-int64(m.tail.n)
}

// tokenReader takes a token apart and remembers whether it was too short.
type tokenReader struct {
	rest []byte
	bad  bool
}

func (d *tokenReader) mark() *mark {
	m := &mark{number: d.uint()}
	flags := d.uint()
	m.packed, m.finished, m.replaced = flags&flagPacked != 0, flags&flagFinished != 0, flags&flagReplaced != 0
	m.id = fileconn.FileID{Device: d.uint(), Inode: d.uint()}
	m.offset, m.line = d.int(), d.int()
	m.head, m.tail = d.sum(), d.sum()
	m.size, m.changed, m.gone = d.int(), d.int(), d.int()
	m.member = fileconn.Member{Packed: d.int(), Plain: d.int()}
	return m
}

func (d *tokenReader) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *tokenReader) int() int64 { return int64(d.uint()) }

func (d *tokenReader) sum() sum {
	n := d.uint()
	if len(d.rest) < 8 || n > headBytes {
		d.bad, d.rest = true, nil
		return sum{}
	}
	s := sum{int(n), binary.BigEndian.Uint64(d.rest)}
	d.rest = d.rest[8:]
	return s
}

// compareTokens says whether a is before b (negative), behind it (positive), or neither.
func compareTokens(a, b []byte) int {
	marksA, errA := decodeToken(a)
	marksB, errB := decodeToken(b)
	if errA != nil || errB != nil {
		return 0
	}
	offsets := make(map[uint64]int64, len(marksA))
	for _, m := range marksA {
		offsets[m.number] = m.offset
	}
	before, behind := newest(marksA) < newest(marksB), newest(marksA) > newest(marksB)
	for _, m := range marksB {
		if offset, both := offsets[m.number]; both {
			before, behind = before || offset < m.offset, behind || offset > m.offset
		}
	}
	switch {
	case before && !behind:
		return -1
	case behind && !before:
		return 1
	}
	return 0
}

// newest returns the number of the file that was found last.
func newest(marks []*mark) uint64 {
	if len(marks) == 0 {
		return 0
	}
	return marks[len(marks)-1].number
}

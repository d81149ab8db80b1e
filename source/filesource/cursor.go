package filesource

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// blockBytes is how much of a file is read at once. Larger blocks leave the second-level cache and gain nothing.
const blockBytes = 256 << 10

// cursor reads the content of a file through a buffer.
type cursor struct {
	f       *file
	content *content
	members []fileconn.Member // begun, and not yet behind the tail of the mark
	limit   int               // of a line
	nul     bool              // the first NUL is the end
	endless bool              // the end is not final: more may come
	stopper

	buf  []byte
	r, w int
	err  error // what the content ended with, io.EOF at its end
	cut  bool  // the end is a NUL
	size int64 // of the file when the cursor was opened
	read int64 // bytes that were taken
}

// data returns the bytes that are there and not yet taken.
func (c *cursor) data() []byte { return c.buf[c.r:c.w] }

// input returns them for a parser.
func (c *cursor) input() input {
	data := c.data()
	return input{data: data, final: c.final(), full: len(data) >= c.limit+2} // CR LF is not counted
}

// final says whether what is there is all that comes, and undamaged.
func (c *cursor) final() bool {
	return !c.endless && (errors.Is(c.err, io.EOF) || errors.Is(c.err, ErrGarbage))
}

// take moves over n bytes of data.
func (c *cursor) take(n int) {
	taken := c.buf[c.r : c.r+n]
	c.f.advance(int64(n), taken, taken, bytes.Count(taken, []byte("\n")))
	c.r += n
	c.moved(int64(n))
}

// reach moves to an offset that may be ahead.
func (c *cursor) reach(ctx context.Context, offset int64) error {
	for c.f.offset < offset {
		c.take(int(min(offset-c.f.offset, int64(len(c.data())))))
		if c.f.offset == offset {
			return nil
		}
		if more, err := c.fill(ctx); !more {
			return err
		}
	}
	return nil
}

// moved accounts for bytes that were taken.
func (c *cursor) moved(n int64) {
	f := c.f
	c.read += n
	for len(c.members) > 0 && c.members[0].Plain <= f.offset-int64(len(f.print.tail)) {
		f.member, c.members = c.members[0], c.members[1:]
	}
	f.unread = c.size - f.offset
	if c.content.unpack != nil {
		f.unread = c.size - c.content.raw.at
	}
}

// fill reads on. It returns false if there is nothing more; err is set if the reader is to stop.
func (c *cursor) fill(ctx context.Context) (more bool, err error) {
	if err := c.stopped(ctx); err != nil || c.err != nil {
		return false, err
	}
	c.makeRoom()
	for c.w < len(c.buf) && c.err == nil {
		n, err := c.content.Read(c.buf[c.w:])
		c.accept(n)
		if c.err == nil {
			c.err = err
		}
	}
	return true, nil
}

// accept takes note of n bytes that were read into the buffer.
func (c *cursor) accept(n int) {
	fresh := c.buf[c.w : c.w+n]
	if i := bytes.IndexByte(fresh, 0); c.nul && i >= 0 {
		n, c.cut, c.err = i, true, io.EOF
	}
	c.w += n
	if c.content.unpack == nil {
		return
	}
	last := c.f.member
	if len(c.members) > 0 {
		last = c.members[len(c.members)-1]
	}
	if m := c.content.unpack.Member(); m != last {
		c.members = append(c.members, m)
	}
}

// makeRoom moves what is not taken to the front of the buffer and gives it the size that is needed.
func (c *cursor) makeRoom() {
	left := c.w - c.r
	switch {
	case left == len(c.buf):
		c.buf = append(make([]byte, 0, min(2*left, max(c.limit+2, blockBytes))), c.data()...)
		c.buf = c.buf[:cap(c.buf)]
	case len(c.buf) > blockBytes && left <= blockBytes/2:
		small := make([]byte, blockBytes)
		copy(small, c.data())
		c.buf = small
	default:
		copy(c.buf, c.data())
	}
	c.r, c.w = 0, left
}

// skipped is a line beyond the limit of which the end is not yet read.
type skipped struct {
	length int64
	head   []byte // its first bytes
	tail   []byte // its last bytes
	crlf   bool   // a CR LF ends it, and the CR is counted
}

// add takes bytes of the line.
func (s *skipped) add(p []byte) {
	s.length += int64(len(p))
	if room := cutBytes - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	s.tail = append(s.tail, p[max(0, len(p)-tailBytes):]...)
	s.tail = s.tail[max(0, len(s.tail)-tailBytes):]
}

// skipLine reads on in a line beyond the limit, and returns how long it was once it has ended.
func (c *cursor) skipLine(ctx context.Context) (line *skipped, err error) {
	s := c.f.skip
	if s == nil {
		s = &skipped{}
		c.f.skip = s
	}
	for {
		data := c.data()
		i := bytes.IndexByte(data, '\n')
		if i >= 0 {
			data = data[:i]
		}
		s.add(data)
		c.r += len(data)
		if i >= 0 || c.final() {
			s.crlf = i >= 0 && bytes.HasSuffix(s.tail, []byte("\r"))
			return s, nil
		}
		if more, err := c.fill(ctx); !more {
			return nil, err
		}
	}
}

// endSkip moves the file behind a line beyond the limit and its line feed.
func (c *cursor) endSkip(s *skipped) {
	f := c.f
	f.skip = nil
	f.advance(s.length, s.head, s.tail, 0)
	c.moved(s.length)
	if c.r < c.w {
		c.take(1)
	}
}

func (c *cursor) close() {
	c.content.close()
	c.f.seal()
}

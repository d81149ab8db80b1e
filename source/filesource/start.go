package filesource

import (
	"bytes"
	"context"
	"fmt"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// start opens the cursor on a file, or finds that there is nothing to read. It returns the file that it came to: another
// one, if the file is not what it was.
func (s *feed) start(ctx context.Context, f *file) (*file, error) {
	if err := s.openHandle(f); err != nil || f.handle == nil {
		return f, err
	}
	f.touched = false
	info, err := f.handle.Stat()
	if err != nil {
		return f, err
	}
	packing, err := detect(f.handle)
	if err != nil {
		return f, err
	}
	now := foundAt(f.path, info)
	content, err := s.resume(ctx, f, packing)
	if err == nil && content == nil {
		f, content, err = s.restart(ctx, f, now, packing)
	}
	if err != nil {
		return f, err
	}
	f.state, f.returned = stateReading, false
	f.size, f.changed, f.packed = now.size, now.changed, packing != fileconn.PackNone
	s.cur = s.newCursor(f, content)
	return f, s.begin(ctx)
}

// restart begins at the start of a file that is not what it was.
func (s *feed) restart(ctx context.Context, old *file, now found, p fileconn.Packing) (*file, *content, error) {
	f := s.replace(old, now)
	if s.follow {
		if err := s.missedCopy(old); err != nil {
			return f, nil, err
		}
	}
	content, err := s.resume(ctx, f, p)
	return f, content, err
}

// resume opens a file where its mark says; the content is nil if it is not that file any more.
func (s *feed) resume(ctx context.Context, f *file, packing fileconn.Packing) (*content, error) {
	if f.offset > 0 && f.packed != (packing != fileconn.PackNone) {
		return nil, nil
	}
	content, print, err := resume(f.handle, packing, &f.mark, func() error { return s.stopped(ctx) })
	if err == nil && content != nil {
		f.print = print
	}
	if content == nil || f.skip == nil {
		return content, err
	}
	if content.unpack != nil {
		f.skip = nil // read from its start
		return content, nil
	}
	content.raw.at += f.skip.length
	return content, nil
}

func (s *feed) newCursor(f *file, content *content) *cursor {
	if len(s.buf) == 0 {
		s.buf = make([]byte, blockBytes)
	}
	c := &cursor{
		f: f, content: content, limit: s.maxLine, buf: s.buf, size: f.size, stopper: s.stopper,
		nul:     s.stopAtNUL && content.unpack == nil,
		endless: s.follow && content.unpack == nil && !f.closing,
	}
	s.buf = nil
	return c
}

// begin takes what stands before the first record of the file: a byte order mark and the header.
func (s *feed) begin(ctx context.Context) error {
	c := s.cur
	fresh := c.f.offset == 0 && c.f.skip == nil
	if fresh {
		if err := s.skipMark(ctx, c); err != nil {
			return err
		}
	}
	if s.headed == nil {
		return nil
	}
	ok := c.f.header != nil
	if !ok {
		var err error
		if ok, err = s.findHeader(ctx, c, fresh); err != nil {
			return err
		}
	}
	if !ok {
		return s.end(ctx) // it is not all there yet
	}
	return s.headed.begin(c.f.header)
}

var (
	markUTF8    = []byte{0xef, 0xbb, 0xbf}
	markUTF16LE = []byte{0xff, 0xfe}
	markUTF16BE = []byte{0xfe, 0xff}
)

// skipMark takes a byte order mark at the start of a file.
func (s *feed) skipMark(ctx context.Context, c *cursor) error {
	if _, err := c.fill(ctx); err != nil || s.raw {
		return err
	}
	switch data := c.data(); {
	case bytes.HasPrefix(data, markUTF8):
		c.take(len(markUTF8))
	case bytes.HasPrefix(data, markUTF16LE), bytes.HasPrefix(data, markUTF16BE):
		return ErrUTF16
	}
	return nil
}

// findHeader reads the header of the file, from its start also where the cursor is behind it.
func (s *feed) findHeader(ctx context.Context, c *cursor, fresh bool) (ok bool, err error) {
	from := c
	if !fresh {
		if from, err = s.headCursor(ctx, c); err != nil {
			return false, err
		}
		defer from.content.close()
	}
	for {
		in := from.input()
		header, used, ok, err := s.headed.header(in)
		if ok {
			c.f.header = append([]byte{}, header...)
			from.take(used)
			return true, c.reach(ctx, from.f.offset)
		}
		if err == nil && in.full {
			err = ErrTooLong
		}
		if err != nil {
			return false, fmt.Errorf("first record: %w", err)
		}
		if more, err := from.fill(ctx); !more {
			c.err = from.err
			return false, err
		}
	}
}

// headCursor reads the file of a cursor from its start.
func (s *feed) headCursor(ctx context.Context, c *cursor) (*cursor, error) {
	packing, err := detect(c.f.handle)
	if err != nil {
		return nil, err
	}
	content, err := openContent(c.f.handle, packing, fileconn.Member{})
	if err != nil {
		return nil, err
	}
	head := &cursor{
		f: &file{track: c.f.track}, content: content, limit: c.limit, nul: c.nul, endless: c.endless,
		stopper: s.stopper, buf: make([]byte, blockBytes), size: c.size,
	}
	return head, s.skipMark(ctx, head)
}

package fileconn

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// scanBytes is how much of a file is read at once when it is searched.
const scanBytes = 64 << 10

// WholeLines returns how many bytes of a file of size bytes end with a line feed: what lies beyond is a torn line.
func WholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, scanBytes)
	for end := size; end > 0; {
		start := max(0, end-scanBytes)
		n, err := f.ReadAt(buf[:end-start], start)
		if int64(n) < end-start {
			return 0, unexpected(err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// WholeRows is WholeLines for CSV, where a line feed within quotes ends nothing. It reads the file from its beginning.
func WholeRows(f io.ReaderAt, size int64) (int64, error) {
	var whole, at int64
	quoted := false
	buf := make([]byte, scanBytes)
	for at < size {
		n, err := f.ReadAt(buf[:min(scanBytes, size-at)], at)
		if n == 0 {
			return 0, unexpected(err)
		}
		for i, c := range buf[:n] {
			switch {
			case c == '"':
				quoted = !quoted // a quote within a field is written twice
			case c == '\n' && !quoted:
				whole = at + int64(i) + 1
			}
		}
		at += int64(n)
	}
	return whole, nil
}

// WholeMembers returns how many bytes of an archive of size bytes are whole members: what lies beyond is a torn one.
func WholeMembers(f io.ReaderAt, size int64, p Packing) (int64, error) {
	in := &counter{r: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), scanBytes)}
	skip := skipFrame
	if p == PackGzip {
		skip = gzipSkipper()
	}
	for {
		whole := in.n
		if whole == size {
			return whole, nil
		}
		if err := skip(in); err != nil {
			if in.err != nil && !errors.Is(in.err, io.EOF) {
				return 0, in.err
			}
			return whole, nil
		}
	}
}

// gzipSkipper returns a function that reads one member.
func gzipSkipper() func(*counter) error {
	var z gzip.Reader
	return func(in *counter) error {
		if err := z.Reset(in); err != nil {
			return err
		}
		z.Multistream(false)
		_, err := io.Copy(io.Discard, &z)
		return err
	}
}

// skipFrame reads over one frame of zstd: its header, its blocks by their lengths, and its checksum. See RFC 8878,
// section 3.1.1.
func skipFrame(in *counter) error {
	var h zstd.Header
	peek, _ := in.r.Peek(zstd.HeaderMaxSize)
	if err := h.Decode(peek); err != nil {
		return err
	}
	if h.Skippable {
		return in.skip(int64(h.HeaderSize) + int64(h.SkippableSize))
	}
	if err := in.skip(int64(h.HeaderSize)); err != nil {
		return err
	}
	for last := false; !last; {
		var b [3]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		head := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last = head&1 != 0
		length := int64(head >> 3)
		if kind := head >> 1 & 3; kind == 1 {
			length = 1 // one byte, repeated
		}
		if err := in.skip(length); err != nil {
			return err
		}
	}
	if h.HasCheckSum {
		return in.skip(4)
	}
	return nil
}

// counter counts what is read, byte by byte where the reader of a member asks for that: it takes no more than it needs.
type counter struct {
	r   *bufio.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	c.err = err
	return b, err
}

func (c *counter) skip(n int64) error {
	done, err := io.CopyN(io.Discard, c, n)
	if done < n {
		return unexpected(err)
	}
	return nil
}

// HasPrefix says whether the content of a file of size bytes, once uncompressed, begins with prefix, as far as it goes.
func HasPrefix(f io.ReaderAt, size int64, p Packing, prefix []byte) (bool, error) {
	found := make([]byte, len(prefix))
	n, err := readStart(io.NewSectionReader(f, 0, size), p, found)
	if err != nil && !errors.Is(unexpected(err), io.ErrUnexpectedEOF) {
		if p == PackNone {
			return false, err
		}
		return false, nil // it is not an archive
	}
	return slices.Equal(found[:n], prefix[:n]), nil
}

// IsPrefix says whether a file of size bytes holds, once uncompressed, a part of start, or all of it, and nothing else.
// An archive that is torn does not, as one cannot see what it would have held.
func IsPrefix(f io.ReaderAt, size int64, p Packing, start []byte) (bool, error) {
	found := make([]byte, len(start)+1)
	n, err := readStart(io.NewSectionReader(f, 0, size), p, found)
	switch {
	case err == nil: // it holds more
		return false, nil
	case !errors.Is(unexpected(err), io.ErrUnexpectedEOF):
		if p == PackNone {
			return false, err
		}
		return false, nil // it is not an archive
	case p != PackNone:
		if whole, err := WholeMembers(f, size, p); err != nil || whole < size {
			return false, err
		}
	}
	return slices.Equal(found[:n], start[:n]), nil
}

// readStart reads the start of the content.
func readStart(in io.Reader, p Packing, to []byte) (int, error) {
	switch p {
	case PackGzip:
		z, err := gzip.NewReader(in)
		if err != nil {
			return 0, err
		}
		in = z
	case PackZstd:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return 0, err
		}
		defer z.Close()
		in = z
	}
	return io.ReadFull(in, to)
}

func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

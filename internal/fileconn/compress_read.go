package fileconn

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrGarbage is returned behind the last byte of an archive that is followed by something else than zeros.
var ErrGarbage = errors.New("garbage behind the end of the archive")

// MagicBytes is how much of a file [DetectPacking] wants to see.
const MagicBytes = 4

const (
	readBuffer = 64 << 10
	// maxZstdWindow bounds the memory that an archive may ask for; it is the largest window of zstd --ultra --long=27,
	// and what zstd itself unpacks without being told otherwise.
	maxZstdWindow = 128 << 20
)

// DetectPacking tells how a file is compressed by its first bytes.
func DetectPacking(head []byte) Packing {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}): // RFC 1952, 2.3.1
		return PackGzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878, 3.1.1
		return PackZstd
	case len(head) >= MagicBytes && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}): // 3.1.2
		return PackZstd
	}
	return PackNone
}

// Member is a place where unpacking can start.
type Member struct {
	// Packed is its offset in the file.
	Packed int64
	// Plain is its offset in what is unpacked.
	Plain int64
}

// Unpacker reads what is in an archive. Read returns io.ErrUnexpectedEOF where the archive is cut and [ErrGarbage]
// where it is followed by something else; zeros behind a gzip archive are padding.
type Unpacker interface {
	io.ReadCloser
	// Member returns the start of the member that the bytes read last belong to.
	Member() Member
}

// NewUnpacker reads a packed file from the start of a member on.
func NewUnpacker(p Packing, r io.Reader, from Member) (Unpacker, error) {
	switch p {
	case PackGzip:
		return &gunzip{raw: &rawReader{r: r, n: from.Packed}, member: from, plain: from.Plain}, nil
	case PackZstd:
		return newUnzstd(r)
	}
	return nil, fmt.Errorf("unknown packing %q", p)
}

// gunzip reads member by member, so that it knows where each begins and what follows the last.
type gunzip struct {
	raw    *rawReader
	in     *bufio.Reader // flate takes no byte too many from it
	z      *gzip.Reader  // nil before the first member
	inside bool          // within a member
	plain  int64         // offset of the next byte in what is unpacked
	member Member
	err    error // sticky
}

func (g *gunzip) Member() Member { return g.member }
func (g *gunzip) Close() error   { return nil }

func (g *gunzip) Read(p []byte) (int, error) {
	for g.err == nil {
		if !g.inside {
			g.err = g.next()
			continue
		}
		n, err := g.z.Read(p)
		g.plain += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			g.inside = false
		case err != nil:
			g.err = err
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// next begins a member, or returns io.EOF if there is none.
func (g *gunzip) next() error {
	if g.z == nil {
		g.in = bufio.NewReaderSize(g.raw, readBuffer)
	}
	first := g.z == nil
	if _, err := g.in.Peek(1); err != nil {
		return err
	}
	at := Member{Packed: g.raw.n - int64(g.in.Buffered()), Plain: g.plain}
	if head, _ := g.in.Peek(2); !first && DetectPacking(head) != PackGzip {
		return g.rest(head)
	}
	var err error
	if first {
		g.z, err = gzip.NewReader(g.in)
	} else {
		err = g.z.Reset(g.in)
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // a header that is cut
	}
	if err != nil {
		return err
	}
	g.z.Multistream(false)
	g.inside, g.member = true, at
	return nil
}

// rest looks at what follows the last member.
func (g *gunzip) rest(head []byte) error {
	if len(head) == 1 && head[0] == 0x1f {
		return io.ErrUnexpectedEOF // one byte of a further member
	}
	for {
		b, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return ErrGarbage
		}
	}
}

// rawReader counts the bytes that were read.
type rawReader struct {
	r io.Reader
	n int64
}

func (c *rawReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// unzstd reads all frames as one: where a frame begins is not known from outside.
type unzstd struct {
	z   *zstd.Decoder
	any bool // something was unpacked
}

func newUnzstd(r io.Reader) (*unzstd, error) {
	// One at a time: no goroutine that outlives the reader.
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	return &unzstd{z: z}, nil
}

func (u *unzstd) Member() Member { return Member{} }

func (u *unzstd) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	u.any = u.any || n > 0
	if u.any && errors.Is(err, zstd.ErrMagicMismatch) {
		err = ErrGarbage
	}
	return n, err
}

func (u *unzstd) Close() error {
	u.z.Close()
	return nil
}

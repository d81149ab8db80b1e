package fileconn

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Packing is how a file is compressed while it is written.
type Packing string

// The packings. Their names are stored in checkpoints.
const (
	PackNone Packing = ""
	PackGzip Packing = "gzip"
	PackZstd Packing = "zstd"
)

// Levels returns the lowest and the highest level of a packing.
func (p Packing) Levels() (lowest, highest int) {
	switch p {
	case PackGzip:
		return gzip.BestSpeed, gzip.BestCompression
	case PackZstd:
		return 1, 22
	}
	return 0, 0
}

// packer compresses one member of an archive after the other: what a reader of the format takes as one stream when they
// stand one behind the other.
type packer interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// newPacker returns a packer at a level, 0 for that of the format's own choice; nil for PackNone.
func newPacker(p Packing, level int) (packer, error) {
	switch p {
	case PackNone:
		return nil, nil
	case PackGzip:
		if level == 0 {
			level = gzip.DefaultCompression
		}
		return gzip.NewWriterLevel(nil, level)
	case PackZstd:
		speed := zstd.SpeedDefault
		if level != 0 {
			speed = zstd.EncoderLevelFromZstd(level)
		}
		// One at a time: no goroutine that outlives the file. Zero frames: an archive of nothing is valid.
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}
	return nil, fmt.Errorf("unknown packing %q", p)
}

// Pack returns content as one member.
func Pack(content []byte, p Packing, level int) ([]byte, error) {
	pk, err := newPacker(p, level)
	if pk == nil || err != nil {
		return content, err
	}
	var packed memory
	pk.Reset(&packed)
	if _, err := pk.Write(content); err != nil {
		return nil, err
	}
	if err := pk.Close(); err != nil {
		return nil, err
	}
	return packed, nil
}

// memory is a writer that cannot fail.
type memory []byte

func (m *memory) Write(p []byte) (int, error) {
	*m = append(*m, p...)
	return len(p), nil
}

// Body writes the content of a file, compressed or not. Compressed, it keeps what has no place on the disk yet, and
// what was given to it stays given. It is not safe for concurrent use.
type Body struct {
	out   *Output
	pack  packer // nil: not compressed
	limit int    // how much of the compressed form is kept before it is written
	begun bool   // a member is begun
	held  memory // compressed and not written
}

// NewBody returns a body that writes to out.
func NewBody(out *Output, p Packing, level, limit int) (*Body, error) {
	pk, err := newPacker(p, level)
	if err != nil {
		return nil, err
	}
	return &Body{out: out, pack: pk, limit: limit}, nil
}

// Output returns what the body writes to.
func (b *Body) Output() *Output { return b.out }

// Size returns how long the file is, or will be with what is kept so far.
func (b *Body) Size() int64 { return b.out.Size() + int64(len(b.held)) }

// Write takes p and returns how much of it was taken: all, or after an error what [Output.Write] says, which is nothing
// if the file is compressed.
func (b *Body) Write(p []byte, ends []int) (int, error) {
	if b.pack == nil {
		return b.out.Write(p, ends)
	}
	if len(b.held) >= b.limit {
		if err := b.drain(); err != nil {
			return 0, err
		}
	}
	b.begin()
	if _, err := b.pack.Write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (b *Body) begin() {
	if !b.begun {
		b.pack.Reset(&b.held)
		b.begun = true
	}
}

// EndMember writes everything taken so far and ends the member, so that the file is a whole archive. A file that is to
// hold nothing gets an empty member. After an error it may be called again.
func (b *Body) EndMember() error {
	if b.pack == nil {
		return nil
	}
	if b.Size() == 0 {
		b.begin()
	}
	if b.begun {
		if err := b.pack.Close(); err != nil {
			return err
		}
		b.begun = false
	}
	return b.drain()
}

// drain writes what is kept.
func (b *Body) drain() error {
	if _, err := b.out.Write(b.held, nil); err != nil {
		return err
	}
	b.held = b.held[:0]
	if cap(b.held) > 4*b.limit {
		b.held = nil
	}
	return nil
}

// Cut gives up what was written behind size, and what is kept.
func (b *Body) Cut(size int64) error {
	b.begun, b.held = false, b.held[:0]
	return b.out.Cut(size)
}

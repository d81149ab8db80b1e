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

func newPacker(p Packing, level int) (packer, error) {
	switch p {
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

// Packer compresses the members of archives, one after the other.
type Packer struct {
	packing Packing
	level   int
	packer  packer // made when it is needed first: it takes memory
}

// NewPacker returns a packer at a level, 0 for that of the format's own choice.
func NewPacker(p Packing, level int) *Packer { return &Packer{packing: p, level: level} }

// begin begins a member that is written to to.
func (p *Packer) begin(to io.Writer) error {
	if p.packer == nil {
		var err error
		if p.packer, err = newPacker(p.packing, p.level); err != nil {
			return err
		}
	}
	p.packer.Reset(to)
	return nil
}

// Pack returns content as one member, or as it is if it is not to be compressed.
func (p *Packer) Pack(content []byte) ([]byte, error) {
	if p.packing == PackNone {
		return content, nil
	}
	var packed memory
	if err := p.begin(&packed); err != nil {
		return nil, err
	}
	if _, err := p.packer.Write(content); err != nil {
		return nil, err
	}
	if err := p.packer.Close(); err != nil {
		return nil, err
	}
	return packed, nil
}

// Pack returns content as one member, or as it is if it is not to be compressed.
func Pack(content []byte, p Packing, level int) ([]byte, error) {
	return NewPacker(p, level).Pack(content)
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
	pack  *Packer
	limit int    // how much of the compressed form is kept before it is written
	begun bool   // a member is begun
	held  memory // compressed and not written
}

// NewBody returns a body that writes to out. The packer may have packed others before, but not at the same time.
func NewBody(out *Output, pack *Packer, limit int) *Body {
	return &Body{out: out, pack: pack, limit: limit}
}

// Output returns what the body writes to.
func (b *Body) Output() *Output { return b.out }

// Size returns how long the file is, or will be with what is kept so far.
func (b *Body) Size() int64 { return b.out.Size() + int64(len(b.held)) }

// Write takes p and returns how much of it was taken: all, or after an error what [Output.Write] says, which is nothing
// if the file is compressed.
func (b *Body) Write(p []byte, ends []int) (int, error) {
	if b.pack.packing == PackNone {
		return b.out.Write(p, ends)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(b.held) >= b.limit {
		if err := b.drain(); err != nil {
			return 0, err
		}
	}
	if err := b.begin(); err != nil {
		return 0, err
	}
	if _, err := b.pack.packer.Write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (b *Body) begin() error {
	if b.begun {
		return nil
	}
	if err := b.pack.begin(&b.held); err != nil {
		return err
	}
	b.begun = true
	return nil
}

// EndMember writes everything taken so far and ends the member, so that the file is a whole archive. A file that is to
// hold nothing gets an empty member. After an error it may be called again.
func (b *Body) EndMember() error {
	if b.pack.packing == PackNone {
		return nil
	}
	if b.Size() == 0 {
		if err := b.begin(); err != nil {
			return err
		}
	}
	if b.begun {
		if err := b.pack.packer.Close(); err != nil {
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

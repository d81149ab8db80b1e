package filesource

import (
	"errors"
	"io"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// A file is known again by device and inode, and, because an inode is given to another file once its own is gone and
// because a file can be cut and written anew, by what was read of it: a hash of its first bytes and one of the bytes
// before the offset. Both grow with the offset, so that small files have them too. They are taken of what is unpacked,
// so that a file that was compressed meanwhile is known as well.
const (
	headBytes = 1024
	tailBytes = 256
)

// sum is the length and the hash of some bytes.
type sum struct {
	n    int
	hash uint64
}

// sumOf hashes with 64-bit FNV-1a; the sum of nothing is the zero value.
func sumOf(p []byte) sum {
	if len(p) == 0 {
		return sum{}
	}
	h := uint64(14695981039346656037)
	for _, b := range p {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return sum{len(p), h}
}

// fingerprint holds the bytes that a file is known by.
type fingerprint struct {
	head []byte // the first, up to headBytes
	tail []byte // the last before the offset, up to tailBytes
}

// add extends the fingerprint by bytes that were consumed: the first and the last of them, which may overlap.
func (p *fingerprint) add(first, last []byte) {
	if room := headBytes - len(p.head); room > 0 {
		p.head = append(p.head, first[:min(room, len(first))]...)
	}
	if len(last) >= tailBytes {
		p.tail = append(p.tail[:0], last[len(last)-tailBytes:]...)
		return
	}
	p.tail = append(p.tail, last...)
	if over := len(p.tail) - tailBytes; over > 0 {
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
}

// content reads what is in a file, unpacked, from an offset on.
type content struct {
	io.Reader
	raw    *rawReader
	unpack fileconn.Unpacker // nil for a plain file
}

// rawReader reads a file from an offset on and leaves its place alone.
type rawReader struct {
	f  fileconn.File
	at int64
}

func (r *rawReader) Read(p []byte) (int, error) {
	n, err := r.f.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func openContent(f fileconn.File, packing fileconn.Packing, from fileconn.Member) (*content, error) {
	raw := &rawReader{f: f, at: from.Packed}
	if packing == fileconn.PackNone {
		return &content{Reader: raw, raw: raw}, nil
	}
	u, err := fileconn.NewUnpacker(packing, raw, from)
	if err != nil {
		return nil, err
	}
	return &content{Reader: u, raw: raw, unpack: u}, nil
}

func (c *content) close() {
	if c.unpack != nil {
		_ = c.unpack.Close() // reads nothing and frees memory only
	}
}

// detect returns how a file is packed.
func detect(f fileconn.File) (fileconn.Packing, error) {
	var head [fileconn.MagicBytes]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fileconn.PackNone, err
	}
	return fileconn.DetectPacking(head[:n]), nil
}

// resume opens what is in a file at the offset of a mark, and returns the fingerprint there. It returns nil if the file
// is not the one that the mark was made of. It gives up when stop returns an error.
func resume(f fileconn.File, packing fileconn.Packing, m *mark, stop func() error) (*content, fingerprint, error) {
	var p fingerprint
	ok, err := sameHead(f, packing, m, &p)
	if !ok || err != nil {
		return nil, p, err
	}
	from := m.member
	if packing == fileconn.PackNone {
		start := m.offset - int64(m.tail.n)
		from = fileconn.Member{Packed: start, Plain: start}
	}
	c, err := openContent(f, packing, from)
	if err != nil {
		return nil, p, err
	}
	err = discard(c, m.offset-int64(m.tail.n)-from.Plain, stop)
	if err == nil {
		p.tail = make([]byte, m.tail.n, tailBytes)
		_, err = io.ReadFull(c, p.tail)
	}
	if ended(err) || (err == nil && sumOf(p.tail) != m.tail) {
		c.close()
		return nil, p, nil
	}
	if err != nil {
		c.close()
		return nil, p, err
	}
	return c, p, nil
}

// discard reads n bytes.
func discard(r io.Reader, n int64, stop func() error) error {
	const step = 1 << 20
	for n > 0 {
		if err := stop(); err != nil {
			return err
		}
		skipped, err := io.CopyN(io.Discard, r, min(n, step))
		if err != nil {
			return err
		}
		n -= skipped
	}
	return nil
}

// sameHead says whether a file begins as the mark says, and remembers how.
func sameHead(f fileconn.File, packing fileconn.Packing, m *mark, p *fingerprint) (bool, error) {
	c, err := openContent(f, packing, fileconn.Member{})
	if err != nil {
		return false, err
	}
	defer c.close()
	p.head = make([]byte, m.head.n, headBytes)
	if _, err = io.ReadFull(c, p.head); err != nil {
		if ended(err) {
			return false, nil
		}
		return false, err
	}
	return sumOf(p.head) == m.head, nil
}

// ended says whether a file, or an archive, is shorter than it was.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

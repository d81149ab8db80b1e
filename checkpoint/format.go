package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// A checkpoint file. Integers of fixed size are big endian, sums are CRC-32C (RFC 3720, appendix B.4) of every byte
// before them, and the header has a sum of its own so that it can be trusted without reading the rest.
//
//	magic     8 bytes, "runnelcp"
//	version   1 byte
//	size      4 bytes, of the header without its sum
//	header    number 8, parent 8, base 8, sum of the parent 4, taken: seconds 8 and nanoseconds 4, name of the pipeline
//	sum       4 bytes
//	body      shape, sources, sinks, states
//	sum       4 bytes
//
// In the body a size or count is a uvarint. Where nil differs from empty, the number stored is one more, and 0 is nil.
// Keys of a map are sorted, so that equal checkpoints are equal files and a key cannot come twice.
const (
	magic        = "runnelcp"
	version1     = 1
	preambleSize = len(magic) + 1 + 4
	fixedHeader  = 8 + 8 + 8 + 4 + 8 + 4
	sumSize      = 4

	// maxHeader bounds what is read before the first sum was checked. It leaves a pipeline's name 64 KiB.
	maxHeader = fixedHeader + 64<<10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errNotCheckpoint = errors.New("not a checkpoint file")
	errShort         = errors.New("file is truncated")
	errSum           = errors.New("checksum does not match: truncated or overwritten")
)

// header is what a file says of itself before its body.
type header struct {
	link
	// parentSum is the sum of the parent's file, so that another file of the same number is not taken for it.
	parentSum uint32
	taken     time.Time
	pipeline  string
}

// append adds magic, version, header and their sum to b.
func (h header) append(b []byte) ([]byte, error) {
	size := fixedHeader + len(h.pipeline)
	if size > maxHeader {
		return nil, fmt.Errorf("name of the pipeline has %d bytes, more than %d", len(h.pipeline), maxHeader-fixedHeader)
	}
	start := len(b)
	b = append(b, magic...)
	b = append(b, version1)
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint64(b, uint64(h.number))
	b = binary.BigEndian.AppendUint64(b, uint64(h.parent))
	b = binary.BigEndian.AppendUint64(b, uint64(h.base))
	b = binary.BigEndian.AppendUint32(b, h.parentSum)
	b = binary.BigEndian.AppendUint64(b, uint64(h.taken.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(h.taken.Nanosecond()))
	b = append(b, h.pipeline...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// readError is an error of the disk, as opposed to what is wrong with a file.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

// readHeader reads up to the body and returns how many bytes that took. An error of r itself is a *readError.
func readHeader(r io.Reader) (header, int, error) {
	raw := make([]byte, preambleSize)
	if err := readFull(r, raw); err != nil {
		return header{}, 0, err
	}
	if string(raw[:len(magic)]) != magic {
		return header{}, 0, errNotCheckpoint
	}
	if v := raw[len(magic)]; v != version1 {
		return header{}, 0, fmt.Errorf("format version %d, this program reads up to %d", v, version1)
	}
	size := binary.BigEndian.Uint32(raw[len(magic)+1:])
	if size < uint32(fixedHeader) || size > uint32(maxHeader) {
		return header{}, 0, fmt.Errorf("header of %d bytes", size)
	}
	raw = append(raw, make([]byte, int(size)+sumSize)...)
	if err := readFull(r, raw[preambleSize:]); err != nil {
		return header{}, 0, err
	}
	end := len(raw) - sumSize
	if crc32.Checksum(raw[:end], castagnoli) != binary.BigEndian.Uint32(raw[end:]) {
		return header{}, 0, errSum
	}
	h, err := parseHeader(raw[preambleSize:end])
	return h, len(raw), err
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errShort
	}
	return &readError{err}
}

// parseHeader reads the fields of version 1, of which there are at least fixedHeader bytes.
func parseHeader(b []byte) (header, error) {
	h := header{
		link: link{
			number: Number(binary.BigEndian.Uint64(b)),
			parent: Number(binary.BigEndian.Uint64(b[8:])),
			base:   Number(binary.BigEndian.Uint64(b[16:])),
		},
		parentSum: binary.BigEndian.Uint32(b[24:]),
		pipeline:  string(b[fixedHeader:]),
	}
	seconds, nanoseconds := int64(binary.BigEndian.Uint64(b[28:])), binary.BigEndian.Uint32(b[36:])
	if nanoseconds >= uint32(time.Second) {
		return header{}, fmt.Errorf("time with %d nanoseconds", nanoseconds)
	}
	h.taken = time.Unix(seconds, int64(nanoseconds)).UTC()
	first := h.starts() && h.parent == 0 && h.parentSum == 0
	later := h.base > 0 && h.base <= h.parent && h.parent < h.number
	if h.number == 0 || !first && !later {
		return header{}, fmt.Errorf("number %d with parent %d and base %d", h.number, h.parent, h.base)
	}
	return h, nil
}

package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

var errBody = errors.New("body is malformed")

// stored is what one file holds: states as they were saved, not merged.
type stored struct {
	header
	Checkpoint
	sum uint32
}

// decodeFile reads a whole file. The tokens and values of the result share the memory of data.
func decodeFile(data []byte) (*stored, error) {
	h, start, err := readHeader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	end := len(data) - sumSize
	if end < start {
		return nil, errShort
	}
	sum := binary.BigEndian.Uint32(data[end:])
	if crc32.Checksum(data[:end], castagnoli) != sum {
		return nil, errSum
	}
	d := decoder{rest: data[start:end:end]}
	s := &stored{header: h, sum: sum, Checkpoint: d.body()}
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes behind the end", len(d.rest))
	}
	if d.err != nil {
		return nil, d.err
	}
	s.Pipeline, s.Number, s.Taken = h.pipeline, h.number, h.taken
	return s, s.agrees()
}

// agrees returns an error if the header and the states do not say the same about the chain.
func (s *stored) agrees() error {
	for name, state := range s.States {
		if state.Full && len(state.Deleted) > 0 {
			return fmt.Errorf("%w: full state of %q deletes keys", errBody, name)
		}
	}
	if s.startsChain() != s.starts() {
		return fmt.Errorf("%w: states do not fit base %d", errBody, s.base)
	}
	return nil
}

// decoder reads version 1 of the body. It keeps its first error and then returns nothing more; every size is checked
// against what is left before memory is taken for it.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{errBody}, args...)...)
	}
	d.rest = nil
}

func (d *decoder) body() Checkpoint {
	return Checkpoint{
		Shape:   d.strings(),
		Sources: decodeMap(d, func() Position { return decodeMap(d, d.bytes) }),
		Sinks:   decodeMap(d, d.bytes),
		States:  decodeMap(d, d.state),
	}
}

func (d *decoder) state() State {
	full := d.take(1)
	if len(full) == 1 && full[0] > 1 {
		d.fail("flag %d", full[0])
	}
	return State{Full: len(full) == 1 && full[0] == 1, Put: decodeMap(d, d.bytes), Deleted: d.strings()}
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.fail("size cannot be read")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// size reads a size or count of things that take at least least bytes each; false is nil.
func (d *decoder) size(least int) (int, bool) {
	n := d.uvarint()
	if n == 0 {
		return 0, false
	}
	if n-1 > uint64(len(d.rest)/least) {
		d.fail("size %d with %d bytes left", n-1, len(d.rest))
		return 0, false
	}
	return int(n - 1), true
}

// take returns the next n bytes, or nil if there are fewer.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail("size %d with %d bytes left", n, len(d.rest))
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) str() string { return string(d.take(d.uvarint())) }

func (d *decoder) bytes() []byte {
	n, ok := d.size(1)
	if !ok {
		return nil
	}
	return d.take(uint64(n))
}

func (d *decoder) strings() []string {
	n, ok := d.size(1)
	if !ok {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.str())
	}
	return list
}

// decodeMap reads entries, of a byte for the key and one for the value at least, whose keys ascend.
func decodeMap[V any](d *decoder, value func() V) map[string]V {
	n, ok := d.size(2)
	if !ok {
		return nil
	}
	m := make(map[string]V, n)
	last := ""
	for i := range n {
		key := d.str()
		if i > 0 && key <= last {
			d.fail("keys do not ascend")
		}
		m[key] = value()
		if d.err != nil {
			return nil
		}
		last = key
	}
	return m
}

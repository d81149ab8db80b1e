package checkpoint

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// writeBuffer is how much of a file is collected before it is handed to the operating system: large enough that most
// checkpoints are one write, small enough that its memory does not matter beside the state.
const writeBuffer = 64 << 10

// encoder writes checkpoint files, one after another. It streams, so that a large state is not held twice.
type encoder struct {
	w   *bufio.Writer
	out summing
}

func newEncoder() *encoder {
	e := &encoder{}
	e.w = bufio.NewWriterSize(&e.out, writeBuffer)
	return e
}

// file writes c behind h to w and returns the sum of the file.
func (e *encoder) file(w io.Writer, h header, c *Checkpoint) (uint32, error) {
	head, err := h.append(nil)
	if err != nil {
		return 0, err
	}
	e.out = summing{w: w}
	e.w.Reset(&e.out)
	e.w.Write(head) // the writer keeps its first error and returns it from Flush
	e.body(c)
	if err := e.w.Flush(); err != nil {
		return 0, err
	}
	sum := e.out.sum
	_, err = e.out.Write(binary.BigEndian.AppendUint32(nil, sum))
	return sum, err
}

func (e *encoder) body(c *Checkpoint) {
	e.strings(c.Shape)
	encodeMap(e, c.Sources, func(p Position) { encodeMap(e, p, e.bytes) })
	encodeMap(e, c.Sinks, e.bytes)
	encodeMap(e, c.States, e.state)
}

func (e *encoder) state(s State) {
	full := byte(0)
	if s.Full {
		full = 1
	}
	e.w.WriteByte(full)
	encodeMap(e, s.Put, e.bytes)
	e.strings(s.Deleted)
}

func (e *encoder) uvarint(n uint64) {
	e.w.Write(binary.AppendUvarint(e.w.AvailableBuffer(), n))
}

// size writes a size or count where nil differs from empty.
func (e *encoder) size(n int, isNil bool) {
	if isNil {
		e.uvarint(0)
		return
	}
	e.uvarint(uint64(n) + 1)
}

func (e *encoder) str(s string) {
	e.uvarint(uint64(len(s)))
	e.w.WriteString(s)
}

func (e *encoder) bytes(b []byte) {
	e.size(len(b), b == nil)
	e.w.Write(b)
}

func (e *encoder) strings(list []string) {
	e.size(len(list), list == nil)
	for _, s := range list {
		e.str(s)
	}
}

func encodeMap[M ~map[string]V, V any](e *encoder, m M, value func(V)) {
	e.size(len(m), m == nil)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		e.str(key)
		value(m[key])
	}
}

// summing passes on what is written and keeps its sum.
type summing struct {
	w   io.Writer
	sum uint32
}

func (s *summing) Write(b []byte) (int, error) {
	s.sum = crc32.Update(s.sum, castagnoli, b)
	n, err := s.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

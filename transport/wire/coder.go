package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// coder walks over the fields of a body in their order, and either reads them from b or appends them to b. One layout
// function so serves both directions, which cannot drift apart. Writing changes nothing of the fields. The first fault stays in err; after it nothing is read
// any more, and what is written is thrown away by the caller.
type coder struct {
	b       []byte
	at      int // reading: the next byte; writing: where in b the body began
	writing bool
	err     error
}

// offset is the place of the next field.
func (c *coder) offset() int {
	if c.writing {
		return len(c.b) - c.at
	}
	return c.at
}

// fail keeps the first fault.
func (c *coder) fail(field string, err error) {
	if c.err == nil {
		c.err = &FieldError{Field: field, Offset: c.offset(), Err: err}
	}
}

// take returns the next n bytes, or nil if they are not there. All reading goes through it.
func (c *coder) take(n uint64, field string) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(len(c.b)-c.at) {
		c.fail(field, ErrShort)
		return nil
	}
	p := c.b[c.at : c.at+int(n) : c.at+int(n)]
	c.at += int(n)
	return p
}

// more says whether there is something left to read.
func (c *coder) more() bool { return c.err == nil && c.at < len(c.b) }

// end wants that nothing is left to read.
func (c *coder) end(field string) {
	if !c.writing && c.more() {
		c.fail(field, ErrTrailing)
	}
}

func (c *coder) u8(v *uint8, field string) {
	if c.writing {
		c.b = append(c.b, *v)
	} else if p := c.take(1, field); p != nil {
		*v = p[0]
	}
}

func (c *coder) u16(v *uint16, field string) {
	if c.writing {
		c.b = binary.LittleEndian.AppendUint16(c.b, *v)
	} else if p := c.take(2, field); p != nil {
		*v = binary.LittleEndian.Uint16(p)
	}
}

func (c *coder) u32(v *uint32, field string) {
	if c.writing {
		c.b = binary.LittleEndian.AppendUint32(c.b, *v)
	} else if p := c.take(4, field); p != nil {
		*v = binary.LittleEndian.Uint32(p)
	}
}

func (c *coder) u64(v *uint64, field string) {
	if c.writing {
		c.b = binary.LittleEndian.AppendUint64(c.b, *v)
	} else if p := c.take(8, field); p != nil {
		*v = binary.LittleEndian.Uint64(p)
	}
}

func (c *coder) u128(v *Uint128, field string) {
	c.u64(&v.Lo, field)
	c.u64(&v.Hi, field)
}

func (c *coder) f32(v *float32, field string) {
	bits := math.Float32bits(*v)
	c.u32(&bits, field)
	if !c.writing {
		*v = math.Float32frombits(bits)
	}
}

// bool is one byte, 0 or 1.
func (c *coder) bool(v *bool, field string) {
	var n uint8
	if *v {
		n = 1
	}
	at := c.at
	c.u8(&n, field)
	if n > 1 && c.err == nil {
		c.at = at
		c.fail(field, ErrValue)
	}
	if !c.writing {
		*v = n == 1
	}
}

// present is the byte in front of an optional part: it says whether the part follows.
func (c *coder) present(has bool, field string) bool {
	c.bool(&has, field)
	return has && c.err == nil
}

// code is a byte that stands for something. Which values there are is for who uses them: a later server may know more.
func code[T ~uint8](c *coder, v *T, field string) {
	n := uint8(*v)
	c.u8(&n, field)
	if !c.writing {
		*v = T(n)
	}
}

// word is a number of four bytes with a type of its own.
func word[T ~uint32](c *coder, v *T, field string) {
	n := uint32(*v)
	c.u32(&n, field)
	if !c.writing {
		*v = T(n)
	}
}

// kind is a code that says what follows, so that it has to be known: from 1 to last.
func kind[T ~uint8](c *coder, v *T, last T, field string) {
	at := c.at
	code(c, v, field)
	if (*v == 0 || *v > last) && c.err == nil {
		if !c.writing {
			c.at = at
		}
		c.fail(field, ErrValue)
	}
}

// fixed is a field of len(v) bytes.
func (c *coder) fixed(v []byte, field string) {
	if c.writing {
		c.b = append(c.b, v...)
	} else {
		copy(v, c.take(uint64(len(v)), field))
	}
}

// text is a string of n bytes; when writing n is its length already.
func (c *coder) text(v *string, n uint64, field string) {
	if c.writing {
		c.b = append(c.b, *v...)
	} else {
		*v = string(c.take(n, field))
	}
	if c.err == nil && !utf8.ValidString(*v) {
		c.fail(field, ErrText)
	}
}

// text8 is a string with a length of one byte, of at least so many bytes.
func (c *coder) text8(v *string, least int, field string) {
	if c.writing && (len(*v) < least || len(*v) > math.MaxUint8) {
		c.fail(field, ErrLength)
		return
	}
	n := uint8(len(*v))
	c.u8(&n, field)
	if c.err == nil && int(n) < least {
		c.fail(field, ErrLength)
	}
	c.text(v, uint64(n), field)
}

// name is a string of 1 to 255 bytes with its length in one.
func (c *coder) name(v *string, field string) { c.text8(v, 1, field) }

// text32 is a string with a length of four bytes.
func (c *coder) text32(v *string, field string) {
	n := uint32(len(*v))
	c.u32(&n, field)
	c.text(v, uint64(n), field)
}

// bytes32 are bytes with a length of four bytes. What is read is a copy.
func (c *coder) bytes32(v *[]byte, field string) {
	n := uint32(len(*v))
	c.u32(&n, field)
	c.blob(v, uint64(n), field)
}

// blob are n bytes; when writing n is their number already. What is read is a copy, nil for none.
func (c *coder) blob(v *[]byte, n uint64, field string) {
	if c.writing {
		c.b = append(c.b, *v...)
		return
	}
	*v = nil
	if p := c.take(n, field); len(p) > 0 {
		*v = bytes.Clone(p)
	}
}

// rest is everything up to the end. What is read is a view of the input, not a copy.
func (c *coder) rest(v *[]byte) {
	if c.writing {
		c.b = append(c.b, *v...)
		return
	}
	*v = nil
	if c.more() {
		*v = c.take(uint64(len(c.b)-c.at), "")
	}
}

// sized is a part that has its length in front, in four bytes, and is that long exactly.
func (c *coder) sized(field string, part func(*coder)) {
	if c.writing {
		at := len(c.b)
		c.b = append(c.b, 0, 0, 0, 0)
		part(c)
		binary.LittleEndian.PutUint32(c.b[at:], uint32(len(c.b)-at-4))
		return
	}
	var n uint32
	c.u32(&n, field)
	if c.err == nil && uint64(n) > uint64(len(c.b)-c.at) {
		c.fail(field, ErrShort)
	}
	if c.err != nil {
		return
	}
	whole := c.b
	c.b = whole[:c.at+int(n)]
	part(c)
	c.end(field)
	c.b = whole
}

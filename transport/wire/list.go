package wire

import "math"

// list is a list whose length is known from a field before it. An item takes at least so many bytes, which bounds what a
// wrong length can make us allocate.
func list[T any](c *coder, n uint32, items *[]T, least int, field string, item func(*T, *coder)) {
	if c.writing {
		if uint64(n) != uint64(len(*items)) {
			c.fail(field, ErrLength)
			return
		}
		for i := range *items {
			item(&(*items)[i], c)
		}
		return
	}
	*items = nil
	if c.err == nil && uint64(n)*uint64(least) > uint64(len(c.b)-c.at) {
		c.fail(field, ErrShort)
	}
	if c.err != nil || n == 0 {
		return
	}
	read := make([]T, n)
	for i := 0; i < len(read) && c.err == nil; i++ {
		item(&read[i], c)
	}
	*items = read
}

// list32 is a list with its length in front, in four bytes.
func list32[T any](c *coder, items *[]T, least int, field string, item func(*T, *coder)) {
	n := uint32(len(*items))
	c.u32(&n, field)
	list(c, n, items, least, field, item)
}

// list8 is a list with its length in front, in one byte.
func list8[T any](c *coder, items *[]T, least int, field string, item func(*T, *coder)) {
	if c.writing && len(*items) > math.MaxUint8 {
		c.fail(field, ErrLength)
		return
	}
	n := uint8(len(*items))
	c.u8(&n, field)
	list(c, uint32(n), items, least, field, item)
}

// listToEnd is a list that goes on to the end.
func listToEnd[T any](c *coder, items *[]T, item func(*T, *coder)) {
	if c.writing {
		for i := range *items {
			item(&(*items)[i], c)
		}
		return
	}
	*items = nil
	for c.more() {
		var next T
		item(&next, c)
		*items = append(*items, next)
	}
}

// number is an item of a list of numbers.
func number(v *uint32, c *coder) { c.u32(v, "number") }

// octet is an item of a list of bytes.
func octet[T ~uint8](v *T, c *coder) { code(c, v, "code") }

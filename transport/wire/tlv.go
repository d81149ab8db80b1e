package wire

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// value is one half of a pair: [kind u8][length u32][data]. What is read is a view of the input.
func (c *coder) value(v *Value, field string) {
	if c.writing && (len(v.Data) < 1 || len(v.Data) > math.MaxUint8) {
		c.fail(field, ErrLength)
		return
	}
	code(c, &v.Kind, field)
	n := uint32(len(v.Data))
	at := c.at
	c.u32(&n, field)
	if c.err == nil && (n < 1 || n > math.MaxUint8) {
		c.at = at
		c.fail(field, ErrLength)
	}
	if c.writing {
		c.b = append(c.b, v.Data...)
		return
	}
	v.Data = c.take(uint64(n), field)
}

// Option is a setting of a stream, topic or user. A value is of the kind that the option has, or text that stands for
// it. (Iggy binary protocol, option catalogue.)
type Option struct {
	// Key is the name of the option, 1 to 255 bytes.
	Key string
	// Value is its value.
	Value Value
}

func (v *Option) layout(c *coder) {
	key := Value{Kind: KindString}
	if c.writing {
		key.Data = []byte(v.Key)
	}
	at := c.at
	c.value(&key, "option key")
	if key.Kind != KindString && c.err == nil {
		c.at = at
		c.fail("option key kind", ErrValue)
	}
	n := uint64(len(key.Data))
	if !c.writing && c.err == nil {
		c.at -= len(key.Data)
		c.text(&v.Key, n, "option key")
	}
	c.value(&v.Value, "option value")
	if !c.writing {
		v.Value.Data = bytes.Clone(v.Value.Data)
	}
}

// Options are settings, each key once, at most [MaxOptions] and [MaxOptionsSize]. They are written in the order they
// have; other clients order them by key.
type Options []Option

// Find returns the value of an option.
func (o Options) Find(key string) (v Value, found bool) {
	for i := range o {
		if o[i].Key == key {
			return o[i].Value, true
		}
	}
	return Value{}, false
}

func (o *Options) layout(c *coder) {
	const field = "options"
	from := c.offset()
	if !c.writing && len(c.b)-c.at > MaxOptionsSize {
		c.fail(field, ErrLength)
		return
	}
	listToEnd(c, (*[]Option)(o), (*Option).layout)
	switch {
	case c.err != nil:
	case len(*o) > MaxOptions || c.offset()-from > MaxOptionsSize:
		c.fail(field, ErrLength)
	case o.repeats():
		c.fail(field, ErrDuplicate)
	}
}

// repeats says whether a key is there twice.
func (o *Options) repeats() bool {
	seen := make(map[string]bool, len(*o))
	for i := range *o {
		if seen[(*o)[i].Key] {
			return true
		}
		seen[(*o)[i].Key] = true
	}
	return false
}

// options is a block of options with its length in front.
func (c *coder) options(v *Options, field string) { c.sized(field, v.layout) }

// UserHeader is a header that a program gives a message. Key and value are of any kind. (Iggy binary protocol, options
// and user headers.)
type UserHeader struct {
	// Key is what the header is found by.
	Key Value
	// Value is its value.
	Value Value
}

func (v *UserHeader) layout(c *coder) {
	c.value(&v.Key, "user header key")
	c.value(&v.Value, "user header value")
}

// AppendUserHeaders appends user headers to dst in their order on the wire, by kind of key and then bytes of key, and
// returns the longer slice: the block for [Message.UserHeaders]. No headers are no bytes. Each key may be there once, and
// the block may have up to [MaxUserHeadersSize] bytes. Headers that are not in that order cost a copy of the slice.
func AppendUserHeaders(dst []byte, headers []UserHeader) ([]byte, error) {
	if !slices.IsSortedFunc(headers, compareHeaders) {
		headers = slices.Clone(headers)
		slices.SortFunc(headers, compareHeaders)
	}
	c := coder{b: dst, at: len(dst), writing: true}
	for i := range headers {
		if i > 0 && compareHeaders(headers[i-1], headers[i]) == 0 {
			c.fail("user header key", ErrDuplicate)
		}
		headers[i].layout(&c)
	}
	if len(c.b)-len(dst) > MaxUserHeadersSize {
		c.fail("user headers", ErrLength)
	}
	if c.err != nil {
		return dst, c.err
	}
	return c.b, nil
}

func compareHeaders(a, b UserHeader) int {
	return cmp.Or(cmp.Compare(a.Key.Kind, b.Key.Kind), bytes.Compare(a.Key.Data, b.Key.Data))
}

// DecodeUserHeaders appends the headers of a block to dst, in the order they have there, and returns the longer slice.
// They are views of the block: they hold as long as it does. It allocates nothing if dst has room.
func DecodeUserHeaders(dst []UserHeader, block []byte) ([]UserHeader, error) {
	if len(block) > MaxUserHeadersSize {
		return dst, &FieldError{Field: "user headers", Err: ErrLength}
	}
	c, had := coder{b: block}, len(dst)
	for c.more() {
		var h UserHeader
		h.layout(&c)
		dst = append(dst, h)
	}
	if c.err != nil {
		return dst[:had], c.err
	}
	return dst, nil
}

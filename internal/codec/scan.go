package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// bad is the end of a value that is not understood here. It may be wrong, or merely unusual: encoding/json decides.
const bad = -1

// maxDepth bounds nesting. Deeper values are left to encoding/json, which has a limit of its own and an error for it.
const maxDepth = 100

// space returns the index of the first byte at or behind i that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// literal returns the end of the word (null, true, false) if it stands at i.
func literal(b []byte, i int, word string) int {
	end := i + len(word)
	if end > len(b) || string(b[i:end]) != word {
		return bad
	}
	return end
}

// Eight bytes at a time: low and high are the lowest and highest bit of each.
const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// plain returns the index of the first byte at or behind i that is not plain ASCII text of a string: a quote, a backslash,
// a control character or a byte of a longer character.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// A byte's highest bit is set here if it is below space, a quote, a backslash or not ASCII. The subtractions may carry
		// into higher bytes, never into lower ones, so the first is right.
		m := ((x - ' '*low) | ((x ^ '"'*low) - low) | ((x ^ '\\'*low) - low) | x) & high
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// text returns the index of the quote that closes the string whose first byte is at i, and whether the bytes between are the
// string itself: without an escape, and valid UTF-8.
func text(b []byte, i int) (end int, verbatim bool) {
	start := i
	ascii, escaped := true, false
	for i = plain(b, i); i < len(b); i = plain(b, i) {
		switch c := b[i]; {
		case c == '"':
			return i, !escaped && (ascii || utf8.Valid(b[start:i]))
		case c == '\\':
			escaped = true
			if i = escape(b, i+1); i == bad {
				return bad, false
			}
		case c < ' ':
			return bad, false
		default:
			ascii = false
			i++
		}
	}
	return bad, false
}

// escape returns the end of an escape sequence whose backslash is before i.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return bad
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return bad
		}
		for _, c := range b[i+1 : i+5] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return bad
			}
		}
		return i + 5
	}
	return bad
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// digits returns the end of a run of digits.
func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// number returns the end of the number at i.
func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	end := digits(b, i)
	if end == i || b[i] == '0' && end > i+1 {
		return bad
	}
	if i = end; i < len(b) && b[i] == '.' {
		if end = digits(b, i+1); end == i+1 {
			return bad
		}
	}
	if i = end; i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if end = digits(b, i); end == i {
			return bad
		}
	}
	return end
}

// skip returns the end of the value at i, whatever it is, and bad if it is not JSON.
func skip(b []byte, i, depth int) int {
	if i >= len(b) || depth > maxDepth {
		return bad
	}
	switch b[i] {
	case '"':
		return skipText(b, i+1)
	case '{':
		return skipList(b, i+1, depth+1, '}')
	case '[':
		return skipList(b, i+1, depth+1, ']')
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	}
	return number(b, i)
}

// skipText returns the end of the string whose first byte is at i.
func skipText(b []byte, i int) int {
	end := plain(b, i)
	if end < len(b) && b[end] == '"' {
		return end + 1
	}
	if end, _ = text(b, i); end == bad {
		return bad
	}
	return end + 1
}

// skipList returns the end of an object or array whose opening bracket is before i.
func skipList(b []byte, i, depth int, closing byte) int {
	i = space(b, i)
	if i < len(b) && b[i] == closing {
		return i + 1
	}
	for {
		if closing == '}' {
			if i = skipName(b, i); i == bad {
				return bad
			}
		}
		if i = skip(b, i, depth); i == bad {
			return bad
		}
		var more bool
		if i, more = separator(b, i, closing); !more {
			return i
		}
	}
}

// skipName returns the index of the value behind the name of an object's member at i.
func skipName(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return bad
	}
	end := skipText(b, i+1)
	if end == bad {
		return bad
	}
	return colon(b, end)
}

// colon returns the index of the value behind the colon at or behind i.
func colon(b []byte, i int) int {
	i = space(b, i)
	if i >= len(b) || b[i] != ':' {
		return bad
	}
	return space(b, i+1)
}

// separator reads what follows a member: a comma, and the result is the index of the next one; or the closing bracket, and the
// result is the end of the list and false.
func separator(b []byte, i int, closing byte) (int, bool) {
	i = space(b, i)
	if i >= len(b) {
		return bad, false
	}
	if b[i] == ',' {
		return space(b, i+1), true
	}
	if b[i] == closing {
		return i + 1, false
	}
	return bad, false
}

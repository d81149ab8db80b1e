package codec

import (
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// readText reads a string. It copies the bytes, since the caller reuses them, unless they may be shared.
func readText(b []byte, i int, p *string, shared bool) int {
	if b[i] != '"' {
		return bad
	}
	i++
	end := plain(b, i)
	if end < len(b) && b[end] == '"' {
		*p = stringOf(b[i:end], shared)
		return end + 1
	}
	end, verbatim := text(b, i)
	switch {
	case end == bad:
		return bad
	case verbatim:
		*p = stringOf(b[i:end], shared)
	default:
		*p = unquote(b[i:end])
	}
	return end + 1
}

// stringOf returns the bytes as a string.
func stringOf(b []byte, shared bool) string {
	if shared && len(b) > 0 {
		return unsafe.String(&b[0], len(b))
	}
	return string(b)
}

// unquote returns the string that the bytes between two quotes stand for. They have been checked by text. What is not UTF-8 becomes
// U+FFFD, as does half of a surrogate pair.
func unquote(b []byte) string {
	var buf [128]byte
	out := buf[:0]
	for len(b) > 0 {
		run := plain(b, 0)
		out = append(out, b[:run]...)
		if b = b[run:]; len(b) == 0 {
			break
		}
		read := utf8.DecodeRune
		if b[0] == '\\' {
			read = unescape
		}
		r, n := read(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return string(out)
}

// unescape returns the character that the escape sequence at the start of b stands for, and its length.
func unescape(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex(b[2:6])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if b = b[6:]; len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			if pair := utf16.DecodeRune(r, hex(b[2:6])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(b[1]), 2
}

func hex(b []byte) (r rune) {
	for _, c := range b {
		if c > '9' {
			c += 9 // 'a' and 'A' end in 1, and stand for 10
		}
		r = r<<4 | rune(c&0xf)
	}
	return r
}

// appendString appends s as a JSON string. It returns false for one that is not UTF-8: versions of encoding/json differ in what they
// write for it.
func appendString(dst []byte, s string) ([]byte, bool) {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if needsEscape(c) {
				dst = appendEscape(append(dst, s[done:i]...), rune(c))
				done = i + 1
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return dst, false
		}
		if r == '\u2028' || r == '\u2029' { // they end lines in JavaScript
			dst = appendEscape(append(dst, s[done:i]...), r)
			done = i + n
		}
		i += n
	}
	return append(append(dst, s[done:]...), '"'), true
}

// escapes has bit c set for each character c below 64 that encoding/json writes as an escape sequence: controls, and what means
// something in HTML or ends the string.
const escapes uint64 = 1<<' ' - 1 | 1<<'"' | 1<<'&' | 1<<'<' | 1<<'>'

func needsEscape(c byte) bool { return c < 64 && escapes>>c&1 != 0 || c == '\\' }

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const digit = "0123456789abcdef"
	return append(dst, '\\', 'u', digit[r>>12&0xf], digit[r>>8&0xf], digit[r>>4&0xf], digit[r&0xf])
}

package filesink

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rowWriter appends rows of CSV.
type rowWriter struct {
	comma  byte
	end    string
	commas uint64 // the comma in each byte
	plain  bool   // the comma is in no number or boolean
}

func newRowWriter(cfg *config) *rowWriter {
	w := &rowWriter{comma: byte(cfg.comma), end: "\n", commas: uint64(byte(cfg.comma)) * eachByte}
	w.plain = !strings.ContainsRune("+-.", cfg.comma) && !unicode.IsLetter(cfg.comma) && !unicode.IsDigit(cfg.comma)
	if cfg.crlf {
		w.end = "\r\n"
	}
	return w
}

// row appends a row of at least one field.
func (w *rowWriter) row(dst []byte, fields []string) []byte {
	if len(fields) == 1 && fields[0] == "" {
		return append(append(dst, `""`...), w.end...)
	}
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, w.comma)
		}
		start := len(dst)
		dst = append(dst, f...)
		if w.needsQuotes(dst, start) {
			dst = quote(dst, start)
		}
	}
	return append(dst, w.end...)
}

// quote puts what was appended from start on into quotes, and writes quotes within it twice.
func quote(dst []byte, start int) []byte {
	inner := bytes.Count(dst[start:], []byte{'"'})
	end := len(dst)
	dst = slices.Grow(dst, inner+2)[:end+inner+2]
	to := len(dst) - 1
	dst[to] = '"'
	// From behind, so that nothing is overwritten before it is moved.
	for ; inner > 0; inner-- {
		at := start + bytes.LastIndexByte(dst[start:end], '"')
		to -= copy(dst[to-(end-at):to], dst[at:end])
		to--
		dst[to] = '"'
		end = at
	}
	copy(dst[start+1:], dst[start:end])
	dst[start] = '"'
	return dst
}

// Bytes are looked at eight at a time; see "Determine if a word has a zero byte" in Bit Twiddling Hacks.
const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
	quotes   = '"' * eachByte
	returns  = '\r' * eachByte
	feeds    = '\n' * eachByte
)

// special says whether one of eight bytes makes a field quoted.
func (w *rowWriter) special(x uint64) bool {
	c, q, r, f := x^w.commas, x^quotes, x^returns, x^feeds
	return ((c-eachByte)&^c|(q-eachByte)&^q|(r-eachByte)&^r|(f-eachByte)&^f)&highBits != 0
}

// needsQuotes says whether the field that was appended from start on is not read back as it is without quotes: the rule
// of encoding/csv.
func (w *rowWriter) needsQuotes(dst []byte, start int) bool {
	field := dst[start:]
	n := len(field)
	if n == 0 {
		return false
	}
	for i := 0; i+8 <= n; i += 8 {
		if w.special(binary.LittleEndian.Uint64(field[i:])) {
			return true
		}
	}
	if rest := n & 7; rest > 0 && w.special(lastBytes(dst, rest)) {
		return true
	}
	switch c := field[0]; {
	case c > ' ' && c < utf8.RuneSelf:
		return n == 2 && c == '\\' && field[1] == '.' // the end of data for COPY of Postgres
	case c == ' ' || c >= utf8.RuneSelf:
		r, _ := utf8.DecodeRune(field)
		return unicode.IsSpace(r)
	default:
		return c == '\t' || c == '\v' || c == '\f'
	}
}

// lastBytes returns the last n bytes, 1 to 7, with NUL for the others.
func lastBytes(b []byte, n int) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b[len(b)-8:]) >> (64 - 8*n)
	}
	var x uint64
	for _, c := range b[len(b)-n:] {
		x = x<<8 | uint64(c)
	}
	return x
}

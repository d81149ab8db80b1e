package codec

import (
	"math"
	"strconv"
)

// integer reads a sign and up to 19 digits, which is all that 64 bits surely hold. The caller sees by what follows whether the number
// ends there.
func integer(b []byte, i int) (n uint64, negative bool, end int) {
	if i < len(b) && b[i] == '-' {
		negative = true
		i++
	}
	start := i
	for i < len(b) && isDigit(b[i]) {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	if i == start || i-start > 19 || b[start] == '0' && i-start > 1 {
		return 0, false, bad
	}
	return n, negative, i
}

// signed reads an int of the given size.
func signed(b []byte, i, size int) (int64, int) {
	n, negative, end := integer(b, i)
	limit := uint64(1) << (size - 1)
	if negative && n <= limit {
		return -int64(n), end
	}
	if n >= limit {
		return 0, bad
	}
	return int64(n), end
}

// unsigned reads a uint of the given size.
func unsigned(b []byte, i, size int) (uint64, int) {
	n, negative, end := integer(b, i)
	if negative || n > math.MaxUint64>>(64-size) {
		return 0, bad
	}
	return n, end
}

// powers are those powers of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a floating-point number of the given size.
func float(b []byte, i, size int) (float64, int) {
	end := number(b, i)
	if end == bad {
		return 0, bad
	}
	if size == 64 {
		if f, ok := exact(b[i:end]); ok {
			return f, end
		}
	}
	f, err := strconv.ParseFloat(string(b[i:end]), size)
	if err != nil {
		return 0, bad
	}
	return f, end
}

// exact reads a number without exponent whose digits and whose power of ten a float64 holds exactly, so that their quotient is
// rounded once and thus correctly.
func exact(b []byte) (float64, bool) {
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	var n uint64
	point := len(b) - 1
	for i, c := range b {
		switch {
		case c == '.':
			point = i
		case isDigit(c) && i < 17:
			n = n*10 + uint64(c-'0')
		default:
			return 0, false
		}
	}
	if n > 1<<53 {
		return 0, false
	}
	f := float64(n) / powers[len(b)-1-point]
	if negative {
		f = -f
	}
	return f, true
}

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
	if size == 64 {
		if f, end := exact(b, i); end != bad {
			return f, end
		}
	}
	end := number(b, i)
	if end == bad {
		return 0, bad
	}
	f, err := strconv.ParseFloat(string(b[i:end]), size)
	if err != nil {
		return 0, bad
	}
	return f, end
}

// exact reads a number without exponent whose digits and whose power of ten a float64 holds exactly, so that their quotient is
// rounded once and thus correctly. Others are bad.
func exact(b []byte, i int) (float64, int) {
	n, negative, end := integer(b, i)
	if end == bad {
		return 0, bad
	}
	scale := 0
	if end < len(b) && b[end] == '.' {
		start := end + 1
		for end = start; end < len(b) && isDigit(b[end]); end++ {
			n = n*10 + uint64(b[end]-'0')
		}
		scale = end - start
		if scale == 0 {
			return 0, bad
		}
	}
	if end-i > 18 || n > 1<<53 || end < len(b) && b[end]|0x20 == 'e' {
		return 0, bad
	}
	f := float64(n) / powers[scale]
	if negative {
		f = -f
	}
	return f, end
}

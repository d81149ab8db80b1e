// Package report writes the numbers that the examples end with.
package report

import "strconv"

// Number writes a number that is not negative, with a comma between thousands.
func Number[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

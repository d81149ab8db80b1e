package broker

import (
	"math"
	"strconv"
	"strings"
)

// unit is what a number that is written as text counts.
type unit uint8

const (
	inText unit = iota // it is no number
	inNumbers
	inTruth
	inMicros
	inBytes
)

// durations are the units of time, in microseconds.
var durations = map[string]float64{
	"us": 1, "ms": 1e3, "s": 1e6, "sec": 1e6, "second": 1e6, "seconds": 1e6,
	"m": 60e6, "min": 60e6, "minute": 60e6, "minutes": 60e6,
	"h": 3600e6, "hour": 3600e6, "hours": 3600e6,
	"d": 86400e6, "day": 86400e6, "days": 86400e6, "w": 604800e6, "week": 604800e6, "weeks": 604800e6,
}

// sizes are the units of sizes, in bytes.
var sizes = map[string]float64{
	"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// parse reads a number, alone or in parts with units: 3, "7 days", "1h 30m", "1.5 GiB". The text never and unlimited are
// the largest number.
func (u unit) parse(text string) (n uint64, ok bool) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, true
	}
	units := durations
	switch u {
	case inMicros:
	case inBytes:
		units = sizes
	default:
		return 0, false
	}
	if text == "never" || text == "unlimited" {
		return math.MaxUint64, true
	}
	var sum float64
	rest := strings.ToLower(strings.TrimSpace(text))
	for rest != "" {
		var part float64
		if part, rest, ok = amount(rest, units); !ok {
			return 0, false
		}
		sum += part
	}
	return uint64(sum), ok && sum < math.MaxInt64
}

// amount reads one number with its unit from the front of a text.
func amount(text string, units map[string]float64) (n float64, rest string, ok bool) {
	number := strings.IndexFunc(text, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if number <= 0 {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(text[:number], 64)
	rest = strings.TrimLeft(text[number:], " ")
	end := strings.IndexFunc(rest, func(c rune) bool { return c < 'a' || c > 'z' })
	if end < 0 {
		end = len(rest)
	}
	factor, known := units[rest[:end]]
	return n * factor, strings.TrimLeft(rest[end:], " "), err == nil && known
}

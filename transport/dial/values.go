package dial

import (
	"math"
	"strconv"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// value is how the value of an option is written, and where it goes.
type value struct {
	allowed string // completes: is not …
	set     func(d *draft, text string) (ok bool)
}

func boolean(field func(*draft) *bool) value {
	return value{"true or false", func(d *draft, text string) bool {
		*field(d) = text == "true"
		return text == "true" || text == "false"
	}}
}

func text(field func(*draft) *string) value {
	return value{"a text", func(d *draft, text string) bool {
		*field(d) = text
		return text != ""
	}}
}

func duration(field func(*draft) *time.Duration) value {
	return value{"a duration above 0 such as 5s, 500ms or 1m", func(d *draft, text string) bool {
		v, err := time.ParseDuration(text)
		*field(d) = v
		return err == nil && v > 0
	}}
}

func milliseconds(field func(*draft) *time.Duration) value {
	return value{"a number of milliseconds from 1 to 2147483647", func(d *draft, text string) bool {
		v, err := strconv.ParseUint(text, 10, 31)
		*field(d) = time.Duration(v) * time.Millisecond
		return err == nil && v > 0
	}}
}

// attempts is a number, or the word for any number.
func attempts(field func(*draft) *int) value {
	return value{"unlimited or a number from 0 to 2147483647", func(d *draft, text string) bool {
		if text == "unlimited" {
			*field(d) = Unlimited
			return true
		}
		v, err := strconv.ParseUint(text, 10, 31)
		*field(d) = int(v)
		return err == nil
	}}
}

// number is a whole number within bounds that its type has.
func number[T int | int64 | uint16 | uint64](least, most uint64, field func(*draft) *T) value {
	allowed := "a number from " + strconv.FormatUint(least, 10) + " to " + strconv.FormatUint(most, 10)
	return value{allowed, func(d *draft, text string) bool {
		v, err := strconv.ParseUint(text, 10, 64)
		*field(d) = T(v)
		return err == nil && least <= v && v <= most
	}}
}

// replyBytes is the length of the longest reply.
func replyBytes() value {
	return number(transport.HeaderBytes, math.MaxInt32, func(d *draft) *int { return &d.Limits.MaxReplyBytes })
}

// repeats is a number of which 0 is another value than in a Config that does not say it.
func repeats() value {
	v := number(0, math.MaxInt32, func(d *draft) *int { return &d.Retries })
	return value{v.allowed, func(d *draft, text string) bool {
		ok := v.set(d, text)
		if d.Retries == 0 {
			d.Retries = NoRetries
		}
		return ok
	}}
}

package transport

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Defaults of [Limits], which says what they mean. The length of a frame is that of the longest reply a server may
// give: a thousand records of a read, with their bodies.
const (
	DefaultMaxReplyBytes   = 64_156_564
	DefaultMaxRequestBytes = 64_156_564
	DefaultMaxInFlight     = 256
	DefaultIdleTimeout     = time.Minute
	DefaultFrameTimeout    = 30 * time.Second
)

// Limits bound what the other side of a link can ask for. A field that is 0 has its default.
type Limits struct {
	// MaxReplyBytes is the length of the longest frame that a client reads. A longer one ends the link with a
	// [*SizeError]. At least 256; too small a value makes polls fail that the server answers. The default is
	// 64,156,564, the longest reply there is.
	MaxReplyBytes int
	// MaxRequestBytes is the length of the longest frame that a client sends, else its call is refused, and that a
	// listener reads, else it ends the link. At least 256. The default is 64,156,564.
	MaxRequestBytes int
	// MaxInFlight is how many requests of a link wait for their reply at once. A server may close the link of a client
	// that has more under way than the server has room for. The default is 256, the room of the Iggy server.
	MaxInFlight int
	// IdleTimeout is how long a listener waits for the first byte, and for that of each further request, before it
	// closes the link. A client does not wait by it: a link may be silent while nothing is asked. The default is
	// 1 min.
	IdleTimeout time.Duration
	// FrameTimeout is how long a frame may take from its first byte to its last, in either direction, before the link
	// is closed. Too small a value cuts long frames on slow links. The default is 30 s.
	FrameTimeout time.Duration
}

// WithDefaults returns the limits with defaults in place of zeros, or an error that names every field out of its bounds.
func (l Limits) WithDefaults() (Limits, error) {
	orDefault(&l.MaxReplyBytes, DefaultMaxReplyBytes)
	orDefault(&l.MaxRequestBytes, DefaultMaxRequestBytes)
	orDefault(&l.MaxInFlight, DefaultMaxInFlight)
	orDefault(&l.IdleTimeout, DefaultIdleTimeout)
	orDefault(&l.FrameTimeout, DefaultFrameTimeout)
	return l, errors.Join(
		within("MaxReplyBytes", l.MaxReplyBytes, HeaderBytes, math.MaxInt32),
		within("MaxRequestBytes", l.MaxRequestBytes, HeaderBytes, math.MaxInt32),
		within("MaxInFlight", l.MaxInFlight, 1, math.MaxUint16),
		within("IdleTimeout", l.IdleTimeout, 1, math.MaxInt64),
		within("FrameTimeout", l.FrameTimeout, 1, math.MaxInt64),
	)
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func within[T int | time.Duration](name string, value, from, to T) error {
	if value < from || value > to {
		return fmt.Errorf("%s is %v, not within %v and %v", name, value, from, to)
	}
	return nil
}

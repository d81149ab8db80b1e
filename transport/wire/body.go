package wire

// Body is what a frame carries behind its header: the arguments of a command, or the payload of its reply. Each type
// lists its fields once, for both directions. Encoding a body changes nothing of it: several goroutines may do so at once.
type Body interface {
	// layout goes over the fields in their order on the wire.
	layout(c *coder)
}

// pointer is a pointer to T, which is a [Body]. It follows from T and need not be written down.
type pointer[T any] interface {
	*T
	Body
}

// Append appends the body to dst and returns the longer slice. An error is a [*FieldError], and dst is then returned as
// it was.
func Append(dst []byte, body Body) ([]byte, error) {
	c := coder{b: dst, at: len(dst), writing: true}
	body.layout(&c)
	if c.err != nil {
		return dst, c.err
	}
	return c.b, nil
}

// Decode reads a body of type T, which has to fill b: Decode[CreateTopic](b). The result shares no memory with b, but for
// fields that say so: batches of messages. An error is a [*FieldError].
//
// What it allocates is bounded by the length of b, whatever lengths b claims.
func Decode[T any, P pointer[T]](b []byte) (T, error) {
	var v, zero T
	c := coder{b: b}
	P(&v).layout(&c)
	c.end("end")
	if c.err != nil {
		return zero, c.err
	}
	return v, nil
}

// DecodeIfAny reads the reply to a command that asks for one thing, in which no bytes at all mean that there is none.
func DecodeIfAny[T any, P pointer[T]](b []byte) (v T, found bool, err error) {
	if len(b) == 0 {
		return v, false, nil
	}
	v, err = Decode[T, P](b)
	return v, err == nil, err
}

// Empty is the body without fields: the request of ping, get_stats and others, and the reply of what only succeeds.
type Empty struct{}

func (*Empty) layout(*coder) {}

package client

import (
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// producerIDs counts the producers of a session.
type producerIDs struct {
	session uint64
	given   uint64
}

// Limits of the numbers of producers: those of a session fit below its own number.
const (
	producerBits        = 20
	producersPerSession = 1 << producerBits
)

// NextProducerID returns a number for a producer, for the [wire.Producer] of [Client.Send], that no other one has: it is made of
// the session and a count, and stays good when the session is over. The error is [wire.CodeProducerIDsExhausted] when a session
// has had 1,048,576, [wire.CodeUnauthenticated] while there is no session, and over HTTP [wire.CodeFeatureUnavailable].
func (c *Client) NextProducerID() (uint64, error) {
	refused := &Error{Call: "producer.id", Addr: c.Addr()}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.producers
	switch {
	case c.sessionless:
		refused.Code = wire.CodeFeatureUnavailable
		return 0, refused
	case c.session == nil || c.session.number == 0:
		refused.Code = wire.CodeUnauthenticated
		return 0, refused
	case c.session.number != p.session:
		*p = producerIDs{session: c.session.number}
	}
	if p.given == producersPerSession {
		refused.Code = wire.CodeProducerIDsExhausted
		return 0, refused
	}
	p.given++
	return p.session<<producerBits | (p.given - 1), nil
}

// CallTimeout returns what [Timeout] has set.
func (c *Client) CallTimeout() time.Duration { return c.config.timeout }

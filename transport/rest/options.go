package rest

import (
	"crypto/tls"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// Defaults of the options, which say what they mean.
const (
	DefaultDialTimeout    = 2 * time.Second
	DefaultRetries        = 3
	DefaultMaxConnections = 1024
)

// DialOption sets how a [Dialer] works.
type DialOption interface{ applyDial(*dialConfig) }

// ListenOption sets how a [Listener] works.
type ListenOption interface{ applyListen(*listenConfig) }

// Option sets what both sides have.
type Option interface {
	DialOption
	ListenOption
}

type (
	dialOption   func(*dialConfig)
	listenOption func(*listenConfig)
	limits       transport.Limits
	clockOption  struct{ clock Clock }
)

func (o dialOption) applyDial(c *dialConfig)       { o(c) }
func (o listenOption) applyListen(c *listenConfig) { o(c) }
func (l limits) applyDial(c *dialConfig)           { c.limits = transport.Limits(l) }
func (l limits) applyListen(c *listenConfig)       { c.limits = transport.Limits(l) }
func (o clockOption) applyDial(c *dialConfig)      { c.clock = o.clock }
func (o clockOption) applyListen(c *listenConfig)  { c.clock = o.clock }

// dialConfig is what the options of a dialer set.
type dialConfig struct {
	limits  transport.Limits
	timeout time.Duration
	retries int
	tls     *transport.TLS
	clock   Clock
}

// listenConfig is what the options of a listener set.
type listenConfig struct {
	limits         transport.Limits
	maxConnections int
	tls            *tls.Config
	clock          Clock
}

// Clock tells the time and waits. It has the methods of the clock of a pipeline.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// Limits sets what frames and requests may take: the lengths are those of the frames that HTTP requests and replies stand
// for. A body may have twice as many bytes, as JSON is longer. The default is what zeros mean in [transport.Limits].
func Limits(l transport.Limits) Option { return limits(l) }

// WithClock sets the clock for all that is done by time, but for the limits of [Limits]. The default is that of the
// machine.
func WithClock(clock Clock) Option { return clockOption{clock} }

// DialTimeout bounds how long a connection takes, with the look-up of the name and the handshake of TLS. The default is
// 2 s. Too small a value, or none above 0, makes requests fail for ever.
func DialTimeout(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.timeout = d })
}

// Retries is how often a request is made again that surely was not carried out, or that changes nothing. The default is 3;
// 0 and less mean never. Pauses between them grow from 0.1 s on. A client above that repeats requests by itself needs few.
func Retries(n int) DialOption {
	return dialOption(func(c *dialConfig) { c.retries = n })
}

// TLS dials with TLS and verifies the server so. The default is no TLS.
func TLS(t transport.TLS) DialOption {
	return dialOption(func(c *dialConfig) { c.tls = &t })
}

// ServeTLS takes clients with TLS only. It needs a certificate: that of [transport.SelfSigned] will do for clients that
// do not verify, or have it as their root. The default is no TLS.
func ServeTLS(config *tls.Config) ListenOption {
	return listenOption(func(c *listenConfig) { c.tls = config })
}

// MaxConnections is how many connections there are at once. The default is 1024. Further ones wait until one is closed.
// Too large a value lets clients use up what the system has.
func MaxConnections(n int) ListenOption {
	return listenOption(func(c *listenConfig) { c.maxConnections = n })
}

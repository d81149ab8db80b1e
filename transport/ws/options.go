package ws

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// DefaultDialTimeout is the default of [DialTimeout].
const DefaultDialTimeout = 2 * time.Second

// DefaultMaxHandshakes is the default of [MaxHandshakes].
const DefaultMaxHandshakes = 1024

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
)

func (o dialOption) applyDial(c *dialConfig)       { o(c) }
func (o listenOption) applyListen(c *listenConfig) { o(c) }
func (l limits) applyDial(c *dialConfig)           { c.limits = transport.Limits(l) }
func (l limits) applyListen(c *listenConfig)       { c.limits = transport.Limits(l) }

// dialConfig is what the options of a dialer set.
type dialConfig struct {
	limits  transport.Limits
	timeout time.Duration
	tls     *transport.TLS
}

// listenConfig is what the options of a listener set.
type listenConfig struct {
	limits transport.Limits
	tls    *tls.Config
	wrap   func(net.Conn) net.Conn

	maxHandshakes int
}

// Limits sets what frames and requests may take. The default is what zeros mean in [transport.Limits]. The length of a
// WebSocket message has no limit beside those of frames.
func Limits(l transport.Limits) Option { return limits(l) }

// DialTimeout bounds a dial, with the look-up of the name, the handshake of TLS and the upgrade. The default is 2 s. The
// context of Dial bounds it too; too small a value, or none above 0, makes dials fail for ever.
func DialTimeout(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.timeout = d })
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

// Wrap puts something between the frames and each link that a listener takes, such as what spoils the bytes for a test. The
// default is nothing. Each of its writes to the link is a message; what it returns has to keep the promises of the link.
func Wrap(wrap func(net.Conn) net.Conn) ListenOption {
	return listenOption(func(c *listenConfig) { c.wrap = wrap })
}

// MaxHandshakes is how many connections may be on their way to a link at once. The default is 1024. Further ones are closed
// at once, until one of the others is a link, or has ended by [transport.Limits.IdleTimeout] or by itself.
func MaxHandshakes(n int) ListenOption {
	return listenOption(func(c *listenConfig) { c.maxHandshakes = n })
}

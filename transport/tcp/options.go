package tcp

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// DefaultDialTimeout is the default of [DialTimeout].
const DefaultDialTimeout = 2 * time.Second

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
	noDelay bool
	tls     *transport.TLS
}

// listenConfig is what the options of a listener set.
type listenConfig struct {
	limits transport.Limits
	tls    *tls.Config
	wrap   func(net.Conn) net.Conn
}

// Limits sets what frames and requests may take. The default is what zeros mean in [transport.Limits].
func Limits(l transport.Limits) Option { return limits(l) }

// DialTimeout bounds a dial, with the look-up of the name and the handshake of TLS. The default is 2 s. The context of
// Dial bounds it too; too small a value, or none above 0, makes dials fail for ever.
func DialTimeout(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.timeout = d })
}

// NoDelay sends short frames at once instead of gathering them for a moment while others are not confirmed, which
// costs packets and saves time. The default is false, as in other clients of Iggy.
func NoDelay(on bool) DialOption {
	return dialOption(func(c *dialConfig) { c.noDelay = on })
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

// Wrap puts something between the frames and each connection that a listener takes, with TLS below it, such as what spoils
// the bytes for a test. The default is nothing. What it returns has to keep the promises of the connection.
func Wrap(wrap func(net.Conn) net.Conn) ListenOption {
	return listenOption(func(c *listenConfig) { c.wrap = wrap })
}

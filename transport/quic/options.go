package quic

import (
	"crypto/tls"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// Defaults of the options, which say what they mean.
const (
	DefaultDialTimeout        = 2 * time.Second
	DefaultKeepAlive          = 5 * time.Second
	DefaultMaxSilence         = 10 * time.Second
	DefaultInitialMTU         = 1200
	DefaultReceiveWindowBytes = 100_000
)

// How a listener keeps links alive, as the Iggy server does.
const (
	serverKeepAlive  = 10 * time.Second
	serverMaxSilence = 30 * time.Second
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
)

func (o dialOption) applyDial(c *dialConfig)       { o(c) }
func (o listenOption) applyListen(c *listenConfig) { o(c) }
func (l limits) applyDial(c *dialConfig)           { c.limits = transport.Limits(l) }
func (l limits) applyListen(c *listenConfig)       { c.limits = transport.Limits(l) }

// dialConfig is what the options of a dialer set.
type dialConfig struct {
	limits     transport.Limits
	timeout    time.Duration
	tls        transport.TLS
	keepAlive  time.Duration
	maxSilence time.Duration
	mtu        uint16
	window     uint64
}

func defaultDialConfig() dialConfig {
	return dialConfig{
		timeout:    DefaultDialTimeout,
		tls:        transport.TLS{SkipVerify: true},
		keepAlive:  DefaultKeepAlive,
		maxSilence: DefaultMaxSilence,
		mtu:        DefaultInitialMTU,
		window:     DefaultReceiveWindowBytes,
	}
}

// quic returns the settings of the protocol. A server opens no streams.
func (c *dialConfig) quic() *quic.Config {
	return &quic.Config{
		KeepAlivePeriod:                c.keepAlive,
		MaxIdleTimeout:                 c.maxSilence,
		InitialPacketSize:              c.mtu,
		InitialStreamReceiveWindow:     c.window,
		InitialConnectionReceiveWindow: c.window,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          -1,
	}
}

// listenConfig is what the options of a listener set.
type listenConfig struct {
	limits transport.Limits
	tls    *tls.Config
}

// quic returns the settings of the protocol: as many streams as a client has requests under way. A handshake has the 5 s of
// the library, so that a client which was told that it is done is one that Accept returns.
func (c *listenConfig) quic() *quic.Config {
	return &quic.Config{
		KeepAlivePeriod:       serverKeepAlive,
		MaxIdleTimeout:        serverMaxSilence,
		MaxIncomingStreams:    int64(c.limits.MaxInFlight),
		MaxIncomingUniStreams: -1,
	}
}

// Limits sets what frames and requests may take. The default is what zeros mean in [transport.Limits]. A listener lets
// each client open MaxInFlight streams at once; further requests wait in the client.
func Limits(l transport.Limits) Option { return limits(l) }

// DialTimeout bounds a dial, with the look-up of the name and the handshake. The default is 2 s. The context of Dial
// bounds it too; too small a value, or none above 0, makes dials fail for ever.
func DialTimeout(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.timeout = d })
}

// TLS verifies the server so. The default is to take any certificate, as Iggy servers make their own: whoever can get
// between client and server then reads and changes all there is.
func TLS(t transport.TLS) DialOption {
	return dialOption(func(c *dialConfig) { c.tls = t })
}

// KeepAlive sends a packet so often if there is nothing else to send, so that the link is not given up as silent. It is
// at most half of [MaxSilence], and 0 sends none. The default is 5 s.
func KeepAlive(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.keepAlive = d })
}

// MaxSilence ends the link when no packet has come for so long, or for as long as the server allows if that is less.
// The default is 10 s; 0 means 30 s.
func MaxSilence(d time.Duration) DialOption {
	return dialOption(func(c *dialConfig) { c.maxSilence = d })
}

// InitialMTU is the length of the first packets in bytes; longer ones are tried later. The default is 1200, the least
// there is and what every way takes. A larger value saves packets, and fails where the way takes no such packets.
func InitialMTU(bytes uint16) DialOption {
	return dialOption(func(c *dialConfig) { c.mtu = bytes })
}

// ReceiveWindowBytes is how much a server may send of a reply before the client has read it, at first; it grows while
// the client keeps up. The default is 100,000. Small values slow down long replies over long ways.
func ReceiveWindowBytes(bytes uint64) DialOption {
	return dialOption(func(c *dialConfig) { c.window = bytes })
}

// ServeTLS sets the certificate of a listener; the protocols of the configuration are not used. The default is a
// certificate that the listener makes for itself with [transport.SelfSigned].
func ServeTLS(config *tls.Config) ListenOption {
	return listenOption(func(c *listenConfig) { c.tls = config })
}

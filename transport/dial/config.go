package dial

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/quic"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/tcp"
	"github.com/runnel-go/runnel/transport/ws"
)

// Protocol is what carries the frames.
type Protocol string

// Protocols, as schemes name them behind iggy+.
const (
	TCP       Protocol = "tcp"
	QUIC      Protocol = "quic"
	WebSocket Protocol = "ws"
	HTTP      Protocol = "http"
)

// Unlimited stands for any number of attempts.
const Unlimited = -1

// NoRetries is what Config.Retries is if no request over HTTP is to be made again.
const NoRetries = -1

// Config is what a connection string says. [Parse] fills in every default; a Config may also be written down, and zeros
// in it are the defaults of the transport then. Neither its String nor any other way to print it holds the credentials.
type Config struct {
	// Protocol is what carries the frames.
	Protocol Protocol
	// Host is a name or an address; one of IPv6 has no brackets here.
	Host string
	// Port is from 1 to 65535.
	Port uint16
	// Credentials are for the login, which a dialer does not do.
	Credentials Credentials
	// Heartbeat is the pause between the signs of life of a client.
	Heartbeat time.Duration
	// Reconnect says how a client connects again. HTTP has no use for it.
	Reconnect Reconnect
	// Pending bounds the writes that a client keeps for retry. HTTP has no use for it.
	Pending Pending
	// Retries is that of [rest.Retries]; 0 means its default, and less than 0 that no request over HTTP is made again.
	Retries int
	// TLS is how the server is verified; nil means no TLS. QUIC has no nil: it takes any certificate then. No string asks
	// for it over HTTP.
	TLS *transport.TLS
	// NoDelay is that of [tcp.NoDelay].
	NoDelay bool
	// QUIC is for that protocol only.
	QUIC QUICConfig
	// Limits are those of the link.
	Limits transport.Limits
}

// Reconnect says how a client connects again when a link is lost.
type Reconnect struct {
	// Retries is how many attempts there are in a row, or [Unlimited].
	Retries int
	// Interval is the pause before the first one; pauses grow.
	Interval time.Duration
	// ReestablishAfter is how long a link has to live so that the pauses start over.
	ReestablishAfter time.Duration
}

// Pending bounds the writes that a client keeps for retry.
type Pending struct {
	// Operations is how many there are at once.
	Operations int
	// Bytes is their length together.
	Bytes int64
}

// QUICConfig holds what only QUIC has. Zeros are the defaults of package quic.
type QUICConfig struct {
	// KeepAlive is that of [quic.KeepAlive].
	KeepAlive time.Duration
	// MaxSilence is that of [quic.MaxSilence].
	MaxSilence time.Duration
	// InitialMTU is that of [quic.InitialMTU].
	InitialMTU uint16
	// ReceiveWindowBytes is that of [quic.ReceiveWindowBytes].
	ReceiveWindowBytes uint64
}

// ErrUnknownProtocol is the cause of an error of [Config.Dialer] for a protocol that there is none of.
var ErrUnknownProtocol = errors.New("protocol is none of tcp, quic, ws and http")

// Addr is the host and the port, as dialers want it.
func (c Config) Addr() string { return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) }

// Dialer returns a dialer for the links of a client. Those over HTTP have no sessions: see [transport.Sessionless].
func (c Config) Dialer() (transport.Dialer, error) {
	switch c.Protocol {
	case TCP:
		options := []tcp.DialOption{tcp.Limits(c.Limits), tcp.NoDelay(c.NoDelay)}
		if c.TLS != nil {
			options = append(options, tcp.TLS(*c.TLS))
		}
		return tcp.NewDialer(c.Addr(), options...), nil
	case WebSocket:
		options := []ws.DialOption{ws.Limits(c.Limits)}
		if c.TLS != nil {
			options = append(options, ws.TLS(*c.TLS))
		}
		return ws.NewDialer(c.Addr(), options...), nil
	case QUIC:
		return quic.NewDialer(c.Addr(), c.quicOptions()...), nil
	case HTTP:
		options := []rest.DialOption{rest.Limits(c.Limits)}
		if c.Retries != 0 {
			options = append(options, rest.Retries(c.Retries))
		}
		if c.TLS != nil {
			options = append(options, rest.TLS(*c.TLS))
		}
		return rest.NewDialer(c.Addr(), options...), nil
	default:
		return nil, fmt.Errorf("iggy: dial %v: %w", c, ErrUnknownProtocol)
	}
}

func (c Config) quicOptions() []quic.DialOption {
	options := []quic.DialOption{quic.Limits(c.Limits)}
	if c.TLS != nil {
		options = append(options, quic.TLS(*c.TLS))
	}
	if c.QUIC.KeepAlive > 0 {
		options = append(options, quic.KeepAlive(c.QUIC.KeepAlive))
	}
	if c.QUIC.MaxSilence > 0 {
		options = append(options, quic.MaxSilence(c.QUIC.MaxSilence))
	}
	if c.QUIC.InitialMTU > 0 {
		options = append(options, quic.InitialMTU(c.QUIC.InitialMTU))
	}
	if c.QUIC.ReceiveWindowBytes > 0 {
		options = append(options, quic.ReceiveWindowBytes(c.QUIC.ReceiveWindowBytes))
	}
	return options
}

// String is the scheme and the address, without credentials and options.
func (c Config) String() string {
	return fmt.Sprintf("iggy+%s://%s@%s", c.Protocol, redacted, c.Addr())
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

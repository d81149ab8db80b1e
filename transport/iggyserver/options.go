package iggyserver

import (
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/disk"
)

// Defaults of the options, which say what they mean.
const (
	DefaultUsername       = "iggy"
	DefaultPassword       = "iggy"
	DefaultMaxConnections = 1024
	DefaultHeartbeat      = 30 * time.Second
	DefaultRejoinGrace    = 3 * time.Second
	DefaultPasswordRounds = 210_000
)

// anyPort is where a server listens that is not told where.
const anyPort = "127.0.0.1:0"

// Option sets how a server works.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options set.
type config struct {
	at             []place
	username       string
	password       string
	allowRemote    bool
	certificate    *tls.Certificate
	tls            bool
	limits         transport.Limits
	maxConnections int
	heartbeat      time.Duration
	rejoinGrace    time.Duration
	rounds         int
	logger         *slog.Logger
	clock          Clock
	handle         handler
	data           string
	fsync          disk.Fsync
	badFsync       bool
}

// place is where to listen, and how.
type place struct {
	protocol dial.Protocol
	addr     string
}

func newConfig(options []Option) config {
	c := config{
		username:       DefaultUsername,
		password:       DefaultPassword,
		maxConnections: DefaultMaxConnections,
		heartbeat:      DefaultHeartbeat,
		rejoinGrace:    DefaultRejoinGrace,
		rounds:         DefaultPasswordRounds,
		logger:         slog.New(slog.DiscardHandler),
		handle:         handle,
	}
	for _, o := range options {
		o.apply(&c)
	}
	if len(c.at) == 0 {
		c.at = []place{{dial.TCP, anyPort}, {dial.QUIC, anyPort}, {dial.WebSocket, anyPort}, {dial.HTTP, anyPort}}
	}
	return c
}

// broker returns what the broker is to be like, but for its store.
func (c *config) broker() broker.Config {
	b := broker.Config{
		Username:       c.username,
		Password:       c.password,
		PasswordRounds: c.rounds,
		Heartbeat:      c.heartbeat,
		RejoinGrace:    c.rejoinGrace,
		Limits:         broker.Limits{InFlight: c.limits.MaxInFlight},
	}
	if c.clock != nil {
		b.Clock = c.clock
	}
	return b
}

// TCP listens at an address such as 127.0.0.1:8090; port 0 lets the system choose one. The default, without this option,
// [QUIC], [WebSocket] and [HTTP], is 127.0.0.1:0 for each of them; with any of them, the server listens where it is told only.
func TCP(addr string) Option { return listenAt(dial.TCP, addr) }

// QUIC listens at an address such as 127.0.0.1:8080, of UDP. [TCP] says what is so for all addresses.
func QUIC(addr string) Option { return listenAt(dial.QUIC, addr) }

// WebSocket listens at an address such as 127.0.0.1:8092. [TCP] says what is so for all addresses.
func WebSocket(addr string) Option { return listenAt(dial.WebSocket, addr) }

// HTTP listens at an address such as 127.0.0.1:3000. [TCP] says what is so for all addresses.
func HTTP(addr string) Option { return listenAt(dial.HTTP, addr) }

// listenAt adds a place, or changes it if there is one for the protocol.
func listenAt(protocol dial.Protocol, addr string) Option {
	return option(func(c *config) {
		for i := range c.at {
			if c.at[i].protocol == protocol {
				c.at[i].addr = addr
				return
			}
		}
		c.at = append(c.at, place{protocol, addr})
	})
}

// AllowRemote takes addresses that other machines can reach, such as 0.0.0.0:8090 or :8090. The default is to refuse them,
// so that nobody is served by accident. The password has to be another one than the default then. Passwords and messages
// can be read on their way without [ServeTLS].
func AllowRemote() Option { return option(func(c *config) { c.allowRemote = true }) }

// Username sets the name of the root user, who may do everything. The default is iggy. As in [Password], it has no @, : or
// ?, which connection strings have no way to write.
func Username(name string) Option { return option(func(c *config) { c.username = name }) }

// Password sets the password of the root user. The default is iggy, which is refused with [AllowRemote].
func Password(password string) Option { return option(func(c *config) { c.password = password }) }

// Certificate sets what the server shows to clients over QUIC, and with [ServeTLS] over TCP, WebSocket and HTTP. The default is
// one that the server makes for localhost, 127.0.0.1 and ::1, which no client can verify.
func Certificate(certificate tls.Certificate) Option {
	return option(func(c *config) { c.certificate = &certificate })
}

// ServeTLS takes clients over TCP, WebSocket and HTTP with TLS only. The default is no TLS. QUIC always has it. A client
// over TCP verifies the server: it needs the [Certificate], or what signed it, as a root. Connection strings of HTTP have no
// way to ask for TLS: dial.Config has.
func ServeTLS() Option { return option(func(c *config) { c.tls = true }) }

// Limits sets how long requests may be, how many a connection may have at work, and how long a client may be silent. The
// default is what zeros mean in [transport.Limits]. Further requests wait.
//
// The memory that a client can take is bounded by them: requests at work are no longer than MaxRequestBytes together, one
// more may be read meanwhile (over QUIC as many as MaxInFlight), and replies that it does not read hold some 32 MiB.
func Limits(l transport.Limits) Option { return option(func(c *config) { c.limits = l }) }

// MaxConnections is how many connections there are at once for each protocol. The default is 1024. Further ones are closed
// at once. Too large a value lets clients use up what the system has.
func MaxConnections(n int) Option { return option(func(c *config) { c.maxConnections = n }) }

// Heartbeat is how often a member of a consumer group has to say something. The default is 30 s. One that is silent for 1.2
// times as long loses its connection, and others get its partitions; too small a value does that to the living.
func Heartbeat(d time.Duration) Option { return option(func(c *config) { c.heartbeat = d }) }

// RejoinGrace is how long a member of a consumer group keeps its partitions without a connection, so that one that comes back
// finds them. The default is 3 s. A shorter time hands those of a member that was killed to others sooner.
func RejoinGrace(d time.Duration) Option { return option(func(c *config) { c.rejoinGrace = d }) }

// PasswordRounds is how often a password is hashed. The default is 210,000, which takes some 50 ms at each login. Tests
// with many logins may do with 1; where others can get hold of the hashes, that makes guessing cheap.
func PasswordRounds(n int) Option { return option(func(c *config) { c.rounds = n }) }

// Logger gets a line for each connection that is closed for a fault, and for faults of the server. The default is none. It
// is told no password, token or message.
func Logger(logger *slog.Logger) Option { return option(func(c *config) { c.logger = logger }) }

// Clock tells the time and waits. It has the methods of the clock of a pipeline.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// WithClock sets the clock for all that the server does by time, but for the limits of [Limits]. The default is that of
// the machine.
func WithClock(clock Clock) Option { return option(func(c *config) { c.clock = clock }) }

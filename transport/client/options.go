package client

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Defaults of the options, which say what they mean.
const (
	DefaultHeartbeat         = 5 * time.Second
	DefaultTimeout           = 30 * time.Second
	DefaultRetries           = Unlimited
	DefaultReconnectInterval = time.Second
	DefaultReestablishAfter  = 5 * time.Second
	DefaultPendingOperations = 256
	DefaultPendingBytes      = 64 << 20
)

// Unlimited stands for any number of attempts.
const Unlimited = -1

// sdkName and sdkVersion are what servers are told.
const (
	sdkName    = "runnel-go"
	sdkVersion = "0.1.0"
)

// Option sets how a [Client] works.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what options set.
type config struct {
	credentials      *credentials
	version          wire.Version
	heartbeat        time.Duration
	timeout          time.Duration
	retries          int
	interval         time.Duration
	reestablishAfter time.Duration
	pendingOps       int
	pendingBytes     int64
	nodes            func(addr string) (transport.Dialer, error)
	logger           *slog.Logger
	sealer           *wire.Sealer // nil without encryption
	jitter           func(limit time.Duration) time.Duration
	faults           []error
}

func newConfig(options []Option) (config, error) {
	c := config{
		version:          wire.Version0120,
		heartbeat:        DefaultHeartbeat,
		timeout:          DefaultTimeout,
		retries:          DefaultRetries,
		interval:         DefaultReconnectInterval,
		reestablishAfter: DefaultReestablishAfter,
		pendingOps:       DefaultPendingOperations,
		pendingBytes:     DefaultPendingBytes,
		logger:           slog.New(slog.DiscardHandler),
		jitter:           fullJitter,
	}
	for i, o := range options {
		if c.want(o != nil, "option %d is nil", i); o != nil {
			o.apply(&c)
		}
	}
	return c, errors.Join(c.faults...)
}

// want notes a fault unless ok.
func (c *config) want(ok bool, format string, args ...any) {
	if !ok {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

// fullJitter returns a time between 0 and limit, so that many clients do not come back at once.
func fullJitter(limit time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(limit) + 1))
}

// Password makes [Client.Connect] log in with the name of a user and a password. The default is not to log in. Over HTTP it
// Connect logs nobody in; [Client.SignIn] does with these, too. Credentials that a server has refused are forgotten.
func Password(username, password string) Option {
	return option(func(c *config) { c.credentials = &credentials{username: username, password: password} })
}

// Token is [Password] with a personal access token.
func Token(token string) Option {
	return option(func(c *config) { c.credentials = &credentials{token: token} })
}

// Version sets the version of the protocol that is announced at first, one of 0.12. If the server wants another one of
// 0.12, that is announced then. The default is 0.12.0.
func Version(v wire.Version) Option {
	return option(func(c *config) {
		c.want(v.Major() == 0 && v.Minor() == 12, "Version is %v, not one of 0.12", v)
		c.version = v
	})
}

// Heartbeat sets the pause between two pings, and how long the answer may take before the link is closed. The default is
// 5 s. A long one finds a dead link late, and a server may take the partitions of a silent member of a group after 36 s.
func Heartbeat(d time.Duration) Option {
	return option(func(c *config) {
		c.want(d > 0, "Heartbeat is %v, not above 0", d)
		c.heartbeat = d
	})
}

// Timeout bounds a call with everything in it: waits, attempts and pauses. The default is 30 s. A poll or a fetch has its
// wait and 10 s instead. The context of a call bounds it too.
func Timeout(d time.Duration) Option {
	return option(func(c *config) {
		c.want(d > 0, "Timeout is %v, not above 0", d)
		c.timeout = d
	})
}

// Reconnect sets how often a lost link is dialled again in a row, [Unlimited] or 0 for never, the pause before the first
// attempt, which doubles up to 10 s and of which a random part is waited, and how long a link has to live so that the counting
// starts over. The defaults are [Unlimited], 1 s and 5 s.
func Reconnect(retries int, interval, reestablishAfter time.Duration) Option {
	return option(func(c *config) {
		c.want(retries >= Unlimited, "Reconnect has %d retries, not Unlimited or more", retries)
		c.want(interval > 0, "Reconnect has an interval of %v, not above 0", interval)
		c.want(reestablishAfter >= 0, "Reconnect has %v to be established after, not 0 or more", reestablishAfter)
		c.retries, c.interval, c.reestablishAfter = retries, interval, reestablishAfter
	})
}

// Pending bounds the writes that are under way or whose outcome is uncertain: their number, and the bytes of their frames.
// Further ones wait, and get [wire.CodeTransientNotAccepted] in the end. The defaults are 256 and 64 MiB.
func Pending(operations int, bytes int64) Option {
	return option(func(c *config) {
		c.want(operations > 0, "Pending has %d operations, not above 0", operations)
		c.want(bytes > 0, "Pending has %d bytes, not above 0", bytes)
		c.pendingOps, c.pendingBytes = operations, bytes
	})
}

// Nodes says how other nodes of a cluster are dialled, by host and port, so that a client finds one that lives. The
// default is to dial the configured address only.
func Nodes(dialer func(addr string) (transport.Dialer, error)) Option {
	return option(func(c *config) { c.nodes = dialer })
}

// Logger sets where links that come and go are logged. The default is nowhere.
func Logger(l *slog.Logger) Option {
	return option(func(c *config) {
		c.want(l != nil, "Logger is nil")
		c.logger = l
	})
}

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Client is a client of one server, or of the servers of a cluster. It is safe for concurrent use, and prints as its
// address.
type Client struct {
	config      config
	dialer      transport.Dialer
	sessionless bool // no sessions, no lanes, no repeats: HTTP

	requests  atomic.Uint64 // number of the last request; it never goes back
	watermark atomic.Uint64 // highest position in the log of the metadata that a reply told of
	lanes     lanes
	pending   *pending
	retained  retained
	routes    routes
	groups    groups
	events    events
	frames    sync.Pool     // of *[]byte
	waits     chan struct{} // holds one for each read that the server may hold
	signing   chan struct{} // holds one while a session begins, is bound or ends
	tasks     sync.WaitGroup

	mu          sync.Mutex // comes before all other locks
	state       State
	changed     chan struct{} // closed at the next change
	link        *link         // what calls use; nil while there is none
	session     *session      // nil if there is none; without a number while the outcome of a login is not known
	lineage     uint64        // how often the caller has logged in or out
	credentials *credentials  // nil if there are none, or they were refused
	refused     error         // why credentials were forgotten
	trouble     error         // why the last attempt to get a link failed; nil while there is one
	run         *run          // from Connect to Disconnect
	down        error         // why there is no run
	versions    map[string]wire.Version
	roster      []wire.ClusterNode
	producers   producerIDs
	nodes       map[uint8]*link // links to other nodes of a cluster, by replica
}

// New returns a client that dials with dialer once [Client.Connect] is called. The error names all options that are wrong.
func New(dialer transport.Dialer, options ...Option) (*Client, error) {
	config, err := newConfig(options)
	if dialer == nil {
		err = errors.Join(errors.New("the dialer is nil"), err)
	}
	if err != nil {
		return nil, &Error{Code: wire.CodeInvalidConfiguration, Call: "new", Err: err}
	}
	c := &Client{
		config:      config,
		dialer:      dialer,
		sessionless: transport.IsSessionless(dialer),
		pending:     newPending(config.pendingOps, config.pendingBytes),
		signing:     make(chan struct{}, 1),
		waits:       make(chan struct{}, maxWaits),
		changed:     make(chan struct{}),
		credentials: config.credentials,
		versions:    map[string]wire.Version{},
	}
	if c.sessionless {
		c.credentials = nil // the login is explicit over HTTP
	}
	c.lanes.init()
	c.routes.init()
	return c, nil
}

// Addr is the address that was configured, with its transport.
func (c *Client) Addr() string { return c.dialer.Addr() }

// Sessionless says whether the transport has no sessions, as HTTP: groups and idempotent sends need them.
func (c *Client) Sessionless() bool { return c.sessionless }

// Encrypts says whether the client has a key, see [Encrypt].
func (c *Client) Encrypts() bool { return c.config.sealer != nil }

// String names the client by its address.
func (c *Client) String() string { return "iggy client of " + c.Addr() }

// Format prints String for every verb: a client holds credentials.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue is String.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Ping asks the server for a sign of life. It needs a link, but no login.
func (c *Client) Ping(ctx context.Context) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	l, err := c.anyLink(ctx)
	if err != nil {
		return err
	}
	return c.ping(ctx, l)
}

// bounded is a context with the time of a call.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.config.timeout, ErrDeadline)
}

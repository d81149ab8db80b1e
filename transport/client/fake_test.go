package client_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// answer is what a fake server does about a request in place of what it would do.
type answer func(c *fakeConn, r *asked) (transport.Frame, error)

// asked is a request that a fake server has seen.
type asked struct {
	command wire.Command
	header  wire.RequestHeader
	body    []byte
	frame   transport.Frame
	link    int    // the number of its link, from 1
	addr    string // the address that was dialled
}

// fake is a server in memory, and the dialer of its links.
type fake struct {
	mu       sync.Mutex
	script   map[wire.Command][]answer // what is done about the next requests; guarded by mu
	seen     []*asked                  // guarded by mu
	conns    []*fakeConn               // guarded by mu
	sessions map[wire.Uint128]uint64   // guarded by mu
	done     map[uint64]bool           // writes that were carried out; guarded by mu
	effects  int                       // how many that were; guarded by mu
	commits  uint64                    // guarded by mu
	down     bool                      // dials fail; guarded by mu
	dials    int                       // guarded by mu
	view     uint32                    // of routes; guarded by mu
	life     uint64                    // incarnation of partitions; guarded by mu
	version  wire.Version              // told at logins; guarded by mu
	primary  uint8                     // of routes; guarded by mu
	roster   []wire.ClusterNode        // guarded by mu

	kept []keptFrame // of requests that ended with an error; guarded by mu

	sessionless bool
}

// keptFrame is a frame that may be on its way still, and as it was.
type keptFrame struct{ frame, was transport.Frame }

// checkFrames holds that no frame was changed behind an error.
func (f *fake) checkFrames(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kept {
		require.Equal(t, k.was, k.frame)
	}
}

func newFake() *fake {
	return &fake{
		script: map[wire.Command][]answer{}, sessions: map[wire.Uint128]uint64{}, done: map[uint64]bool{}, life: 7,
		version: wire.Version0120, roster: []wire.ClusterNode{{Name: "node", Host: "elsewhere", TCP: 1}},
	}
}

func (f *fake) Addr() string { return "fake://server" }

func (f *fake) Sessionless() bool { return f.sessionless }

func (f *fake) Dial(context.Context) (transport.Conn, error) { return f.dial(f.Addr()) }

// node is one node of a cluster, which all share what they know.
type node struct {
	*fake
	addr string
}

func (n *node) Addr() string                                 { return n.addr }
func (n *node) Dial(context.Context) (transport.Conn, error) { return n.dial(n.addr) }

var errDown = errors.New("refused")

func (f *fake) dial(addr string) (transport.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dials++
	if f.down {
		return nil, &transport.Error{Op: "dial", Addr: f.Addr(), Err: errDown}
	}
	c := &fakeConn{fake: f, addr: addr, id: len(f.conns) + 1, done: make(chan struct{})}
	f.conns = append(f.conns, c)
	return c, nil
}

// next says what is done about the next requests of a command.
func (f *fake) next(command wire.Command, answers ...answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script[command] = append(f.script[command], answers...)
}

// set changes the server.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// cut ends all links.
func (f *fake) cut() {
	f.mu.Lock()
	conns := slices.Clone(f.conns)
	f.mu.Unlock()
	for _, c := range conns {
		c.end(transport.ErrLost)
	}
}

// forget ends all sessions.
func (f *fake) forget() { f.set(func() { clear(f.sessions) }) }

// of returns the requests of some commands, in order.
func (f *fake) of(commands ...wire.Command) []*asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*asked
	for _, r := range f.seen {
		if slices.Contains(commands, r.command) {
			found = append(found, r)
		}
	}
	return found
}

// order returns the commands of all requests but pings.
func (f *fake) order() []wire.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []wire.Command
	for _, r := range f.seen {
		if r.command != wire.CmdPing {
			all = append(all, r.command)
		}
	}
	return all
}

func (f *fake) happened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.effects
}

// fakeConn is a link to a fake server.
type fakeConn struct {
	fake *fake
	addr string
	id   int

	mu   sync.Mutex
	err  error         // guarded by mu
	done chan struct{} // closed with err set
}

func (c *fakeConn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

func (c *fakeConn) Close() error          { c.end(transport.ErrClosed); return nil }
func (c *fakeConn) Done() <-chan struct{} { return c.done }
func (c *fakeConn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *fakeConn) fail(unsent bool, err error) error {
	return &transport.Error{Op: "request", Addr: "fake://server", Unsent: unsent, Err: err}
}

func (c *fakeConn) Do(ctx context.Context, frame transport.Frame) (transport.Frame, error) {
	reply, err := c.do(ctx, frame)
	if err != nil {
		c.fake.set(func() { c.fake.kept = append(c.fake.kept, keptFrame{frame, slices.Clone(frame)}) })
	}
	return reply, err
}

func (c *fakeConn) do(ctx context.Context, frame transport.Frame) (transport.Frame, error) {
	if err := c.Err(); err != nil {
		return nil, c.fail(true, err)
	}
	if ctx.Err() != nil {
		return nil, c.fail(true, context.Cause(ctx))
	}
	r, do := c.fake.take(c, frame)
	reply, err := do(c, r)
	switch {
	case errors.Is(err, errSilent):
		select {
		case <-ctx.Done():
			return nil, c.fail(false, context.Cause(ctx))
		case <-c.done:
			return nil, c.fail(false, c.Err())
		}
	case err != nil:
		return nil, err
	}
	return reply, nil
}

func (c *fakeConn) Post(_ context.Context, frame transport.Frame) error {
	if err := c.Err(); err != nil {
		return c.fail(true, err)
	}
	r, do := c.fake.take(c, frame)
	_, _ = do(c, r)
	return nil
}

// take notes a request and returns what to do about it.
func (f *fake) take(c *fakeConn, frame transport.Frame) (*asked, answer) {
	frame = slices.Clone(frame)
	h, body, err := wire.DecodeRequest(frame)
	if err != nil {
		panic(err)
	}
	r := &asked{command: h.Carries(), header: h, body: body, frame: frame, link: c.id, addr: c.addr}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r)
	if script := f.script[r.command]; len(script) > 0 {
		f.script[r.command] = script[1:]
		return r, script[0]
	}
	return r, usual
}

var errSilent = errors.New("no answer")

// usual is what a server does.
func usual(c *fakeConn, r *asked) (transport.Frame, error) {
	f := c.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	h := wire.NewReply(&r.header)
	switch {
	case r.command == wire.CmdLoginRegister:
		if f.sessions[r.header.Client] == 0 {
			f.commits++
			f.sessions[r.header.Client] = f.commits
		}
		h.Op, h.Commit, h.Committed = f.commits, f.commits, true
		return f.reply(h, f.registered(r.header.Client))
	case r.command == wire.CmdBindSession:
		if f.sessions[r.header.Client] == 0 {
			h.Status = wire.CodeUnauthenticated
			return f.reply(h, nil)
		}
		return f.reply(h, f.registered(r.header.Client))
	case r.command == wire.CmdPing:
		return f.reply(h, nil)
	case !f.sessionless && (f.sessions[r.header.Client] != r.header.Session || r.header.Session == 0):
		h.Status = wire.CodeUnauthenticated
		return f.reply(h, nil)
	case r.header.Operation == wire.OpNonReplicated:
		return f.read(h, r)
	}
	if r.command == wire.CmdLogout {
		delete(f.sessions, r.header.Client)
	}
	return f.write(h, r)
}

func (f *fake) registered(client wire.Uint128) wire.Body {
	return &wire.Registered{UserID: 1, Session: f.sessions[client], Version: f.version, ServerVersion: "fake"}
}

func (f *fake) reply(h wire.ReplyHeader, body wire.Body) (transport.Frame, error) {
	return wire.AppendReply(nil, h, body)
}

// read answers a read, under mu.
func (f *fake) read(h wire.ReplyHeader, r *asked) (transport.Frame, error) {
	context := wire.PartitionContext{Incarnation: f.life, MetadataOp: f.commits}
	if !f.sessionless && fenced(r) && r.header.Context.Incarnation != f.life {
		h.Status = wire.CodeHistoryUnavailable
		return f.reply(h, nil)
	}
	switch r.command {
	case wire.CmdGetClusterMetadata:
		return f.reply(h, &wire.ClusterMetadata{Nodes: f.roster})
	case wire.CmdGetPartitionRoute:
		return f.reply(h, &wire.PartitionRoute{
			Incarnation: f.life, MetadataOp: f.commits, View: f.view, PartitionsCount: 2, Primary: f.primary,
		})
	case wire.CmdPollMessagesDeferred:
		return f.reply(h, &wire.PolledMessages{Context: context})
	case wire.CmdFetchMessages:
		return f.reply(h, &wire.FetchedMessages{})
	}
	return f.reply(h, nil)
}

// fenced says whether a request names a life of a partition.
func fenced(r *asked) bool {
	switch r.command {
	case wire.CmdPollMessagesDeferred, wire.CmdGetConsumerOffset, wire.CmdSendMessages, wire.CmdStoreConsumerOffset,
		wire.CmdDeleteConsumerOffset:
		return true
	}
	return false
}

// write carries out a write once, under mu, and knows a repeat.
func (f *fake) write(h wire.ReplyHeader, r *asked) (transport.Frame, error) {
	if !f.done[r.header.Request] {
		if !f.sessionless && fenced(r) && r.header.Context.Incarnation != f.life {
			h.Status = wire.CodeHistoryUnavailable
			return f.reply(h, nil)
		}
		f.done[r.header.Request] = true
		f.effects++
		f.commits++
	}
	h.Op, h.Commit, h.Committed = f.commits, f.commits, true
	switch r.command {
	case wire.CmdSendMessages:
		return f.reply(h, &wire.SentMessages{Confirmations: []wire.Confirmation{{BaseOffset: r.header.Request}}})
	case wire.CmdCreateStream:
		return f.reply(h, &wire.StreamDetails{Stream: wire.Stream{Name: "made"}})
	}
	return f.reply(h, nil)
}

// refuse answers with a status and does nothing else.
func refuse(code wire.Code) answer {
	return func(_ *fakeConn, r *asked) (transport.Frame, error) {
		h := wire.NewReply(&r.header)
		h.Status = code
		return wire.AppendReply(nil, h, nil)
	}
}

// lost carries the request out, and the link ends before the reply.
func lost(c *fakeConn, r *asked) (transport.Frame, error) {
	_, _ = usual(c, r)
	c.end(transport.ErrLost)
	return nil, c.fail(false, transport.ErrLost)
}

// ignored does nothing about the request, and the link ends.
func ignored(c *fakeConn, _ *asked) (transport.Frame, error) {
	c.end(transport.ErrLost)
	return nil, c.fail(false, transport.ErrLost)
}

// unsent ends the link before the request is sent.
func unsent(c *fakeConn, _ *asked) (transport.Frame, error) {
	c.end(transport.ErrLost)
	return nil, c.fail(true, transport.ErrLost)
}

// silent carries the request out and never answers.
func silent(c *fakeConn, r *asked) (transport.Frame, error) {
	_, _ = usual(c, r)
	return nil, errSilent
}

// deaf does nothing and never answers.
func deaf(*fakeConn, *asked) (transport.Frame, error) { return nil, errSilent }

// inDoubt carries the request out and says that it is not committed yet.
func inDoubt(c *fakeConn, r *asked) (transport.Frame, error) {
	_, _ = usual(c, r)
	return refuse(wire.CodeTransientNotCommitted)(c, r)
}

// unproven carries the request out, but the reply is marked as that to another one.
func unproven(c *fakeConn, r *asked) (transport.Frame, error) {
	_, _ = usual(c, r)
	h := wire.NewReply(&r.header)
	h.Committed, h.Op, h.Commit, h.Client = true, 1, 1, wire.Uint128{Lo: 99}
	return wire.AppendReply(nil, h, nil)
}

// evict ends the link for a reason.
func evict(reason wire.EvictReason, oldest, newest wire.Version) answer {
	return func(c *fakeConn, r *asked) (transport.Frame, error) {
		err := &transport.EvictedError{Frame: wire.AppendEviction(nil, wire.Eviction{
			Client: r.header.Client, Reason: reason, Oldest: oldest, Newest: newest,
		})}
		c.end(err)
		return nil, c.fail(false, err)
	}
}

// bubble runs a test in a bubble with a client of a fake server that is not connected.
func bubble(t *testing.T, test func(t *testing.T, f *fake, c *client.Client), options ...client.Option) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newClient(t, f, options...)
		defer func() { require.NoError(t, c.Shutdown(context.Background())) }() // that of t has ended
		test(t, f, c)
		f.checkFrames(t)
	})
}

const password = "correct horse"

func newClient(t *testing.T, f *fake, options ...client.Option) *client.Client {
	t.Helper()
	options = append([]client.Option{client.Password("iggy", password)}, options...)
	c, err := client.New(f, options...)
	require.NoError(t, err)
	return c
}

// connected is bubble with a client that is connected.
func connected(t *testing.T, test func(t *testing.T, f *fake, c *client.Client), options ...client.Option) {
	t.Helper()
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.Connect(t.Context()))
		test(t, f, c)
	}, options...)
}

// outcome is what came of a call that runs beside the test.
func async(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// within returns a context with a time.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// body decodes the body of a request.
func body[T any, P interface {
	*T
	wire.Body
}](t *testing.T, r *asked) T {
	t.Helper()
	v, err := wire.Decode[T, P](r.body)
	require.NoError(t, err)
	return v
}

func number(code wire.Code) string { return strconv.Itoa(int(code)) }

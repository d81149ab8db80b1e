package rest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// start is the time of tests.
var start = time.Unix(1_700_000_000, 0)

// clock stands still until it is moved. Waits are over at once.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	waited []time.Duration
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waited = append(c.waited, d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over, func() {}
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// backend is a server that knows one user, and answers frames as it is told.
type backend struct {
	answer func(h wire.RequestHeader, body []byte) transport.Frame
	wait   bool // until the request is given up

	mu   sync.Mutex
	seen []transport.Frame // requests
}

const (
	theUser  = 7
	theToken = "a-token"
)

func (*backend) Login(_ context.Context, login wire.Body) (rest.Identity, wire.Code) {
	switch v := login.(type) {
	case *wire.LoginRegister:
		if v.Username != "iggy" || v.Password != "secret" {
			return rest.Identity{}, wire.CodeInvalidCredentials
		}
	case *wire.LoginRegisterWithToken:
		if v.Token != "access" {
			return rest.Identity{}, wire.CodeInvalidPersonalAccessToken
		}
	}
	return rest.Identity{User: theUser, Token: theToken, Expiry: start.Add(time.Hour)}, 0
}

func (*backend) Refresh(_ context.Context, token string) (rest.Identity, wire.Code) {
	if token != theToken {
		return rest.Identity{}, wire.CodeUnauthenticated
	}
	return rest.Identity{User: theUser, Token: theToken, Expiry: start.Add(2 * time.Hour)}, 0
}

func (*backend) Authenticate(_ context.Context, token string) (uint32, wire.Code) {
	if token != theToken {
		return 0, wire.CodeUnauthenticated
	}
	return theUser, 0
}

func (b *backend) Execute(ctx context.Context, user uint32, request transport.Frame) transport.Frame {
	b.mu.Lock()
	b.seen = append(b.seen, request)
	b.mu.Unlock()
	if b.wait {
		<-ctx.Done()
		return nil
	}
	h, body, err := wire.DecodeRequest(request)
	if err != nil || user != theUser {
		return nil
	}
	return b.answer(h, body)
}

// requests returns what the backend was asked.
func (b *backend) requests() []transport.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

// says makes a backend that gives every request the same payload, and partitions the context that is given.
func says(payload wire.Body) *backend {
	return &backend{answer: func(h wire.RequestHeader, _ []byte) transport.Frame {
		return answerTo(h, payload, 0)
	}}
}

// refuses makes a backend that refuses everything.
func refuses(code wire.Code) *backend {
	return &backend{answer: func(h wire.RequestHeader, _ []byte) transport.Frame { return answerTo(h, nil, code) }}
}

func answerTo(h wire.RequestHeader, payload wire.Body, code wire.Code) transport.Frame {
	header := wire.NewReply(&h)
	header.Status = code
	frame, err := wire.AppendReply(nil, header, payload)
	if err != nil {
		panic(err)
	}
	return frame
}

// listen serves a backend at a port of this machine.
func listen(t testing.TB, b rest.Backend, options ...rest.ListenOption) *rest.Listener {
	t.Helper()
	l, err := rest.Listen(context.Background(), "127.0.0.1:0", b, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// dial opens a link that nobody is logged in on.
func dial(t testing.TB, addr string, options ...rest.DialOption) *rest.Conn {
	t.Helper()
	conn, err := rest.NewDialer(addr, options...).Dial(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn.(*rest.Conn)
}

// serve makes a server with a backend, and a link to it on which somebody is logged in. Their time stands still.
func serve(t testing.TB, b rest.Backend, options ...rest.DialOption) *rest.Conn {
	t.Helper()
	c := newClock()
	l := listen(t, b, rest.WithClock(c))
	conn := dial(t, l.Addr(), append([]rest.DialOption{rest.WithClock(c)}, options...)...)
	enter(t, conn)
	return conn
}

// enter logs in.
func enter(t testing.TB, conn transport.Conn) {
	t.Helper()
	code, payload := do(t, conn, wire.RequestHeader{Operation: wire.OpRegister}, login("iggy", "secret"))
	require.Zero(t, code)
	got, err := wire.Decode[wire.Registered](payload)
	require.NoError(t, err)
	require.Equal(t, uint64(1), got.Session)
	require.Equal(t, wire.Version0120, got.Version)
}

func login(name, password string) *wire.LoginRegister {
	return &wire.LoginRegister{
		Client: wire.ClientInfo{Version: wire.Version0120, SDKName: "test", SDKVersion: "1"}, Username: name, Password: password,
	}
}

// frame makes the frame of a request.
func frame(t testing.TB, h wire.RequestHeader, body wire.Body) transport.Frame {
	t.Helper()
	h.Client = wire.Uint128{Lo: 9}
	if h.Operation != wire.OpRegister {
		h.Session, h.Request = 1, 5
	}
	f, err := wire.AppendRequest(nil, h, body)
	require.NoError(t, err)
	return f
}

// do makes a request and takes the reply apart.
func do(t testing.TB, conn transport.Conn, h wire.RequestHeader, body wire.Body) (wire.Code, []byte) {
	t.Helper()
	reply, err := conn.Do(context.Background(), frame(t, h, body))
	require.NoError(t, err)
	_, code, payload := wiretest.Open(t, reply)
	return code, payload
}

// ask is do for a command without a partition.
func ask(t testing.TB, conn transport.Conn, command wire.Command, body wire.Body) (wire.Code, []byte) {
	t.Helper()
	return do(t, conn, wire.NewRequest(command), body)
}

func handler(t testing.TB, b rest.Backend, options ...rest.ListenOption) http.Handler {
	t.Helper()
	h, err := rest.NewHandler(b, append([]rest.ListenOption{rest.WithClock(newClock())}, options...)...)
	require.NoError(t, err)
	return h
}

// routed makes answers with a payload, but to a look-up of a partition with where that is.
func routed(t testing.TB, payload wire.Body) func(h wire.RequestHeader, _ []byte) transport.Frame {
	t.Helper()
	return func(h wire.RequestHeader, _ []byte) transport.Frame {
		if h.Command == wire.CmdGetPartitionRoute {
			return answerTo(h, &wire.PartitionRoute{Incarnation: here.Incarnation, MetadataOp: here.MetadataOp}, 0)
		}
		return answerTo(h, payload, 0)
	}
}

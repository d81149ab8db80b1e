package iggyserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// buffer keeps what is written to it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// logger returns a logger that takes everything, and what it takes.
func logger() (iggyserver.Option, *buffer) {
	log := &buffer{}
	return iggyserver.Logger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))), log
}

func TestPanicOfARequestEndsItsConnectionOnly(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		option, log := logger()
		server := start(t, iggyserver.PanicAt(wire.CmdGetStats), option)
		other := login(t, server, protocol)
		c := login(t, server, protocol)
		_, err := c.do(c.frame(c.header(wire.CmdGetStats), nil))
		require.Error(t, err)
		<-c.conn.Done()
		other.createTopic()
		c.again()
		require.Contains(t, log.String(), "as asked")
		require.Contains(t, log.String(), "export_test.go", "where it was")
	})
}

func TestLogSaysWhichClientWasAtFaultAndNoSecret(t *testing.T) {
	each(t, func(t *testing.T, protocol dial.Protocol) {
		option, log := logger()
		server := start(t, option, iggyserver.Username("operator"), iggyserver.Password("its-password"),
			iggyserver.Limits(transport.Limits{MaxRequestBytes: 10_000}))
		c := connect(t, server, protocol)
		_, err := c.do(c.loginFrame("another-password"))
		require.Error(t, err)
		c = connect(t, server, protocol)
		ping := c.pingFrame()
		require.NoError(t, c.ping())
		long, err := wire.AppendRequest(nil, wire.RequestHeader{Client: c.id, Operation: wire.OpRegister}, &wire.LoginRegister{
			Client: info(), Username: "operator", Password: "its-password", Context: string(make([]byte, 10_000)),
		})
		require.NoError(t, err)
		_, err = c.do(long)
		require.Error(t, err)
		c = connect(t, server, protocol)
		_, err = c.do(ping)
		require.NoError(t, err)
		require.NoError(t, server.Close())
		require.Contains(t, log.String(), "level=WARN")
		require.Contains(t, log.String(), "MaxRequestBytes")
		require.NotContains(t, log.String(), "password")
	})
}

func TestServerDoesNotPrintItsPassword(t *testing.T) {
	t.Parallel()
	server := start(t, iggyserver.Password("its-password"), iggyserver.TCP("127.0.0.1:0"))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		require.Equal(t, "iggy server tcp://"+server.Addr(dial.TCP), fmt.Sprintf(verb, server))
	}
}

// leaving is a client whose last request is none, which is found out when the server has ended.
type leaving struct{ transport.Peer }

func (leaving) Next(ctx context.Context) (transport.Exchange, error) {
	<-ctx.Done()
	return nil, transport.ErrProtocol
}

func (leaving) RemoteAddr() string { return "leaving" }

func (leaving) Close() error { return nil }

func TestFaultThatIsFoundWhenTheServerEndsIsLogged(t *testing.T) {
	t.Parallel()
	option, log := logger()
	server := start(t, option)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server.Serve(ctx, leaving{})
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "peer=leaving")
}

// tired is a listener that has no client, and then too many files open.
type tired struct {
	transport.Listener
	errors []error
}

func (l *tired) Accept(context.Context) (transport.Peer, error) {
	err := l.errors[0]
	l.errors = l.errors[1:]
	return nil, err
}

func TestListenerThatCannotTakeAClientTriesAgain(t *testing.T) {
	t.Parallel()
	option, log := logger()
	server := start(t, option)
	full := errors.New("too many open files")
	listener := &tired{errors: []error{full, full, transport.ErrClosed}}
	server.AcceptFrom(t.Context(), listener)
	require.Empty(t, listener.errors)
	require.Equal(t, 1, strings.Count(log.String(), "too many open files"))
}

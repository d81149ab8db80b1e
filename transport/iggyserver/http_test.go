package iggyserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestClientOverHTTPSeesWhatOthersSend(t *testing.T) {
	t.Parallel()
	server := start(t)
	c := login(t, server, dial.HTTP)
	require.True(t, transport.IsSessionless(c.conn))
	c.createTopic()
	c.put("a", "b")
	require.Equal(t, []string{"a", "b"}, c.all())
	other := login(t, server, dial.TCP)
	other.put("c")
	require.Equal(t, []string{"a", "b", "c"}, c.all())
	waiting := c.begin(c.waitFrame(3))
	c.put("d")
	r := <-waiting
	require.NoError(t, r.err)
	_, _, payload := wiretest.Open(t, r.reply)
	require.Equal(t, []string{"d"}, payloads(t, wiretest.Decode[wire.PolledMessages](t, payload).Records))
	require.Equal(t, []string{"a", "b", "c", "d"}, other.all())
}

func TestWrongPasswordOverHTTPIsACode(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t), dial.HTTP)
	reply, err := c.do(c.loginFrame("wrong"))
	require.NoError(t, err)
	_, code, _ := wiretest.Open(t, reply)
	require.Equal(t, wire.CodeInvalidCredentials, code)
}

func TestWaitOverHTTPEndsWithItsContextAndWithTheServer(t *testing.T) {
	t.Parallel()
	server := start(t)
	c := login(t, server, dial.HTTP)
	c.createTopic()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	wait := func(ctx context.Context, frame transport.Frame) {
		_, err := c.conn.Do(ctx, frame)
		done <- err
	}
	go wait(ctx, c.waitFrame(0))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	go wait(t.Context(), c.waitFrame(0))
	c.all()
	require.NoError(t, server.Close())
	require.Error(t, <-done)
}

func TestFaultsHappenOverHTTPToo(t *testing.T) {
	t.Parallel()
	server := start(t)
	c := login(t, server, dial.HTTP)
	c.createTopic()
	refused := server.Faults().Refuse(wire.CmdSendMessages, 1, wire.CodeUnauthorized)
	reply, err := c.do(c.sendFrame("a"))
	require.NoError(t, err)
	<-refused
	_, code, _ := wiretest.Open(t, reply)
	require.Equal(t, wire.CodeUnauthorized, code)

	dropped := server.Faults().DropReply(wire.CmdSendMessages, 1)
	_, err = c.do(c.sendFrame("b"))
	<-dropped
	require.Error(t, err)
	require.False(t, transport.Unsent(err), "it was carried out")
	require.Equal(t, []string{"b"}, c.all())

	send := c.sendFrame("c")
	server.Faults().Down()
	_, err = c.do(send)
	require.Error(t, err)
	server.Faults().Up()
	require.Equal(t, []string{"b"}, c.all())
}

func TestRequestOverHTTPThatPanicsEndsItsConnectionOnly(t *testing.T) {
	t.Parallel()
	server := start(t, iggyserver.PanicAt(wire.CmdGetStats))
	c := login(t, server, dial.HTTP)
	h := wire.NewRequest(wire.CmdGetStats)
	_, err := c.do(c.frame(h, &wire.Empty{}))
	require.ErrorIs(t, err, transport.ErrLost)
	require.NoError(t, c.ping())
}

func TestTokenOverHTTPIsReplacedWhenTheServerForgetsIt(t *testing.T) {
	t.Parallel()
	clock := &frozen{now: time.Unix(1_800_000_000, 0)}
	server := start(t, iggyserver.WithClock(clock))
	c := login(t, server, dial.HTTP)
	c.createTopic()
	clock.now = clock.now.Add(2 * time.Hour)
	c.put("a")
	require.Equal(t, []string{"a"}, c.all())
}

// frozen is a clock that a test moves while nothing else happens.
type frozen struct{ now time.Time }

func (c *frozen) Now() time.Time { return c.now }

func (c *frozen) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

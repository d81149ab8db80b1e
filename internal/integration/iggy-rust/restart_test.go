package iggyrust_test

import (
	"bufio"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// pausing starts the scenario that waits for something to happen to the server, lets it happen, and wants the scenario to
// end well.
func (p program) pausing(t *testing.T, url, mode string, happen func()) {
	t.Helper()
	c, wait := p.command(t, "restart", "--url", url, "--name", "restart", "--mode", mode)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Errorf("the program ends before it is ready: %v", wait())
		return
	}
	require.Equal(t, "ready\n", line)
	happen()
	_, err = in.Write([]byte("\n"))
	require.NoError(t, err)
	require.NoError(t, wait())
}

func TestTheRustSDKStoresOnceWhatItHasToSendTwice(t *testing.T) {
	t.Parallel()
	p := built(t)
	for _, protocol := range binary {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			server := start(t)
			var cut <-chan struct{}
			p.pausing(t, server.ConnectionString(protocol), "cut", func() {
				cut = server.Faults().CloseAfter(wire.CmdSendMessages, 1)
			})
			<-cut
		})
	}
}

func TestTheRustSDKBeginsAgainWithANewServer(t *testing.T) {
	t.Parallel()
	p := built(t)
	for _, protocol := range binary {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			server := start(t)
			p.pausing(t, server.ConnectionString(protocol), "empty", func() { again(t, server, protocol) })
		})
	}
}

// again closes a server and starts another one at its address for a protocol.
func again(t *testing.T, server *iggyserver.Server, protocol dial.Protocol, options ...iggyserver.Option) {
	t.Helper()
	require.NoError(t, server.Close())
	at := map[dial.Protocol]func(string) iggyserver.Option{
		dial.TCP: iggyserver.TCP, dial.QUIC: iggyserver.QUIC, dial.WebSocket: iggyserver.WebSocket,
	}[protocol]
	start(t, append(options, at(server.Addr(protocol)))...)
}

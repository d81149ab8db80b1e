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

// TestTheRustSDKStoresOnceWhateverHappensToASend lets something happen to one send, after which the program wants that
// all it has sent is there once and in order.
func TestTheRustSDKStoresOnceWhateverHappensToASend(t *testing.T) {
	t.Parallel()
	p := built(t)
	const send = wire.CmdSendMessages
	happens := map[string]func(f *iggyserver.Faults) <-chan struct{}{
		"link lost before": func(f *iggyserver.Faults) <-chan struct{} { return f.CloseBefore(send, 1) },
		"link lost behind": func(f *iggyserver.Faults) <-chan struct{} { return f.CloseAfter(send, 1) },
		"in doubt":         func(f *iggyserver.Faults) <-chan struct{} { return f.LeaveInDoubt(send, 1) },
		"not accepted":     func(f *iggyserver.Faults) <-chan struct{} { return f.Refuse(send, 1, wire.CodeTransientNotAccepted) },
		"another life":     func(f *iggyserver.Faults) <-chan struct{} { return f.Refuse(send, 1, wire.CodeHistoryUnavailable) },
		"partition moved":  func(f *iggyserver.Faults) <-chan struct{} { return f.Move(send, 1) },
		"stale client":     func(f *iggyserver.Faults) <-chan struct{} { return f.Evict(send, 1, wire.EvictStaleClient) },
	}
	for _, protocol := range binary {
		for name, happen := range happens {
			t.Run(string(protocol)+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := start(t)
				var happened <-chan struct{}
				p.pausing(t, server.ConnectionString(protocol), "cut", func() { happened = happen(server.Faults()) })
				<-happened
			})
		}
	}
}

// each runs a test with the program over some protocols.
func each(t *testing.T, over []dial.Protocol, test func(t *testing.T, p program, protocol dial.Protocol)) {
	t.Helper()
	t.Parallel()
	p := built(t)
	for _, protocol := range over {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			test(t, p, protocol)
		})
	}
}

func TestTheRustSDKSaysWhenItCannotKnowWhatWasStored(t *testing.T) {
	each(t, binary, func(t *testing.T, p program, protocol dial.Protocol) {
		server := start(t)
		p.pausing(t, server.ConnectionString(protocol), "lost", func() {
			server.Faults().Refuse(wire.CmdBindSession, 1, wire.CodeUnauthenticated)
			server.Faults().CloseBefore(wire.CmdSendMessages, 1)
		})
	})
}

func TestAnIdempotentProducerOfTheRustSDKStoresOnceThoughItLosesItsSession(t *testing.T) {
	each(t, binary, func(t *testing.T, p program, protocol dial.Protocol) {
		server := start(t)
		p.pausing(t, server.ConnectionString(protocol), "idempotent", func() {
			server.Faults().Refuse(wire.CmdBindSession, 1, wire.CodeUnauthenticated)
			server.Faults().CloseAfter(wire.CmdSendMessages, 1)
		})
	})
}

func TestTheRustSDKBeginsAgainWithANewServer(t *testing.T) {
	each(t, protocols, func(t *testing.T, p program, protocol dial.Protocol) {
		server := start(t)
		p.pausing(t, server.ConnectionString(protocol), "empty", func() { again(t, server, protocol) })
	})
}

func TestTheRustSDKGoesOnWithAServerThatHasKeptItsData(t *testing.T) {
	each(t, protocols, func(t *testing.T, p program, protocol dial.Protocol) {
		data := iggyserver.Data(t.TempDir())
		server := start(t, data)
		p.pausing(t, server.ConnectionString(protocol), "kept", func() { again(t, server, protocol, data) })
	})
}

// again closes a server and starts another one at its address for a protocol.
func again(t *testing.T, server *iggyserver.Server, protocol dial.Protocol, options ...iggyserver.Option) {
	t.Helper()
	require.NoError(t, server.Close())
	at := map[dial.Protocol]func(string) iggyserver.Option{
		dial.TCP: iggyserver.TCP, dial.QUIC: iggyserver.QUIC, dial.WebSocket: iggyserver.WebSocket,
		dial.HTTP: iggyserver.HTTP,
	}[protocol]
	start(t, append(options, at(server.Addr(protocol)))...)
}

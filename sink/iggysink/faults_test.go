package iggysink_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// withSessions are the protocols that have sessions.
var withSessions = map[string]dial.Protocol{"tcp": dial.TCP, "ws": dial.WebSocket, "quic": dial.QUIC}

// disturb makes something go wrong with the next send.
func disturb(random *rand.Rand, faults *iggyserver.Faults) {
	const nth = 1
	switch random.IntN(7) {
	case 0:
		faults.DropReply(wire.CmdSendMessages, nth)
	case 1:
		faults.CloseAfter(wire.CmdSendMessages, nth)
	case 2:
		faults.CloseBefore(wire.CmdSendMessages, nth)
	case 3:
		faults.LeaveInDoubt(wire.CmdSendMessages, nth)
	case 4:
		faults.Move(wire.CmdSendMessages, nth)
	case 5:
		faults.Disconnect()
	case 6:
		faults.ForgetSessions()
	}
}

// patient is a client that dials again at once, and gives an operation up soon, so that its outcome is uncertain.
func patient(t *testing.T, server *iggyserver.Server, protocol dial.Protocol) *client.Client {
	t.Helper()
	return clientOf(t, server, protocol, client.Timeout(300*time.Millisecond),
		client.Reconnect(client.Unlimited, time.Millisecond, time.Hour))
}

func TestAnIdempotentProducerStoresEachMessageOnceWhateverIsLost(t *testing.T) {
	t.Parallel()
	for name, protocol := range withSessions {
		for mode, options := range map[string][]iggysink.Option{
			"direct": {iggysink.Direct(iggysink.BatchLength(10))}, "background": {iggysink.Background(iggysink.BatchLength(2))},
		} {
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(1, 2))
				server := start(t)
				c := patient(t, server, protocol)
				failed := 0
				p := producerOf(t, c, append(options, iggysink.Idempotent())...)
				const sends = 60
				for i := range sends {
					if i%3 == 0 { // one fault at a time: a request is sent again three times, and no more
						require.Eventually(t, func() bool { return p.Stats().Confirmed == 20*int64(i) }, time.Minute, time.Millisecond)
						disturb(random, server.Faults())
					}
					if _, err := p.Send(t.Context(), messages(numbered(20*i, 20*i+20)...)); err != nil {
						t.Log(err)
						failed++
					}
				}
				require.NoError(t, p.Shutdown(t.Context()))
				require.Zero(t, failed)
				require.Equal(t, numbered(0, 20*sends), texts(t, c, 0))
				require.EqualValues(t, 20*sends, p.Stats().Confirmed)
			})
		}
	}
}

func TestAnOperationThatWasLeftIsResolvedByTheNextSend(t *testing.T) {
	t.Parallel()
	for name, protocol := range withSessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t)
			c := patient(t, server, protocol)
			p := producerOf(t, c)
			held, release := server.Faults().HoldReply(wire.CmdSendMessages, 1) // for all of the time of the send
			_, err := p.Send(t.Context(), messages("a"))
			<-held
			release()
			require.ErrorIs(t, err, wire.CodeOperationUncertain)
			var failed *iggysink.SendFailedError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, 1, failed.Uncertain)
			_, err = p.Send(t.Context(), messages("b"))
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, texts(t, c, 0))
			var of *client.Error
			require.ErrorAs(t, failed, &of)
			_, err = c.ResolveOperation(t.Context(), of.Operation)
			require.NoError(t, err, "the outcome is still known")
		})
	}
}

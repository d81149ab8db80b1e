package iggysink_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
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

// disturb makes something go wrong with one of the next sends.
func disturb(random *rand.Rand, faults *iggyserver.Faults) {
	nth := 1 + random.IntN(3)
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
		for mode, options := range map[string]func(func(*iggysink.SendFailedError)) []iggysink.Option{
			"direct": func(func(*iggysink.SendFailedError)) []iggysink.Option {
				return []iggysink.Option{iggysink.Direct(iggysink.BatchLength(10))}
			},
			"background": func(note func(*iggysink.SendFailedError)) []iggysink.Option {
				return []iggysink.Option{iggysink.Background(iggysink.BatchLength(2), iggysink.OnError(note))}
			},
		} {
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(1, 2))
				server := start(t)
				c := patient(t, server, protocol)
				lost := map[string]bool{} // what was told as not written, and whether it may have been
				note := func(failed *iggysink.SendFailedError) {
					for i, m := range failed.Failed {
						lost[string(m.Payload)] = i < failed.Uncertain
					}
				}
				p := producerOf(t, c, append(options(note), iggysink.Idempotent())...)
				const sends = 60
				for i := range sends {
					if i%3 == 0 {
						disturb(random, server.Faults())
					}
					_, err := p.Send(t.Context(), messages(numbered(20*i, 20*i+20)...))
					var failed *iggysink.SendFailedError
					if errors.As(err, &failed) {
						note(failed)
					}
				}
				require.NoError(t, p.Shutdown(t.Context()))
				requireOnce(t, 20*sends, texts(t, c, 0), lost)
			})
		}
	}
}

// requireOnce wants each of the numbers up to n to be stored once, in order, but for those that were told as lost.
func requireOnce(t *testing.T, n int, stored []string, lost map[string]bool) {
	t.Helper()
	seen, last := map[string]bool{}, -1
	for _, text := range stored {
		number, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.Greater(t, number, last, "it is twice there, or out of order")
		last, seen[text] = number, true
	}
	for _, text := range numbered(0, n) {
		uncertain, told := lost[text]
		require.True(t, seen[text] || told, "%s is missing, and nobody was told", text)
		require.False(t, seen[text] && told && !uncertain, "%s is there, and was told as not written", text)
	}
	require.Less(t, len(lost), n/2, "most of it is written")
}

func TestAnOperationThatWasLeftIsResolvedByTheNextSend(t *testing.T) {
	t.Parallel()
	for name, protocol := range withSessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t)
			c := patient(t, server, protocol)
			p := producerOf(t, c)
			_, release := server.Faults().HoldReply(wire.CmdSendMessages, 1)
			_, err := p.Send(t.Context(), messages("a"))
			release()
			require.ErrorIs(t, err, wire.CodeOperationUncertain)
			var failed *iggysink.SendFailedError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, 1, failed.Uncertain)
			_, err = p.Send(t.Context(), messages("b"))
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, texts(t, c, 0))
			var of *client.Error
			require.True(t, errors.As(err, &of) || errors.As(failed, &of))
			_, err = c.ResolveOperation(t.Context(), of.Operation)
			require.NoError(t, err, "the outcome is still known")
		})
	}
}

package iggysource

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/source/sourcetest"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// payloadOf makes a record of a message.
func payloadOf(m Message) (string, error) { return string(m.Payload), nil }

// system puts n messages into a topic of three partitions, and reads them with a client for each source.
func system(protocol dial.Protocol, opts ...Option) func(*testing.T, int) sourcetest.System[string] {
	return func(t *testing.T, n int) sourcetest.System[string] {
		w := serve(t, 3)
		sys := sourcetest.System[string]{}
		for p := range uint32(3) {
			count := n / 3
			if p == 0 {
				count = n - 2*(n/3)
			}
			w.send(p, 0, count)
			sys.Values = append(sys.Values, texts(p, 0, count)...)
		}
		make := func(topic wire.Identifier) runnel.Source[string] {
			c, err := dial.Client(w.server.ConnectionString(protocol))
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
			consumer := NewConsumer(c, "reader", stream, topic, opts...)
			t.Cleanup(func() { // of a process that was killed
				if f := consumer.feedOf(); f != nil {
					f.close()
				}
			})
			return Decode(consumer, payloadOf)
		}
		sys.Source = func() runnel.Source[string] { return make(topic) }
		sys.Missing = func() runnel.Source[string] { return make(wire.Named("none")) }
		return sys
	}
}

func TestListedPartitionsKeepTheContract(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(string(protocol), func(t *testing.T) {
			t.Run("endless", func(t *testing.T) {
				sourcetest.Run(t, system(protocol, Partitions(0, 1, 2)), sourcetest.Features{Endless: true, KeepsPosition: true})
			})
			t.Run("until now", func(t *testing.T) {
				sourcetest.Run(t, system(protocol, Partitions(0, 1, 2), UntilNow()), sourcetest.Features{KeepsPosition: true})
			})
		})
	}
}

func TestAGroupKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket, dial.QUIC} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Run("endless", func(t *testing.T) {
				sourcetest.Run(t, system(protocol, Group()), sourcetest.Features{Endless: true, KeepsPosition: true})
			})
			t.Run("until now", func(t *testing.T) {
				sourcetest.Run(t, system(protocol, Group(), UntilNow()), sourcetest.Features{KeepsPosition: true})
			})
		})
	}
}

package iggysink

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// benchClient returns a client of a server over TCP, in this process.
func benchClient(b *testing.B) *client.Client {
	b.Helper()
	server, err := iggyserver.Start(b.Context(), iggyserver.PasswordRounds(1))
	require.NoError(b, err)
	b.Cleanup(func() { _ = server.Close() })
	c, err := dial.Client(server.ConnectionString(dial.TCP))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.Shutdown(context.Background())) })
	return c
}

// thousand are a thousand messages of a size.
func thousand(size int) []wire.Message {
	messages := make([]wire.Message, 1000)
	for i := range messages {
		messages[i] = wire.Message{ID: wire.Uint128{Lo: uint64(i) + 1}, Payload: make([]byte, size)}
	}
	return messages
}

// sizes are those of the payloads.
var sizes = []int{100, 1024}

// BenchmarkClientSend sends with the client alone, to compare with; an operation is a message, as in all of these.
func BenchmarkClientSend(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c, all := benchClient(b), thousand(size)
			p := newProducer(c, wire.Named("s"), wire.Named("t"), nil)
			require.NoError(b, p.Init(b.Context()))
			to := client.Partition{Stream: wire.Named("s"), Topic: wire.Named("t")}
			b.ReportAllocs()
			b.ResetTimer()
			for n := b.N; n > 0; n -= len(all) {
				_, _, err := c.Send(b.Context(), to, nil, all[:min(n, len(all))])
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkSend sends a thousand messages a call.
func BenchmarkSend(b *testing.B) {
	for mode, options := range modes() {
		for _, size := range sizes {
			b.Run(fmt.Sprint(mode, "/", size), func(b *testing.B) {
				c, all := benchClient(b), thousand(size)
				p := newProducer(c, wire.Named("s"), wire.Named("t"), options)
				require.NoError(b, p.Init(b.Context()))
				b.ReportAllocs()
				b.ResetTimer()
				for n := b.N; n > 0; n -= len(all) {
					_, err := p.Send(b.Context(), all[:min(n, len(all))])
					require.NoError(b, err)
				}
				require.NoError(b, p.Shutdown(b.Context()))
			})
		}
	}
}

func modes() map[string][]Option {
	return map[string][]Option{
		"direct": nil, "idempotent": {Idempotent()}, "background": {Background()},
	}
}

// BenchmarkSendOne sends a message a call, in the background.
func BenchmarkSendOne(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint("background/", size), func(b *testing.B) {
			p := newProducer(benchClient(b), wire.Named("s"), wire.Named("t"), []Option{Background()})
			require.NoError(b, p.Init(b.Context()))
			m := thousand(size)[0]
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := p.SendOne(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, p.Shutdown(b.Context()))
		})
	}
}

// BenchmarkWriter writes batches of a pipeline, without the pipeline.
func BenchmarkWriter(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p := newProducer(benchClient(b), wire.Named("s"), wire.Named("t"), nil)
			w, err := Encode(p, func(r runnel.Record[[]byte]) (Message, error) {
				return Message{Payload: r.Value}, nil
			}).Open(b.Context(), runnel.SinkEnv{Log: p.cfg.log})
			require.NoError(b, err)
			values := make([][]byte, 256)
			for i := range values {
				values[i] = make([]byte, size)
			}
			batch := runnel.NewBatch(values, nil)
			b.ReportAllocs()
			b.ResetTimer()
			for n := b.N; n > 0; n -= batch.Len() {
				require.NoError(b, w.Write(b.Context(), batch.Slice(0, min(n, batch.Len()))))
			}
			require.NoError(b, w.Flush(b.Context()))
			require.NoError(b, w.Close(b.Context()))
		})
	}
}

// instantly is a server that takes everything at once and keeps nothing.
type instantly struct{ *fake }

func (instantly) Send(context.Context, client.Partition, *wire.Producer, []wire.Message) (wire.Confirmation, bool, error) {
	return wire.Confirmation{}, false, nil
}

// BenchmarkBuffer is BenchmarkSendOne without client and server: what the producer adds.
func BenchmarkBuffer(b *testing.B) {
	p := newProducer(instantly{newFake()}, wire.Named("s"), wire.Named("t"), []Option{Background()})
	require.NoError(b, p.Init(b.Context()))
	m := thousand(100)[0]
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := p.SendOne(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, p.Shutdown(b.Context()))
}

// A message costs no allocation, one at a time or many.
func TestMessagesInTheBackgroundCostNoAllocation(t *testing.T) {
	p := newProducer(instantly{newFake()}, wire.Named("s"), wire.Named("t"), []Option{Background(Linger(time.Millisecond))})
	require.NoError(t, p.Init(t.Context()))
	all := thousand(100)
	const sends = 10_000
	warm := func() {
		for range sends {
			if _, err := p.SendOne(t.Context(), all[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	warm()
	require.Less(t, testing.AllocsPerRun(10, warm), float64(sends)/50)
	many := func() {
		for range 10 {
			if _, err := p.Send(t.Context(), all); err != nil {
				t.Fatal(err)
			}
		}
	}
	many()
	require.Less(t, testing.AllocsPerRun(10, many), float64(sends)/50)
	require.NoError(t, p.Shutdown(t.Context()))
}

package iggysource

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// benchMessages is how many messages each of the four partitions of the benchmarks has.
const benchMessages = 100_000

// filled is a server whose topic has four partitions of messages of 100 bytes.
func filled(b *testing.B) *world {
	b.Helper()
	w := serve(b, 4)
	messages := make([]wire.Message, 1000)
	for i := range messages {
		messages[i].Payload = make([]byte, 100)
	}
	for p := range uint32(4) {
		for range benchMessages / len(messages) {
			_, _, err := w.sender.Send(b.Context(), part(p), nil, messages)
			require.NoError(b, err)
		}
	}
	return w
}

// BenchmarkGroup reads four partitions as the only member of a group, over and over; an operation is a message.
func BenchmarkGroup(b *testing.B) {
	for name, opts := range map[string][]Option{
		"manual": nil, "automatic": {CommitAutomatically(DefaultAutoCommit())},
	} {
		b.Run(name, func(b *testing.B) {
			w := filled(b)
			c := w.consumer(dial.TCP, append(opts, Group(), AllowReplay())...)
			b.ReportAllocs()
			b.SetBytes(100)
			for n := 0; b.Loop(); n++ {
				if n > 0 && n%(4*benchMessages) == 0 {
					for p := range uint32(4) {
						require.NoError(b, c.Seek(b.Context(), p, FromFirst()))
					}
				}
				if _, err := c.Next(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSource reads four partitions for a pipeline; an operation is a message.
func BenchmarkSource(b *testing.B) {
	w := filled(b)
	b.ReportAllocs()
	b.SetBytes(100)
	b.ResetTimer()
	count := func(m Message) (int, error) { return len(m.Payload), nil }
	src := Decode(NewConsumer(w.client(dial.TCP), "reader", stream, topic, Partitions(0, 1, 2, 3), UntilNow()), count)
	for n := 0; n < b.N; {
		r, err := src.Open(b.Context(), runnel.SourceEnv{}, nil)
		require.NoError(b, err)
		for n < b.N {
			fetch, err := r.Read(b.Context())
			n += fetch.Len()
			if err == io.EOF {
				break
			}
			require.NoError(b, err)
		}
		require.NoError(b, r.Close(context.Background()))
	}
}

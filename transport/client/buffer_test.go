package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// Reads with one Buffer use its memory in turns, and read what reads without one do.
func TestReadsIntoABufferUseItsMemoryAgain(t *testing.T) {
	t.Parallel()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	for name, protocol := range map[string]dial.Protocol{"a": dial.TCP, "b": dial.WebSocket, "c": dial.QUIC} {
		t.Run(string(protocol), func(t *testing.T) {
			c := connectOver(t, protocol, server)
			_, err := c.CreateStream(t.Context(), name, client.StreamOptions{})
			require.NoError(t, err)
			_, err = c.CreateTopic(t.Context(), wire.Named(name), "t", 1, client.TopicOptions{})
			require.NoError(t, err)
			at := client.Partition{Stream: wire.Named(name), Topic: wire.Named("t")}
			for i := range 4 {
				messages := make([]wire.Message, 1000)
				for j := range messages {
					messages[j].Payload = make([]byte, 100)
					messages[j].Payload[0] = byte(i)
				}
				_, _, err := c.Send(t.Context(), at, nil, messages)
				require.NoError(t, err)
			}
			seen := map[*byte]int{}
			into := &client.Buffer{}
			for i := range 8 {
				from := wire.PollingStrategy{Kind: wire.FromOffset, Value: uint64(i%4) * 1000}
				polled, err := c.Poll(t.Context(), single, at, from, wire.PartitionContext{}, client.Read{Into: into})
				require.NoError(t, err)
				seen[&polled.Records[0]]++
				count := 0
				for m, err := range c.Messages(polled.Records) {
					require.NoError(t, err)
					require.Equal(t, byte(i%4), m.Payload[0])
					count++
				}
				require.Equal(t, 1000, count)
				require.NoError(t, c.Ping(t.Context()), "another reply on the link meanwhile")
			}
			require.Len(t, seen, 1)
			target := []client.Target{{Strategy: wire.PollingStrategy{Kind: wire.FromOffset}}}
			fetched, err := c.Fetch(t.Context(), single, wire.Named(name), wire.Named("t"), target, client.Read{Into: into})
			require.NoError(t, err)
			require.Len(t, fetched.Sections, 1)
			require.Len(t, payloads(t, fetched.Sections[0].Records), 1000)
			again, err := c.Poll(t.Context(), single, at, wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
			require.NoError(t, err)
			require.Len(t, payloads(t, again.Records), 1000)
			require.Len(t, payloads(t, fetched.Sections[0].Records), 1000, "what is in the Buffer stays")
		})
	}
}

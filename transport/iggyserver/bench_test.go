package iggyserver_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// Messages of 100 bytes, a thousand at a time, many requests under way.
func BenchmarkMessages(b *testing.B) {
	for _, protocol := range []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket} {
		b.Run("send/"+string(protocol), func(b *testing.B) {
			c := login(b, start(b), protocol)
			c.createTopic()
			frame := c.sendFrame(slices.Repeat([]string{string(make([]byte, 100))}, 1000)...)
			header, body, err := wire.DecodeRequest(frame)
			require.NoError(b, err)
			run(b, c, func() []byte {
				header.Request = c.requests.Add(1)
				request, err := wire.AppendRequest(nil, header, nil)
				require.NoError(b, err)
				request = append(request, body...)
				require.NoError(b, wire.SetSize(request))
				return request
			})
		})
		b.Run("poll/"+string(protocol), func(b *testing.B) {
			c := login(b, start(b), protocol)
			c.createTopic()
			c.put(slices.Repeat([]string{string(make([]byte, 100))}, 1000)...)
			at := c.at()
			run(b, c, func() []byte {
				h := c.header(wire.CmdPollMessages)
				h.Context = at
				return c.frame(h, polling(0))
			})
		})
	}
}

// run sends requests, of which so many are under way at once.
func run(b *testing.B, c *client, request func() []byte) {
	const underWay = 32
	b.ReportAllocs()
	requests := make(chan []byte, underWay)
	done := make(chan error, underWay)
	for range underWay {
		go func() {
			var err error
			for frame := range requests {
				if err == nil {
					_, err = c.do(frame)
				}
			}
			done <- err
		}()
	}
	for b.Loop() {
		requests <- request()
	}
	close(requests)
	for range underWay {
		require.NoError(b, <-done)
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "messages/s")
}

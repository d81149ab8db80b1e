package broker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// hundred is a batch of 100 messages of 100 bytes.
func hundred(b *testing.B) []byte {
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = strings.Repeat("x", 100)
	}
	return batch(b, nil, texts...)
}

func BenchmarkSend(b *testing.B) {
	c := withTopic(b, 1, func(c *brokerConfig) { c.Limits.LogBytes = 1 << 40 })
	at, messages := c.at(0), hundred(b)
	b.SetBytes(int64(len(messages)))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%1000 == 0 {
			c.ok(wire.CmdDeleteSegments, &wire.DeleteSegments{Stream: orders, Topic: events, Count: 100})
		}
		if code, _ := c.tryAt(at, wire.CmdSendMessages, sending(0, 100, messages)); code != 0 {
			b.Fatal(code)
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	c := withTopic(b, 1)
	at, messages := c.at(0), hundred(b)
	for range 100 {
		code, _ := c.tryAt(at, wire.CmdSendMessages, sending(0, 100, messages))
		require.Zero(b, code)
	}
	b.SetBytes(100 * int64(len(messages)))
	b.ReportAllocs()
	for b.Loop() {
		if code, _ := c.tryAt(at, wire.CmdPollMessages, polling(reader, 0, from(wire.FromFirst, 0), 10_000)); code != 0 {
			b.Fatal(code)
		}
	}
}

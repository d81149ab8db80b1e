package broker_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// brokenClock does not wait: waits are over at once.
type brokenClock struct{}

func (brokenClock) Now() time.Time { return time.UnixMicro(1_700_000_000_000_000) }

func (brokenClock) After(time.Duration) (<-chan time.Time, func()) {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c, func() {}
}

// seeds are the frames of requests of the codec's golden vectors.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile("../../../wire/testdata/golden.json")
	require.NoError(t, err)
	var vectors []struct{ Name, Kind, Hex string }
	require.NoError(t, json.Unmarshal(text, &vectors))
	var frames [][]byte
	for _, v := range vectors {
		if v.Kind != "request" || !strings.HasSuffix(v.Name, "/frame") {
			continue
		}
		frame, err := hex.DecodeString(v.Hex)
		require.NoError(t, err, v.Name)
		frames = append(frames, frame)
	}
	require.NotEmpty(t, frames)
	return frames
}

// FuzzHandle hands over frames as they are, and as requests of a session for the present life of a partition, which
// lets them get further. There has to be an answer that can be read, and the broker has to go on.
func FuzzHandle(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		c := fuzzed(t)
		tried := c.mine(frame)
		for _, sent := range [][]byte{frame, tried, tried} {
			link := c.link
			if len(sent) > 0 && &sent[0] == &frame[0] {
				link = c.broker.Connect(broker.Peer{Transport: wire.TransportTCP})
			}
			reply, closing := link.Handle(t.Context(), sent)
			requireReadable(t, sent, reply, closing)
		}
		c.broker.Connect(broker.Peer{}).Close()
		require.NotEmpty(t, root(t, c.broker).ok(wire.CmdGetStats, nil))
	})
}

// mine makes a frame one of the client's session.
func (c *client) mine(frame []byte) []byte {
	if len(frame) < wire.HeaderSize {
		return frame
	}
	b := append([]byte(nil), frame...)
	h := c.header(wire.CmdPing)
	h.Context = c.at(0)
	head := c.frame(h, nil)
	copy(b[:176], head[:176])
	copy(b[184:192], head[184:192])
	copy(b[200:224], head[200:224])
	binary.LittleEndian.PutUint32(b[48:], uint32(len(b)))
	return b
}

// requireReadable wants a reply or an eviction that can be decoded, or no answer for a reason.
func requireReadable(t *testing.T, sent, reply []byte, closing bool) {
	t.Helper()
	if len(reply) == 0 {
		h, _, err := wire.DecodeRequest(sent)
		require.True(t, closing || err == nil && h.Command == wire.CmdCancelDeferred, "a request without an answer")
		return
	}
	if h, body, err := wire.DecodeReply(reply); err == nil {
		_, _, err = h.Result(body)
		require.NoError(t, err)
		return
	}
	_, err := wire.DecodeEviction(reply)
	require.NoError(t, err)
	require.True(t, closing)
}

// fuzzed makes a broker that has something for most requests, and a client that is a member of a group.
func fuzzed(t testing.TB) *client {
	c := withGroup(t, 2, func(c *brokerConfig) { c.Clock = brokenClock{} })
	c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
	c.put(0, "a", "b")
	return c
}

// TestChangedFramesAreAnswered is a short form of the fuzzing: bytes behind the prefix of each vector, changed.
func TestChangedFramesAreAnswered(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t) {
		c := fuzzed(t)
		for at := 176; at < len(seed); at++ {
			b := append([]byte(nil), seed...)
			b[at] ^= byte(1 << (at % 8))
			mine := c.mine(b)
			reply, closing := c.link.Handle(t.Context(), mine)
			requireReadable(t, mine, reply, closing)
			if !c.whole() {
				require.NoError(t, c.broker.Close())
				c = fuzzed(t)
			}
		}
	}
}

// whole says whether the client still has its session and its partition.
func (c *client) whole() bool {
	h := c.header(wire.CmdGetPartitionRoute)
	frame := c.frame(h, &wire.GetPartitionRoute{Stream: orders, Topic: events})
	reply, closing := c.link.Handle(c.t.Context(), frame)
	if closing {
		return false
	}
	_, code, _ := wiretest.Open(c.t, reply)
	return code == 0
}

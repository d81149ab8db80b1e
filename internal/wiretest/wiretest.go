// Package wiretest has what tests of several packages do with frames of the Iggy protocol.
package wiretest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// Open takes a reply apart: its header, why it refuses, or 0, and its payload.
func Open(t testing.TB, reply []byte) (wire.ReplyHeader, wire.Code, []byte) {
	t.Helper()
	h, body, err := wire.DecodeReply(reply)
	require.NoError(t, err)
	code, payload, err := h.Result(body)
	require.NoError(t, err)
	return h, code, payload
}

// Decode reads a payload.
func Decode[T any, P interface {
	*T
	wire.Body
}](t testing.TB, payload []byte,
) T {
	t.Helper()
	v, err := wire.Decode[T, P](payload)
	require.NoError(t, err)
	return v
}

// Stored makes a batch of messages of ten bytes, as it is stored in partition 0 from offset base on, at a time in
// microseconds since 1970.
func Stored(t testing.TB, base, time uint64, count int) []byte {
	t.Helper()
	var messages []wire.Message
	for i := range count {
		messages = append(messages, wire.Message{ID: wire.Uint128{Lo: 1}, Payload: fmt.Appendf(nil, "%010d", base+uint64(i))})
	}
	b, err := wire.AppendBatch(nil, nil, messages)
	require.NoError(t, err)
	require.NoError(t, wire.StampBatch(b, 0, base, time))
	return b
}

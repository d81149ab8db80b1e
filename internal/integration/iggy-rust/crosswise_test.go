package iggyrust_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// partitions is how many partitions the topic has.
const partitions = 3

// secret is the key of what is encrypted.
func secret() []byte { return slices.Repeat([]byte{7}, wire.KeySize) }

// crosswise runs a test for each protocol of the Rust program, without and with encryption. The arguments are those of
// `write` and `read`. The peer talks over the same protocol.
func crosswise(t *testing.T, test func(t *testing.T, p program, mine peer, encrypted bool, stream string, arguments []string)) {
	t.Parallel()
	p := built(t)
	for _, protocol := range protocols {
		server := start(t)
		for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
			t.Run(string(protocol)+"/"+name, func(t *testing.T) {
				arguments := []string{"--url", server.ConnectionString(protocol), "--name", name}
				var options []client.Option
				if encrypted {
					arguments = append(arguments, "--key", base64.StdEncoding.EncodeToString(secret()))
					options = append(options, client.Encrypt(secret()))
				}
				test(t, p, connect(t, server, protocol, options...), encrypted, name, arguments)
			})
		}
	}
}

func TestRunnelReadsWhatTheRustSDKWrites(t *testing.T) {
	crosswise(t, func(t *testing.T, p program, mine peer, encrypted bool, stream string, arguments []string) {
		want := lines(t, p.run(t, append([]string{"write"}, arguments...)...))
		require.Greater(t, len(want), 20)
		for i := range want {
			if key := want[i].Key; key != "" {
				require.Equal(t, want[i].Partition, wire.PartitionOfKey([]byte(key), partitions), "the partition of key %q", key)
				want[i].Key = "" // the server does not keep it
			}
		}
		var got []line
		for partition := range uint32(partitions) {
			for _, m := range mine.poll(stream, partition) {
				got = append(got, lineOf(t, partition, &m))
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, want, lines(t, p.run(t, append([]string{"read"}, arguments...)...)), "the SDK reads it too")
	})
}

func TestTheRustSDKReadsWhatRunnelWrites(t *testing.T) {
	crosswise(t, func(t *testing.T, p program, mine peer, encrypted bool, stream string, arguments []string) {
		overHTTP := strings.HasPrefix(arguments[1], "iggy+http")
		mine.createTopic(stream, partitions)
		var want []line
		write := func(partition uint32, messages []wire.Message) {
			t.Helper()
			base := mine.send(stream, partition, messages)
			for i, m := range messages {
				m.Offset = base + uint64(i)
				want = append(want, lineOf(t, partition, &m))
			}
		}
		write(0, shapes(t, overHTTP && encrypted))
		for i, key := range []string{"ada", "bob", "a key longer than sixteen bytes", "ü"} {
			m := wire.Message{ID: wire.Uint128{Lo: uint64(i + 1000)}, OriginTimestamp: 1, Payload: []byte(key)}
			if overHTTP && encrypted {
				m.UserHeaders = label(t)
			}
			write(wire.PartitionOfKey([]byte(key), partitions), []wire.Message{m})
		}
		require.Equal(t, sorted(want), lines(t, p.run(t, append([]string{"read"}, arguments...)...)))
	})
}

// label is an encoded header.
func label(t *testing.T) []byte {
	t.Helper()
	block, err := wire.AppendUserHeaders(nil, []wire.UserHeader{{Key: wire.StringValue("label"), Value: wire.BoolValue(true)}})
	require.NoError(t, err)
	return block
}

// shapes are messages of every size and with every header. If they are to be labelled, none is without a header: the SDK
// cannot decrypt such a message over HTTP.
func shapes(t *testing.T, labelled bool) []wire.Message {
	t.Helper()
	var messages []wire.Message
	add := func(id wire.Uint128, payload []byte, headers ...wire.UserHeader) {
		block, err := wire.AppendUserHeaders(nil, headers)
		require.NoError(t, err)
		if labelled && len(headers) == 0 {
			block = label(t)
		}
		messages = append(messages, wire.Message{
			ID: id, OriginTimestamp: 1_700_000_000_000_000 + uint64(len(messages)), Payload: payload, UserHeaders: block,
		})
	}
	for i, size := range []int{0, 1, 2, 27, 28, 255, 256, 257, 4096, 65535, 65536, 100 << 10} {
		payload := make([]byte, size)
		_, _ = rand.Read(payload) // never fails
		add(wire.Uint128{Lo: uint64(i + 1)}, payload)
	}
	for _, id := range []wire.Uint128{{Lo: math.MaxUint64}, {Hi: 1}, {Hi: 1, Lo: 7}, {Hi: math.MaxUint64, Lo: math.MaxUint64}} {
		add(id, []byte(id.String()))
	}
	headers := []wire.UserHeader{
		{Key: wire.Uint32Value(7), Value: wire.StringValue("key of a number")},
		{Key: wire.RawValue([]byte{0, 255, 1}), Value: wire.StringValue("key of bytes")},
	}
	for i, value := range []wire.Value{
		wire.RawValue(slices.Repeat([]byte{0, 255}, 100)), wire.StringValue("größe"), wire.BoolValue(true), wire.BoolValue(false),
		wire.Int8Value(math.MinInt8), wire.Int16Value(math.MinInt16), wire.Int32Value(math.MinInt32), wire.Int64Value(math.MinInt64),
		wire.Int128Value(wire.Uint128{Hi: 1 << 63}), wire.Uint8Value(math.MaxUint8), wire.Uint16Value(math.MaxUint16),
		wire.Uint32Value(math.MaxUint32), wire.Uint64Value(math.MaxUint64), wire.Uint128Value(wire.Uint128{Hi: math.MaxUint64}),
		wire.Float32Value(-math.MaxFloat32), wire.Float64Value(math.SmallestNonzeroFloat64),
	} {
		headers = append(headers, wire.UserHeader{Key: wire.StringValue(fmt.Sprintf("value %d", i)), Value: value})
	}
	add(wire.Uint128{Lo: 101}, []byte("headers"), headers...)
	return messages
}

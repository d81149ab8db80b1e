package wire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// checkCommand wants that the table of commands knows what the vector says.
func checkCommand(t *testing.T, v vector) {
	c := wire.Command(binary.LittleEndian.Uint32(v.bytes))
	require.EqualValues(t, v.number(t, "code"), c)
	require.Equal(t, v.Fields["name"], c.String())
	op := c.Operation()
	require.EqualValues(t, v.number(t, "operation"), op)
	require.Equal(t, v.Fields["operation_name"], op.String())
	require.Equal(t, v.Fields["is_metadata"], op.IsMetadata())
	require.Equal(t, v.Fields["is_partition"], op.IsPartition())
	require.Equal(t, v.Fields["result_framed"], op.ResultFramed())
	h := wire.NewRequest(c)
	if c != wire.CmdLoginRegisterWithToken {
		require.Equal(t, c, h.Carries())
	}
	require.Equal(t, v.bytes, binary.LittleEndian.AppendUint32(nil, uint32(c)))
}

func primitiveChecks() map[string]check {
	checks := map[string]check{
		"protocol_version":               protocolVersion,
		"limits":                         limits,
		"ack/none":                       ack(wire.AckNone),
		"ack/quorum":                     ack(wire.AckQuorum),
		"options/topic_prefixed":         prefixedOptions,
		"user_headers/sorted_mixed_keys": sortedHeaders,
	}
	for name, want := range map[string]wire.Value{
		"raw": wire.RawValue([]byte{0, 1, 0xff}), "string": wire.StringValue("value"),
		"bool_true": wire.BoolValue(true), "bool_false": wire.BoolValue(false),
		"int8": wire.Int8Value(-5), "int16": wire.Int16Value(-300), "int32": wire.Int32Value(-70000),
		"int64": wire.Int64Value(-5000000000), "int128": wire.Int128Value(wire.Uint128{Hi: 1 << 63}),
		"uint8": wire.Uint8Value(200), "uint16": wire.Uint16Value(60000), "uint32": wire.Uint32Value(4000000000),
		"uint64": wire.Uint64Value(math.MaxUint64), "uint128": wire.Uint128Value(wire.Uint128{Hi: math.MaxUint64, Lo: math.MaxUint64}),
		"float32": wire.Float32Value(1.5), "float64": wire.Float64Value(-2.25),
	} {
		checks["user_header/"+name] = oneHeader(want)
	}
	for _, key := range []string{"user-42", "a", "", "the quick brown fox jumps over the lazy dog"} {
		checks["xxh32/"+strings.TrimPrefix("empty", strings.Repeat("empty", min(1, len(key))))+key] = keyHash(key)
	}
	for name, plain := range map[string]string{"empty": "", "hello": "hello", "user_headers": string(world.UserHeaders)} {
		checks["aes256gcm/"+name] = sealed(plain)
	}
	for name, b := range primitiveBodies() {
		checks[name] = b.same
	}
	return checks
}

func primitiveBodies() map[string]body {
	strategy := func(kind wire.StrategyKind, value uint64) body {
		return bodyOf(wire.PollingStrategy{Kind: kind, Value: value})
	}
	return map[string]body{
		"name/orders":                bodyOf(wire.RawToken{Token: "orders"}),
		"name/max255":                bodyOf(wire.RawToken{Token: strings.Repeat("x", 255)}),
		"identifier/numeric":         bodyOf(wire.ID(7)),
		"identifier/numeric_max":     bodyOf(wire.ID(math.MaxUint32)),
		"identifier/string":          bodyOf(wire.Named("orders")),
		"identifier/string_utf8":     bodyOf(wire.Named("zażółć")),
		"consumer/consumer":          bodyOf(wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(1)}),
		"consumer/group":             bodyOf(wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("workers")}),
		"consumer/external_group":    bodyOf(wire.Consumer{Kind: wire.ConsumerExternal, ID: wire.Named("kafka-g")}),
		"partitioning/balanced":      bodyOf(wire.Partitioning{Kind: wire.PartitionBalanced}),
		"partitioning/partition":     bodyOf(wire.ToPartition(3)),
		"partitioning/key":           bodyOf(wire.Partitioning{Kind: wire.PartitionByKey, Key: []byte("user-42")}),
		"polling_strategy/offset":    strategy(wire.FromOffset, 42),
		"polling_strategy/timestamp": strategy(wire.FromTimestamp, goldenTime),
		"polling_strategy/first":     strategy(wire.FromFirst, 0),
		"polling_strategy/last":      strategy(wire.FromLast, 0),
		"polling_strategy/next":      strategy(wire.FromNext, 0),
		"partition_context":          bodyOf(wire.PartitionContext{Incarnation: 11, OwnerGeneration: 5, MetadataOp: 40}),
		"client_version_info":        bodyOf(goldenInfo),
		"options/empty":              bodyOf(wire.Options(nil)),
		"options/topic":              bodyOf(goldenOptions()),
		"permissions/global_only":    bodyOf(*globalPermissions()),
		"permissions/streams_topics": bodyOf(*allPermissions()),
	}
}

func protocolVersion(t *testing.T, v vector) {
	got := wire.Version(binary.LittleEndian.Uint32(v.bytes))
	require.Equal(t, wire.Version0122, got)
	require.Equal(t, wire.MakeVersion(0, 12, 2), got)
	require.Equal(t, v.Fields["text"], got.String())
	require.Equal(t, v.bytes, binary.LittleEndian.AppendUint32(nil, uint32(got)))
}

func limits(t *testing.T, v vector) {
	got := map[string]uint64{
		"header_size": wire.HeaderSize, "batch_header_size": wire.BatchHeaderSize, "message_header_size": wire.MessageHeaderSize,
		"max_message_payload_size": wire.MaxPayloadSize, "max_message_user_headers_size": wire.MaxUserHeadersSize,
		"max_record_size": wire.MaxRecordSize, "max_record_reply_size": wire.MaxReplySize,
		"max_options": wire.MaxOptions, "max_options_bytes": wire.MaxOptionsSize, "max_partitions_per_request": wire.MaxPartitions,
		"max_deferred_poll_wait_us": wire.MaxWaitMicros, "max_deferred_poll_timeout_us": wire.MaxTimeoutMicros,
		"min_deferred_poll_max_bytes": wire.MinPollBytes, "min_deferred_poll_reply_margin_us": wire.MinReplyMarginMicros,
		"fetch_reply_margin_us": wire.FetchReplyMarginMicros,
	}
	require.Len(t, v.Fields, len(got))
	for name, limit := range got {
		require.Equal(t, v.number(t, name), limit, name)
	}
}

func ack(want wire.Ack) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		require.Equal(t, want, wire.Ack(v.bytes[0]))
		stored := wire.StoreConsumerOffset{
			Consumer: wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(0)}, Stream: wire.ID(0), Topic: wire.ID(0), Ack: want,
		}
		encoded, err := wire.Append(nil, &stored)
		require.NoError(t, err)
		require.Equal(t, v.bytes, encoded[len(encoded)-1:])
		got, err := wire.Decode[wire.StoreConsumerOffset](encoded)
		require.NoError(t, err)
		require.Equal(t, want, got.Ack)
	}
}

// prefixedOptions are options with their length in front, as a stream has them behind its name.
func prefixedOptions(t *testing.T, v vector) {
	none := []byte{0, 0, 0, 0}
	want := wire.Stream{Name: "s", Explicit: goldenOptions()}
	encoded, err := wire.Append(nil, &want)
	require.NoError(t, err)
	const before = 32 + len("\x01s")
	require.Equal(t, append(bytes.Clone(v.bytes), none...), encoded[before:])
	got, err := wire.Decode[wire.Stream](encoded)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func oneHeader(want wire.Value) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		headers := []wire.UserHeader{{Key: wire.StringValue("k"), Value: want}}
		encoded, err := wire.AppendUserHeaders([]byte("before"), headers)
		require.NoError(t, err)
		require.Equal(t, "before"+string(v.bytes), string(encoded))
		got, err := wire.DecodeUserHeaders(nil, v.bytes)
		require.NoError(t, err)
		require.Equal(t, headers, got)
	}
}

func sortedHeaders(t *testing.T, v vector) {
	headers := []wire.UserHeader{
		{Key: wire.StringValue("zeta"), Value: wire.StringValue("last")},
		{Key: wire.StringValue("alpha"), Value: wire.Uint32Value(1)},
		{Key: wire.Uint16Value(7), Value: wire.BoolValue(true)},
	}
	encoded, err := wire.AppendUserHeaders(nil, headers)
	require.NoError(t, err)
	require.Equal(t, v.bytes, encoded)
	require.Equal(t, wire.StringValue("zeta"), headers[0].Key, "the caller's slice stays as it is")
	got, err := wire.DecodeUserHeaders(nil, v.bytes)
	require.NoError(t, err)
	require.Equal(t, []wire.UserHeader{headers[1], headers[0], headers[2]}, got)
	encoded, err = wire.AppendUserHeaders(nil, got)
	require.NoError(t, err)
	require.Equal(t, v.bytes, encoded)
}

// keyHash wants the hash of a key, as seen through the partitions that it selects.
func keyHash(key string) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		hash := binary.LittleEndian.Uint32(v.bytes)
		require.Equal(t, hash, wire.PartitionOfKey([]byte(key), math.MaxUint32))
		require.EqualValues(t, v.number(t, "partition_of_3"), wire.PartitionOfKey([]byte(key), 3))
		require.Zero(t, wire.PartitionOfKey([]byte(key), 0))
	}
}

func sealed(plain string) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		s, err := wire.NewSealer(bytes.Repeat([]byte{7}, wire.KeySize))
		require.NoError(t, err)
		nonce := [wire.NonceSize]byte(bytes.Repeat([]byte{9}, wire.NonceSize))
		require.Equal(t, v.bytes, s.Seal(nil, nonce, []byte(plain)))
		require.Len(t, v.bytes, len(plain)+wire.SealedExtra)
		opened, err := s.Open([]byte("before"), v.bytes)
		require.NoError(t, err)
		require.Equal(t, "before"+plain, string(opened))
		v.bytes[len(v.bytes)-1] ^= 1
		_, err = s.Open(nil, v.bytes)
		require.ErrorIs(t, err, wire.ErrDecrypt)
		_, err = s.Open(nil, v.bytes[:wire.SealedExtra-1])
		require.ErrorIs(t, err, wire.ErrDecrypt)
	}
}

package httpjson_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// golden returns the bodies of the vectors that package wire keeps, by name. They were made by the crate iggy_common
// 0.11.1-edge.10.
func golden(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../testdata/golden.json")
	require.NoError(t, err)
	var vectors []struct{ Name, Kind, Hex string }
	require.NoError(t, json.Unmarshal(text, &vectors))
	all := map[string][]byte{}
	for _, v := range vectors {
		if v.Kind == "http" {
			all[v.Name], err = hex.DecodeString(v.Hex)
			require.NoError(t, err)
		}
	}
	return all
}

// both reads a body, makes what the binary protocol has for it, encodes and decodes that, and makes the body of it again.
func both[T, J any, P interface {
	*T
	wire.Body
}](to func(T) J, from func(*J) (T, error)) func(t *testing.T, text []byte) {
	return func(t *testing.T, text []byte) {
		t.Helper()
		var j J
		require.NoError(t, json.Unmarshal(text, &j))
		v, err := from(&j)
		require.NoError(t, err)
		encoded, err := wire.Append(nil, P(&v))
		require.NoError(t, err)
		decoded, err := wire.Decode[T, P](encoded)
		require.NoError(t, err)
		again, err := json.Marshal(to(decoded))
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(again))
	}
}

func TestGoldenBodiesAreTheSameInBothWorlds(t *testing.T) {
	t.Parallel()
	vectors := golden(t)
	for name, check := range map[string]func(t *testing.T, text []byte){
		"stream_details":      both(httpjson.StreamDetailsOf, (*httpjson.Stream).Details),
		"topic_details":       both(httpjson.TopicDetailsOf, (*httpjson.Topic).Details),
		"user_details":        both(httpjson.UserDetailsOf, (*httpjson.UserDetails).Wire),
		"client_details":      both(httpjson.ClientDetailsOf, (*httpjson.Client).Details),
		"cluster_metadata":    both(httpjson.ClusterMetadataOf, (*httpjson.ClusterMetadata).Wire),
		"consumer_offset":     both(httpjson.ConsumerOffsetOf, (*httpjson.ConsumerOffset).Wire),
		"stats":               both(httpjson.StatsOf, (*httpjson.Stats).Wire),
		"send_messages_reply": both(httpjson.SentMessagesOf, (*httpjson.SentMessages).Wire),
		"create_user_request": both(httpjson.CreateUserOf, (*httpjson.CreateUser).Wire),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := vectors["http/"+name]
			require.NotEmpty(t, text)
			check(t, text)
		})
	}
}

func TestGoldenMessagesBecomeBatches(t *testing.T) {
	t.Parallel()
	var j httpjson.PolledMessages
	require.NoError(t, json.Unmarshal(golden(t)["http/polled_messages"], &j))
	polled, err := j.Wire()
	require.NoError(t, err)
	again, err := httpjson.PolledMessagesOf(polled)
	require.NoError(t, err)
	require.Equal(t, j, again)
	for _, name := range []string{"partition", "key", "balanced"} {
		var send httpjson.SendMessages
		text := golden(t)["http/send_messages_request/"+name]
		require.NoError(t, json.Unmarshal(text, &send))
		to, err := send.Partitioning.Wire()
		require.NoError(t, err)
		batch, err := httpjson.AppendBatch(nil, send.Messages, 5, nil)
		require.NoError(t, err)
		_, err = wire.VerifyBatch(batch)
		require.NoError(t, err)
		send.Partitioning = httpjson.PartitioningOf(to)
		send.Messages, err = httpjson.NewMessagesOf(batch)
		require.NoError(t, err)
		written, err := json.Marshal(send)
		require.NoError(t, err)
		require.Equal(t, string(text), string(written))
	}
}

func TestListsHaveToBeAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	_, err := (&httpjson.Stream{Name: "s", TopicsCount: 1}).Details()
	require.ErrorContains(t, err, "topics")
	_, err = (&httpjson.Topic{Name: "t", PartitionsCount: 1}).Details()
	require.ErrorContains(t, err, "partitions")
	_, err = (&httpjson.Group{MembersCount: 1}).Details()
	require.ErrorContains(t, err, "members")
	_, err = (&httpjson.PolledMessages{Count: 1}).Wire()
	require.ErrorContains(t, err, "messages")
	_, err = (&httpjson.Topic{Name: "t", PartitionsCount: 1, Partitions: []httpjson.Partition{{Members: httpjson.Numbers{256}}}}).Details()
	require.ErrorContains(t, err, "number 256")
}

func TestNamesThatStandForNothingAreRefused(t *testing.T) {
	t.Parallel()
	_, err := (&httpjson.User{Status: "gone"}).Wire()
	require.ErrorContains(t, err, "status")
	_, err = (&httpjson.Client{Transport: "UDP"}).Wire()
	require.ErrorContains(t, err, "transport")
	_, err = (&httpjson.Snapshot{Compression: "best"}).Wire()
	require.ErrorContains(t, err, "compression")
	_, err = (&httpjson.Snapshot{Compression: "xz", Types: []string{"dreams"}}).Wire()
	require.ErrorContains(t, err, "snapshot_types")
	_, err = httpjson.ScopeNamed("server")
	require.Error(t, err)
	s := wire.GetSnapshot{Compression: 6, Types: []uint8{1, 6, 100}}
	j := httpjson.SnapshotOf(s)
	require.Equal(t, httpjson.Snapshot{Compression: "xz", Types: []string{"filesystem_overview", "server_config", "all"}}, j)
	again, err := j.Wire()
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestSettingsKeepTheirValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key   string
		value wire.Value
		json  string
	}{
		"truth":               {"a", wire.BoolValue(true), `{"a":true}`},
		"text":                {"a", wire.StringValue("7 days"), `{"a":"7 days"}`},
		"number":              {wire.OptionSegmentSize, wire.Uint64Value(1 << 53 / 2), `{"segment_size":4503599627370496}`},
		"large number":        {wire.OptionMaxTopicSize, wire.Uint64Value(math.MaxUint64), `{"max_topic_size":"18446744073709551615"}`},
		"small number":        {wire.OptionReplicationFactor, wire.Uint32Value(3), `{"replication_factor":3}`},
		"number as text":      {wire.OptionMaxTopicSize, wire.StringValue("1 GiB"), `{"max_topic_size":"1 GiB"}`},
		"number not in place": {wire.OptionReplicationFactor, wire.StringValue("4294967296"), `{"replication_factor":"4294967296"}`},
	} {
		options := wire.Options{{Key: tt.key, Value: tt.value}}
		text, err := json.Marshal(httpjson.SettingsOf(options))
		require.NoError(t, err)
		require.Equal(t, tt.json, string(text), name)
		var read map[string]any
		require.NoError(t, json.Unmarshal(text, &read))
		got, err := httpjson.ReadSettings(read)
		require.NoError(t, err)
		require.Equal(t, options, got, name)
	}
	for _, text := range []string{`{"a": null}`, `{"a": {}}`, `{"a": ""}`, `{"a": 9007199254740992}`} {
		var read map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		_, err := httpjson.ReadSettings(read)
		require.Error(t, err, text)
	}
}

func TestOptionsOfEveryKindKeepTheirValues(t *testing.T) {
	t.Parallel()
	wide := wire.Uint128{Hi: 1, Lo: math.MaxUint64}
	for _, v := range []wire.Value{
		wire.RawValue([]byte{0, 255}), wire.StringValue("ü"), wire.BoolValue(false), wire.Int8Value(-128), wire.Int16Value(-5), wire.Int32Value(7),
		wire.Int64Value(math.MinInt64), wire.Int128Value(wide), wire.Uint8Value(255), wire.Uint16Value(6), wire.Uint32Value(8),
		wire.Uint64Value(math.MaxUint64), wire.Uint128Value(wide), wire.Float32Value(0.1), wire.Float64Value(-1e300),
	} {
		want := wire.Stream{Name: "s", Explicit: wire.Options{{Key: "a", Value: v}}, Derived: wire.Options{{Key: "b", Value: v}}}
		s := httpjson.StreamOf(want)
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var read httpjson.Stream
		require.NoError(t, json.Unmarshal(text, &read))
		got, err := read.Wire()
		require.NoError(t, err)
		require.Equal(t, want, got, v.Kind)
	}
}

func TestLargeIDsAreTextInRequests(t *testing.T) {
	t.Parallel()
	largest := httpjson.ID{Hi: math.MaxUint64, Lo: math.MaxUint64}
	text, err := json.Marshal(httpjson.NewMessage{ID: largest, Payload: httpjson.Base64("a")})
	require.NoError(t, err)
	require.Equal(t, `{"id":"340282366920938463463374607431768211455","payload":"YQ=="}`, string(text))
	var read httpjson.NewMessage
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, largest, read.ID)
}

func TestMessagesThatDoNotFitTogetherAreBatchesOfTheirOwn(t *testing.T) {
	t.Parallel()
	at := func(offset, stored, made uint64) httpjson.Message {
		return httpjson.Message{Header: httpjson.MessageHeader{ID: httpjson.ID{Lo: 1}, Offset: offset, Timestamp: stored, OriginTimestamp: made}}
	}
	const hour = 3_600_000_000
	messages := []httpjson.Message{
		at(5, 1, hour), at(6, 1, hour+1), at(8, 1, hour), at(9, 2, hour), at(10, 2, 3*hour), at(11, 2, 2*hour), at(7, 2, 2*hour),
	}
	p := httpjson.PolledMessages{PartitionID: 3, Count: uint32(len(messages)), Messages: messages}
	polled, err := p.Wire()
	require.NoError(t, err)
	var sizes []uint32
	for rest := polled.Records; len(rest) > 0; {
		h, err := wire.DecodeBatchHeader(rest)
		require.NoError(t, err)
		_, err = wire.VerifyBatch(rest[:h.Length])
		require.NoError(t, err)
		require.EqualValues(t, 3, h.PartitionID)
		sizes = append(sizes, h.Count)
		rest = rest[h.Length:]
	}
	require.Equal(t, []uint32{2, 1, 1, 1, 1, 1}, sizes)
	again, err := httpjson.PolledMessagesOf(polled)
	require.NoError(t, err)
	for i := range messages {
		require.Equal(t, messages[i].Header.Offset, again.Messages[i].Header.Offset)
		require.Equal(t, messages[i].Header.OriginTimestamp, again.Messages[i].Header.OriginTimestamp)
	}
}

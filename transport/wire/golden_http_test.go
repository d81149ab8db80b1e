package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// jsonOf wants that a body of the HTTP interface is read without anything left over, as the value if it is not nil, and is
// written in the very bytes that were read.
func jsonOf[T any](want *T) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		got := readJSON[T](t, v.bytes)
		if want != nil {
			require.Equal(t, *want, got)
		}
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.Equal(t, string(v.bytes), string(text))
	}
}

func readJSON[T any](t *testing.T, text []byte) T {
	t.Helper()
	var got T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	return got
}

// statsJSON is not written in the same bytes, as Go writes 0 where Rust writes 0.0.
func statsJSON(t *testing.T, v vector) {
	text, err := json.Marshal(readJSON[httpjson.Stats](t, v.bytes))
	require.NoError(t, err)
	require.JSONEq(t, string(v.bytes), string(text))
}

func httpChecks() map[string]check {
	expiry := uint64(goldenTime)
	user, version := "iggy", "0.1.0"
	partition := uint32(0)
	context := httpjson.Context{Incarnation: 11, MetadataOp: 40}
	return map[string]check{
		"http/stream_details":            jsonOf[httpjson.Stream](nil),
		"http/streams":                   jsonOf[[]httpjson.Stream](nil),
		"http/topic_details":             jsonOf[httpjson.Topic](nil),
		"http/topics":                    jsonOf[[]httpjson.Topic](nil),
		"http/user_details":              jsonOf[httpjson.UserDetails](nil),
		"http/users":                     jsonOf[[]httpjson.User](nil),
		"http/consumer_group_details":    jsonOf[httpjson.Group](nil),
		"http/consumer_groups":           jsonOf(&[]httpjson.Group{{Name: "workers", MembersCount: 2, PartitionsCount: 3}}),
		"http/consumer_offset":           jsonOf(&httpjson.ConsumerOffset{CurrentOffset: 120, StoredOffset: 99}),
		"http/client_details":            jsonOf[httpjson.Client](nil),
		"http/cluster_metadata":          jsonOf[httpjson.ClusterMetadata](nil),
		"http/pats":                      jsonOf(&[]httpjson.PersonalAccessToken{{ExpiryAt: &expiry, Name: "a-token"}}),
		"http/raw_pat":                   jsonOf(&httpjson.RawToken{Token: "raw-token-value"}),
		"http/create_stream_request":     jsonOf(&httpjson.CreateStream{Name: "orders"}),
		"http/create_topic_request":      jsonOf(&httpjson.CreateTopic{Name: "events", PartitionsCount: 3}),
		"http/create_user_request":       jsonOf[httpjson.CreateUser](nil),
		"http/create_partitions_request": jsonOf(&httpjson.CreatePartitions{PartitionsCount: 2}),
		"http/create_group_request":      jsonOf(&httpjson.CreateGroup{Name: "workers"}),
		"http/create_pat_request":        jsonOf(&httpjson.CreateToken{Expiry: wire.NeverExpires, Name: "ci-token"}),
		"http/login_request":             jsonOf(&httpjson.Login{Password: user, Username: user, Version: &version}),
		"http/login_pat_request":         jsonOf(&httpjson.LoginWithToken{Token: "pat-token"}),
		"http/identity": jsonOf(&httpjson.Identity{
			AccessToken: httpjson.AccessToken{Expiry: 1700003600, Token: "jwt"},
		}),
		"http/change_password_request":    jsonOf(&httpjson.ChangePassword{CurrentPassword: "secret", NewPassword: "topsecret"}),
		"http/update_permissions_request": jsonOf(&httpjson.UpdatePermissions{}),
		"http/send_messages_request/partition": jsonOf(&httpjson.SendMessages{
			Context: &context, Messages: jsonMessages(), Partitioning: httpjson.Partitioning{
				Kind: httpjson.PartitionByID, Value: httpjson.Base64{3, 0, 0, 0},
			},
		}),
		"http/send_messages_request/key": jsonOf(&httpjson.SendMessages{
			Messages: jsonMessages(), Partitioning: httpjson.Partitioning{
				Kind: httpjson.PartitionByKey, Value: httpjson.Base64("user-42"),
			},
		}),
		"http/send_messages_request/balanced": jsonOf(&httpjson.SendMessages{
			Messages: jsonMessages(), Partitioning: httpjson.Partitioning{
				Kind: httpjson.PartitionBalanced, Value: httpjson.Base64{},
			},
		}),
		"http/polled_messages": polledJSON,
		"http/store_offset_request": jsonOf(&httpjson.StoreOffset{
			ConsumerID: "app", ConsumerKind: "consumer", Context: &context, Offset: 99, PartitionID: &partition,
		}),
		"http/send_messages_reply": jsonOf(&httpjson.SentMessages{Confirmations: []httpjson.Confirmation{
			{BaseOffset: 41, StreamID: 1, TopicID: 2},
		}}),
		"http/stats": statsJSON,
	}
}

func jsonMessages() []httpjson.NewMessage {
	headers, err := wire.AppendUserHeaders(nil, []wire.UserHeader{
		{Key: wire.StringValue("k"), Value: wire.StringValue("v")},
		{Key: wire.StringValue("n"), Value: wire.Uint32Value(7)},
	})
	if err != nil {
		panic(err)
	}
	return []httpjson.NewMessage{
		{ID: httpjson.ID{Lo: 1}, Payload: httpjson.Base64("hello")},
		{ID: httpjson.ID{Lo: 2}, Payload: httpjson.Base64("world!"), UserHeaders: headers},
	}
}

// polledJSON has the messages of batch/three_messages, with the same ids, times, headers and checksums.
func polledJSON(t *testing.T, v vector) {
	jsonOf[httpjson.PolledMessages](nil)(t, v)
	got := readJSON[httpjson.PolledMessages](t, v.bytes)
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{hello, world, blank})
	require.NoError(t, err)
	r := wire.NewRecords(batch)
	for _, m := range got.Messages {
		require.True(t, r.Next())
		want := r.Message()
		require.Equal(t, httpjson.ID(want.ID), m.Header.ID)
		require.Equal(t, want.Checksum, m.Header.Checksum)
		require.Equal(t, want.OriginTimestamp, m.Header.OriginTimestamp)
		require.Equal(t, string(want.Payload), string(m.Payload))
		require.Equal(t, string(want.UserHeaders), string(m.UserHeaders))
	}
	require.False(t, r.Next())
}

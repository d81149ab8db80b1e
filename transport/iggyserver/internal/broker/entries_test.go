package broker_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// kept is a store of entries in memory, whose logs forget everything.
type kept struct {
	entries map[string][]byte
	starts  uint64
}

func (k *kept) Load(entry func(string, []byte) error) (uint64, error) {
	for _, key := range slices.Sorted(maps.Keys(k.entries)) {
		if err := entry(key, k.entries[key]); err != nil {
			return 0, err
		}
	}
	return k.starts, nil
}

func (k *kept) Commit(changes ...broker.Change) error {
	for _, c := range changes {
		if k.entries[c.Key] = c.Value; c.Value == nil {
			delete(k.entries, c.Key)
		}
	}
	return nil
}

func (k *kept) OpenLog(spec broker.LogSpec) (broker.Log, error) {
	return broker.NewMemoryLog(spec.SegmentBytes), nil
}
func (k *kept) Prune() error { return nil }

// noon is a clock that stands still.
type noon struct{ yesterday }

func (noon) Now() time.Time { return time.UnixMicro(1_700_000_000_000_000) }

func TestEntriesAreWhatOlderStoresHave(t *testing.T) {
	t.Parallel()
	k := &kept{entries: map[string][]byte{}}
	c := withTopic(t, 1, func(c *broker.Config) { c.Store, c.Clock = k, noon{} })
	c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	c.ok(wire.CmdUpdateResource, &wire.UpdateResource{Scope: wire.ScopeTopic, Stream: orders, Topic: events, Set: wire.Options{
		{Key: wire.OptionMessageExpiry, Value: wire.Uint64Value(5)},
	}})
	c.put(0, "a")
	code, _ := c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, &wire.StoreConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0), Offset: 0,
	})
	require.Zero(t, code)
	c.ok(wire.CmdCreateUser, &wire.CreateUser{
		Username: "carol", Password: "secret", Status: wire.UserActive,
		Permissions: &wire.Permissions{Streams: []wire.StreamPermissions{{StreamID: 3, ReadStream: true}}},
	})
	require.JSONEq(t, `{"nextStream":1,"nextUser":2,"lives":1700000000000001}`, string(k.entries["counters"]))
	require.JSONEq(t, `{"id":0,"name":"orders","createdAt":1700000000000000,"nextTopic":1}`, string(k.entries["stream/0"]))
	require.JSONEq(t, `{"stream":0,"id":0,"name":"events","createdAt":1700000000000000,
		"options":{"message_expiry":{"kind":12,"data":"BQAAAAAAAAA="}},
		"partitions":[{"createdAt":1700000000000000,"incarnation":1700000000000001,"life":1700000000000001}],
		"groups":[{"id":0,"name":"workers"}],"nextGroup":1}`, string(k.entries["topic/0/0"]))
	require.Equal(t, []byte{0}, k.entries["offset/\x00\x06\x0a\x24\x18\x1e\x40\x01\x01\x01reader"])
	require.Contains(t, string(k.entries["user/1"]), `"permissions":{"Global":{"ManageServers":false,`)
	require.NotContains(t, string(k.entries["user/1"]), "secret")
	require.Len(t, k.entries, 6)
}

func TestOffsetsOfPartitionsThatAreGoneAreRemoved(t *testing.T) {
	t.Parallel()
	k := &kept{entries: map[string][]byte{"offset/\x00\x00\x00\x00\x00\x00\x00\x07\x01\x01reader": {5}}}
	newBroker(t, func(c *broker.Config) { c.Store = k })
	require.NotContains(t, slices.Collect(maps.Keys(k.entries)), "offset/\x00\x00\x00\x00\x00\x00\x00\x07\x01\x01reader")
	require.Contains(t, k.entries, "user/0")
}

func TestMalformedEntriesAreRefused(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"what": "", "counters": "{", "stream/0": `{"id":"x"}`, "user/0": "[]", "topic/0/0": `{"stream":4}`,
		"offset/short": "\x01", "offset/\x00\x00\x00\x00\x00\x00\x00\x07\x01\x00num": "\x01",
		"offset/\x00\x00\x00\x00\x00\x00\x00\x07\x01\x01reader": "",
	} {
		_, err := broker.New(broker.Config{PasswordRounds: 1, Store: &kept{entries: map[string][]byte{key: []byte(value)}}})
		require.ErrorContains(t, err, "load: entry ", key)
	}
}

// broken is a store that cannot be read, or not be written.
type broken struct {
	kept

	load, prune error
}

func (b *broken) Load(func(string, []byte) error) (uint64, error) { return 0, b.load }
func (b *broken) Prune() error                                    { return b.prune }

func TestABrokerWhoseStoreIsBrokenDoesNotStart(t *testing.T) {
	t.Parallel()
	fault := errors.New("input/output error")
	for _, store := range []broker.Store{&broken{load: fault}, &broken{prune: fault}} {
		_, err := broker.New(broker.Config{PasswordRounds: 1, Store: store})
		require.ErrorIs(t, err, fault)
	}
}

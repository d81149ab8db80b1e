package broker_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/disk"
	"github.com/runnel-go/runnel/transport/wire"
)

// server is a broker with its store.
type server struct {
	*broker.Broker
	store *disk.Store
}

// serve starts a broker on a folder.
func serve(t testing.TB, dir string, change ...func(*broker.Config)) *server {
	t.Helper()
	store, err := disk.Open(dir, disk.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	config := broker.Config{PasswordRounds: 1, Store: store}
	for _, c := range change {
		c(&config)
	}
	b, err := broker.New(config)
	require.NoError(t, err)
	return &server{b, store}
}

func (s *server) stop(t testing.TB) {
	t.Helper()
	require.NoError(t, errors.Join(s.Close(), s.store.Close()))
}

// filled makes a server with something of everything, and returns the token of a user.
func filled(t *testing.T, dir string) (s *server, token string) {
	t.Helper()
	s = serve(t, dir)
	c := root(t, s.Broker)
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "gone"})
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.ok(wire.CmdDeleteStream, &wire.DeleteStream{Stream: wire.Named("gone")})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 2, Options: wire.Options{
		{Key: wire.OptionMessageExpiry, Value: wire.StringValue("7 days")},
		{Key: wire.OptionSegmentSize, Value: wire.Uint64Value(1 << 20)},
	}})
	c.put(0, "a", "b", "c")
	c.put(1, "d")
	c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
	for _, who := range []wire.Consumer{reader, {Kind: wire.ConsumerSingle, ID: wire.ID(7)}, {Kind: wire.ConsumerGroup, ID: wire.Named("workers")}} {
		code, _ := c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, &wire.StoreConsumerOffset{
			Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(0), Offset: uint64(who.Kind),
		})
		require.Zero(t, code)
	}
	c.ok(wire.CmdCreateUser, &wire.CreateUser{
		Username: "carol", Password: "secret", Status: wire.UserActive, Permissions: &wire.Permissions{
			Global:  wire.GlobalPermissions{ReadStreams: true},
			Streams: []wire.StreamPermissions{{StreamID: 1, SendMessages: true, Topics: []wire.TopicPermissions{{TopicID: 0, PollMessages: true}}}},
		},
	})
	carol := login(t, s.Broker, "carol", "secret")
	carol.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "short", Expiry: 3_600_000_000})
	raw := carol.ok(wire.CmdCreatePersonalAccessToken, &wire.CreatePersonalAccessToken{Name: "token", Expiry: wire.NeverExpires})
	return s, wiretest.Decode[wire.RawToken](t, raw).Token
}

// seen is what a client can ask for, but for positions in the log of the metadata.
func seen(t *testing.T, c *client) map[string]any {
	t.Helper()
	topic := wiretest.Decode[wire.TopicDetails](t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}))
	for i := range topic.Partitions {
		topic.Partitions[i].Context.MetadataOp = 0
	}
	group := wiretest.Decode[wire.GroupDetails](t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: workers}))
	group.Members, group.Group.MembersCount = nil, 0
	all := map[string]any{
		"stream": wiretest.Decode[wire.StreamDetails](t, c.ok(wire.CmdGetStream, &wire.GetStream{Stream: orders})),
		"topic":  topic, "group": group,
		"user": wiretest.Decode[wire.UserDetails](t, c.ok(wire.CmdGetUser, &wire.GetUser{User: wire.Named("carol")})),
	}
	for partition := range uint32(2) {
		got := c.poll(polling(reader, partition, from(wire.FromFirst, 0), 100))
		all["messages of "+string(rune('0'+partition))] = payloads(t, got.Records)
	}
	for name, who := range map[string]wire.Consumer{
		"offset by name": reader, "offset by number": {Kind: wire.ConsumerSingle, ID: wire.ID(7)},
		"offset of the group": {Kind: wire.ConsumerGroup, ID: wire.Named("workers")},
	} {
		code, payload := c.tryAt(c.at(0), wire.CmdGetConsumerOffset, &wire.GetConsumerOffset{
			Consumer: who, Stream: orders, Topic: events, Partition: wire.Partition(0),
		})
		require.Zero(t, code)
		all[name] = wiretest.Decode[wire.ConsumerOffset](t, payload)
	}
	return all
}

func TestARestartKeepsEverythingButSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, token := filled(t, dir)
	c := root(t, s.Broker)
	want, op := seen(t, c), c.at(0).MetadataOp
	s.stop(t)

	s = serve(t, dir, func(c *broker.Config) { c.Password = "other" })
	code, _ := c.redial(s.Broker).try(wire.CmdGetStreams, &wire.Empty{})
	require.Equal(t, wire.CodeUnauthenticated, code, "sessions are lost")
	c = root(t, s.Broker)
	require.Equal(t, want, seen(t, c))
	require.Greater(t, c.at(0).MetadataOp, op)
	carol := connect(t, s.Broker)
	carol.enter(carol.send(carol.frame(carol.registration(), &wire.LoginRegisterWithToken{
		Client: info(), Secret: carol.secret, Token: token,
	})))
	tokens := wiretest.Decode[wire.PersonalAccessTokens](t, carol.ok(wire.CmdGetPersonalAccessTokens, &wire.Empty{})).Tokens
	require.Len(t, tokens, 2)
	require.NotZero(t, tokens[0].ExpiryAt)
	carol.refused(wire.CodeUnauthorized, wire.CmdCreateStream, &wire.CreateStream{Name: "mine"})
	require.Equal(t, uint64(3), c.put(0, "e"), "offsets go on")
	created := wiretest.Decode[wire.StreamDetails](t, c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "gone"}))
	require.Equal(t, uint32(2), created.Stream.ID, "no number comes back")
	s.stop(t)
}

// redial is the client with its session at another broker.
func (c *client) redial(b *broker.Broker) *client {
	next := *c
	next.broker = b
	next.dial()
	return &next
}

func TestWhatWasDeletedStaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := filled(t, dir)
	c := root(t, s.Broker)
	c.ok(wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 1})
	c.ok(wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: events, Count: 1})
	c.ok(wire.CmdDeleteConsumerGroup, &wire.DeleteConsumerGroup{GroupOf: workers})
	c.ok(wire.CmdDeleteUser, &wire.DeleteUser{User: wire.Named("carol")})
	code, _ := c.tryAt(c.at(0), wire.CmdDeleteConsumerOffset, &wire.DeleteConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0),
	})
	require.Zero(t, code)
	require.NoError(t, s.Renew(orders, events, 0))
	renewed := c.at(0).Incarnation
	s.stop(t)

	s = serve(t, dir)
	defer s.stop(t)
	c = root(t, s.Broker)
	require.Equal(t, renewed, c.at(0).Incarnation)
	require.Equal(t, []string{"a", "b", "c"}, payloads(t, c.poll(polling(reader, 0, from(wire.FromFirst, 0), 9)).Records))
	require.Empty(t, c.poll(polling(reader, 1, from(wire.FromFirst, 0), 9)).Records)
	require.Empty(t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: workers}))
	require.Empty(t, c.ok(wire.CmdGetUser, &wire.GetUser{User: wire.Named("carol")}))
	code, payload := c.tryAt(c.at(0), wire.CmdGetConsumerOffset, &wire.GetConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0),
	})
	require.Zero(t, code)
	require.Empty(t, payload)
	c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	group := wiretest.Decode[wire.GroupDetails](t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: workers}))
	require.Equal(t, uint32(1), group.Group.ID, "no number comes back")
}

func TestAPartitionIsServedAtItsNewTimeThoughTheClockWentBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := filled(t, dir)
	before := root(t, s.Broker).poll(polling(reader, 0, from(wire.FromLast, 0), 1))
	s.stop(t)
	s = serve(t, dir, func(c *broker.Config) { c.Clock = &yesterday{} })
	defer s.stop(t)
	c := root(t, s.Broker)
	c.put(0, "late")
	after := c.poll(polling(reader, 0, from(wire.FromLast, 0), 1))
	one, err := wire.DecodeBatchHeader(before.Records)
	require.NoError(t, err)
	two, err := wire.DecodeBatchHeader(after.Records)
	require.NoError(t, err)
	require.Equal(t, one.BaseTimestamp, two.BaseTimestamp)
}

// yesterday is a clock that is a day behind.
type yesterday struct{}

func (yesterday) Now() time.Time { return time.Now().Add(-24 * time.Hour) }
func (yesterday) After(d time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(d)
	return timer.C, func() { timer.Stop() }
}

package client_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// encoded is the payload of a request.
func encoded(t *testing.T, body wire.Body) []byte {
	t.Helper()
	b, err := wire.Append(nil, body)
	require.NoError(t, err)
	return b
}

func TestRawRequestsDoWhatMethodsDo(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 2)
	ctx := t.Context()
	typed, err := c.GetClusterMetadata(ctx)
	require.NoError(t, err)
	for range 2 {
		raw, err := c.SendBinaryRequest(ctx, wire.CmdGetClusterMetadata, nil)
		require.NoError(t, err)
		require.Equal(t, encoded(t, &typed), raw)
	}
	raw, err := c.SendBinaryRequest(ctx, wire.CmdGetStats, nil)
	require.NoError(t, err)
	stats, err := c.GetStats(ctx)
	require.NoError(t, err)
	got, err := wire.Decode[wire.Stats](raw)
	require.NoError(t, err)
	stats.RunTime, stats.Memory, got.RunTime, got.Memory = 0, 0, 0, 0 // what time changes
	require.Equal(t, stats, got)

	_, err = c.SendBinaryRequest(ctx, wire.CmdCreateStream, encoded(t, &wire.CreateStream{Name: "raw"}))
	require.NoError(t, err)
	require.NoError(t, second(c.GetStream(ctx, wire.Named("raw"))))
	_, err = c.SendBinaryRequest(ctx, wire.CmdCreateStream, encoded(t, &wire.CreateStream{Name: "raw"}))
	require.ErrorIs(t, err, wire.CodeStreamNameAlreadyExists)
	_, err = c.SendBinaryRequest(ctx, 9999, nil)
	require.Error(t, err, "the server does not know it")
	require.NoError(t, c.Ping(ctx))
}

func TestRawRequestsOfPartitionsFindTheirRoutes(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 2)
	ctx, s, tp := t.Context(), wire.Named("s"), wire.Named("t")
	batch, err := wire.AppendBatch(nil, nil, texts(0, 3))
	require.NoError(t, err)
	send := &wire.SendMessages{Stream: s, Topic: tp, Partitioning: wire.ToPartition(1), MessagesCount: 3, Batch: batch}
	raw, err := c.SendBinaryRequest(ctx, wire.CmdSendMessages, encoded(t, send))
	require.NoError(t, err)
	sent, err := wire.Decode[wire.SentMessages](raw)
	require.NoError(t, err)
	require.EqualValues(t, 1, sent.Confirmations[0].PartitionID)

	_, err = c.SendBinaryRequest(ctx, wire.CmdStoreConsumerOffset, encoded(t, &wire.StoreConsumerOffset{
		Consumer: single, Stream: s, Topic: tp, Partition: wire.Partition(1), Offset: 0, Ack: wire.AckQuorum,
	}))
	require.NoError(t, err)
	get := encoded(t, &wire.GetConsumerOffset{Consumer: single, Stream: s, Topic: tp, Partition: wire.Partition(1)})
	raw, err = c.SendBinaryRequest(ctx, wire.CmdGetConsumerOffset, get)
	require.NoError(t, err)
	offset, err := wire.Decode[wire.ConsumerOffset](raw)
	require.NoError(t, err)
	require.EqualValues(t, 0, offset.Stored)

	poll := wire.PollMessages{
		Consumer: single, Stream: s, Topic: tp, Partition: wire.Partition(1), Strategy: wire.PollingStrategy{Kind: wire.FromNext},
		Count: 10,
	}
	waiting := &wire.PollMessagesDeferred{
		PollMessages: poll, MinCount: 1, MaxBytes: 1 << 20, TimeoutMicros: uint64((10 * time.Second).Microseconds()),
	}
	for command, body := range map[wire.Command]wire.Body{
		wire.CmdPollMessages: &poll, wire.CmdPollMessagesDeferred: waiting,
	} {
		raw, err = c.SendBinaryRequest(ctx, command, encoded(t, body))
		require.NoError(t, err, command)
		polled, err := wire.Decode[wire.PolledMessages](raw)
		require.NoError(t, err)
		require.Equal(t, []string{"message 1", "message 2"}, payloads(t, polled.Records), command)
	}
	raw, err = c.SendBinaryRequest(ctx, wire.CmdFetchMessages, encoded(t, &wire.FetchMessages{
		Consumer: single, Stream: s, Topic: tp, TimeoutMicros: waiting.TimeoutMicros, MinCount: 1, Count: 10, MaxBytes: 1 << 20,
		Targets: []wire.FetchTarget{{Partition: 1, Strategy: poll.Strategy, MaxBytes: 1 << 20}},
	}))
	require.NoError(t, err)
	fetched, err := wire.Decode[wire.FetchedMessages](raw)
	require.NoError(t, err)
	require.Equal(t, []string{"message 1", "message 2"}, payloads(t, fetched.Sections[0].Records))

	_, err = c.SendBinaryRequest(ctx, wire.CmdDeleteConsumerOffset, encoded(t, &wire.DeleteConsumerOffset{
		Consumer: single, Stream: s, Topic: tp, Partition: wire.Partition(1), Ack: wire.AckQuorum,
	}))
	require.NoError(t, err)
	raw, err = c.SendBinaryRequest(ctx, wire.CmdGetConsumerOffset, get)
	require.NoError(t, err)
	require.Empty(t, raw)
}

func TestAGroupThatIsJoinedByARawRequestIsJoinedAgain(t *testing.T) {
	t.Parallel()
	server, c := serve(t, 2, client.Reconnect(client.Unlimited, time.Millisecond, 0))
	of := wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
	_, err := c.SendBinaryRequest(t.Context(), wire.CmdJoinConsumerGroup, encoded(t, &of))
	require.NoError(t, err)
	server.Faults().ForgetSessions()
	mine, err := c.SyncConsumerGroup(t.Context(), of)
	require.NoError(t, err)
	require.Len(t, mine.Partitions, 2)
	_, err = c.SendBinaryRequest(t.Context(), wire.CmdLeaveConsumerGroup, encoded(t, &of))
	require.NoError(t, err)
	_, err = c.SyncConsumerGroup(t.Context(), of)
	require.ErrorIs(t, err, wire.CodeConsumerGroupMemberNotFound)
}

func TestRawRequestsThatWouldConfuseTheClientAreRefused(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	ctx := t.Context()
	for _, command := range []wire.Command{
		wire.CmdBindSession, wire.CmdLegacyLogin, wire.CmdLogout, wire.CmdLoginRegister, wire.CmdLegacyLoginWithToken,
		wire.CmdLoginRegisterWithToken, wire.CmdCancelDeferred,
	} {
		_, err := c.SendBinaryRequest(ctx, command, nil)
		require.ErrorIs(t, err, wire.CodeInvalidCommand)
		require.ErrorIs(t, err, client.ErrSessionCommand)
		_, err = c.SendBinaryRequestToReplica(ctx, 0, command, nil)
		require.ErrorIs(t, err, client.ErrSessionCommand)
	}
	send := &wire.SendMessages{
		Stream: wire.Named("s"), Topic: wire.Named("t"), Partitioning: wire.Partitioning{Kind: wire.PartitionBalanced},
	}
	_, err := c.SendBinaryRequest(ctx, wire.CmdSendMessages, encoded(t, send))
	require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	require.ErrorIs(t, err, client.ErrPartitionUnnamed)
	for _, command := range []wire.Command{
		wire.CmdSendMessages, wire.CmdPollMessages, wire.CmdFetchMessages, wire.CmdGetConsumerOffset,
		wire.CmdJoinConsumerGroup, wire.CmdDeleteConsumerOffset,
	} {
		_, err := c.SendBinaryRequest(ctx, command, []byte{1})
		require.ErrorIs(t, err, wire.CodeInvalidCommand, "payload of %s", command)
	}
	_, _, err = c.SendHTTPRequest(ctx, http.MethodGet, "/streams", nil)
	require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	require.NoError(t, c.Ping(ctx))
}

func TestARawRequestGoesToTheNodeThatIsNamed(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	ctx := t.Context()
	raw, err := c.SendBinaryRequestToReplica(ctx, 0, wire.CmdGetClusterMetadata, nil)
	require.NoError(t, err)
	cluster, err := wire.Decode[wire.ClusterMetadata](raw)
	require.NoError(t, err)
	require.EqualValues(t, 0, cluster.Nodes[0].ReplicaID)
	_, err = c.SendBinaryRequestToReplica(ctx, 7, wire.CmdGetStats, nil)
	require.ErrorIs(t, err, wire.CodeNotConnected)
	require.ErrorIs(t, err, client.ErrNoReplica)
	for _, command := range []wire.Command{wire.CmdCreateStream, wire.CmdPollMessagesDeferred} {
		_, err = c.SendBinaryRequestToReplica(ctx, 0, command, nil)
		require.ErrorIs(t, err, client.ErrNotAtReplica)
	}
}

func TestRawRequestsOverHTTP(t *testing.T) {
	t.Parallel()
	server := open(t)
	c := enter(t, server, dial.HTTP, "iggy", "iggy")
	ctx := t.Context()
	status, reply, err := c.SendHTTPRequest(ctx, http.MethodPost, "/streams", []byte(`{"name":"over http"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, string(reply))
	require.NoError(t, second(c.GetStream(ctx, wire.Named("over http"))))
	status, _, err = c.SendHTTPRequest(ctx, http.MethodGet, "/streams/none", nil)
	require.NoError(t, err, "a status is not an error")
	require.Equal(t, http.StatusNotFound, status)
	for _, path := range []string{"/users/login", "/users/logout", "streams", "http://other/streams"} {
		_, _, err = c.SendHTTPRequest(ctx, http.MethodPost, path, nil)
		require.ErrorIs(t, err, wire.CodeInvalidCommand, path)
	}
	_, err = c.SendBinaryRequest(ctx, wire.CmdGetStats, nil)
	require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	_, err = c.SendBinaryRequestToReplica(ctx, 0, wire.CmdGetStats, nil)
	require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	_, err = c.SyncConsumerGroup(ctx, wire.GroupOf{})
	require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
	require.NoError(t, c.Logout(ctx))
	status, _, err = c.SendHTTPRequest(ctx, http.MethodGet, "/streams", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	server := open(t)
	root := enter(t, server, dial.TCP, "iggy", "iggy")
	ctx := t.Context()
	token, err := root.CreatePersonalAccessToken(ctx, "night", time.Hour)
	require.NoError(t, err)
	const key = "0123456789abcdef0123456789abcdef"
	options := client.StreamOptions{EncryptionKey: transport.NewSecret(key)}
	_, err = root.CreateStream(ctx, "sealed", options)
	require.ErrorIs(t, err, wire.CodeStreamEncryptionUnavailable)
	wrong := root.ChangePassword(ctx, wire.Named("iggy"), "not the password", "other secret")
	require.ErrorIs(t, wrong, wire.CodeInvalidCredentials)
	for _, v := range []any{token, &token, options, err, wrong, root} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			text := fmt.Sprintf(verb, v)
			for _, secret := range []string{token.Reveal(), key, "not the password", "other secret"} {
				require.NotContains(t, text, secret, verb)
			}
		}
	}
	c := enter(t, server, dial.TCP, "iggy", "iggy")
	require.NoError(t, c.LoginWithToken(ctx, token.Reveal()))
	require.NoError(t, second(c.GetStreams(ctx)))
}

func TestAChangedPasswordIsWhatTheClientLogsInWith(t *testing.T) {
	t.Parallel()
	server := open(t)
	c := connect(t, server, client.Reconnect(client.Unlimited, time.Millisecond, 0))
	require.NoError(t, c.ChangePassword(t.Context(), wire.Named("iggy"), "iggy", "a new one"))
	server.Faults().ForgetSessions()
	require.NoError(t, second(c.GetStreams(t.Context())))
	require.NoError(t, c.ChangePassword(t.Context(), wire.Named("iggy"), "a new one", "iggy"))
	server.Faults().ForgetSessions()
	require.NoError(t, second(c.GetStreams(t.Context())))
}

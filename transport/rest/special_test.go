package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestWhatHTTPCannotSayIsRefusedWithoutARequest(t *testing.T) {
	t.Parallel()
	b := says(nil)
	conn := serve(t, b)
	of := wire.GroupOf{Stream: orders, Topic: events, Group: wire.ID(1)}
	byGroup := polling(false, wire.PollingStrategy{Kind: wire.FromNext})
	byGroup.Consumer = group
	idempotent := sending(t, wire.ToPartition(3))
	idempotent.Batch = batch(t, &wire.Producer{ID: 1})
	external := wire.Consumer{Kind: wire.ConsumerExternal, ID: wire.ID(1)}
	target := wire.FetchTarget{Strategy: wire.PollingStrategy{Kind: wire.FromNext}, MaxBytes: 1000}
	two := fetching(target)
	two.Targets = append(two.Targets, wire.FetchTarget{Partition: 1, Strategy: target.Strategy, MaxBytes: 1000})
	for name, tt := range map[string]struct {
		command wire.Command
		body    wire.Body
		code    wire.Code
	}{
		"join":              {wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: of}, wire.CodeFeatureUnavailable},
		"leave":             {wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: of}, wire.CodeFeatureUnavailable},
		"sync":              {wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: of}, wire.CodeFeatureUnavailable},
		"cancel":            {wire.CmdCancelDeferred, &wire.Empty{}, wire.CodeFeatureUnavailable},
		"me":                {wire.CmdGetMe, &wire.Empty{}, wire.CodeFeatureUnavailable},
		"a later command":   {4711, &wire.Empty{}, wire.CodeFeatureUnavailable},
		"poll of a group":   {wire.CmdPollMessagesDeferred, byGroup, wire.CodeFeatureUnavailable},
		"producer":          {wire.CmdSendMessages, idempotent, wire.CodeFeatureUnavailable},
		"two partitions":    {wire.CmdFetchMessages, two, wire.CodeFeatureUnavailable},
		"external consumer": {wire.CmdStoreConsumerOffset, &wire.StoreConsumerOffset{Consumer: external, Stream: orders, Topic: events}, wire.CodeFeatureUnavailable},
		"name of digits":    {wire.CmdGetStream, &wire.GetStream{Stream: wire.Named("007")}, 6},
		"body of another":   {wire.CmdGetStream, &wire.GetTopic{Stream: orders, Topic: events}, wire.CodeInvalidCommand},
	} {
		code, _ := ask(t, conn, tt.command, tt.body)
		require.Equal(t, tt.code, code, name)
	}
	require.Empty(t, b.requests())
	err := conn.Post(t.Context(), frame(t, wire.NewRequest(wire.CmdCancelDeferred), nil))
	require.ErrorIs(t, err, rest.ErrUnavailable)
	require.True(t, transport.IsSessionless(conn))
}

func TestPollWithoutAWaitIsAPollThatMayWait(t *testing.T) {
	t.Parallel()
	b := says(polled(t))
	conn := serve(t, b)
	p := polling(true, wire.PollingStrategy{Kind: wire.FromFirst}).PollMessages
	h := wire.NewRequest(wire.CmdPollMessages)
	h.Context = here
	reply, err := conn.Do(t.Context(), frame(t, h, &p))
	require.NoError(t, err)
	header, _, err := wire.DecodeReply(reply)
	require.NoError(t, err)
	require.Equal(t, here.Incarnation, header.Incarnation)
	got, body, err := wire.DecodeRequest(b.requests()[0])
	require.NoError(t, err)
	require.Equal(t, here, got.Context)
	asked, err := wire.Decode[wire.PollMessagesDeferred](body)
	require.NoError(t, err)
	require.Equal(t, p, asked.PollMessages)
	require.Zero(t, asked.WaitMicros)
}

func TestRouteOfAPartitionIsThatOfItsTopic(t *testing.T) {
	t.Parallel()
	conn := serve(t, says(topicDetails()))
	code, payload := ask(t, conn, wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events})
	require.Zero(t, code)
	route, err := wire.Decode[wire.PartitionRoute](payload)
	require.NoError(t, err)
	require.Equal(t, wire.PartitionRoute{Incarnation: here.Incarnation, MetadataOp: here.MetadataOp, PartitionsCount: 1}, route)
	code, _ = ask(t, conn, wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events, Partition: 1})
	require.Equal(t, wire.CodePartitionNotFound, code)
	conn = serve(t, says(nil))
	code, _ = ask(t, conn, wire.CmdGetPartitionRoute, &wire.GetPartitionRoute{Stream: orders, Topic: events})
	require.Equal(t, wire.CodeTopicIDNotFound, code)
}

func fetching(target wire.FetchTarget) *wire.FetchMessages {
	return &wire.FetchMessages{
		Consumer: reader, Stream: orders, Topic: events, WaitMicros: 5, TimeoutMicros: 2_000_000, MinCount: 1, Count: 9, MaxBytes: 4000,
		Targets: []wire.FetchTarget{target},
	}
}

func TestFetchFromOnePartitionIsAPoll(t *testing.T) {
	t.Parallel()
	next, from := wire.PollingStrategy{Kind: wire.FromNext}, wire.PollingStrategy{Kind: wire.FromOffset, Value: 77}
	for name, tt := range map[string]struct {
		strategy wire.PollingStrategy
		polled   *wire.PolledMessages
		offset   wire.Body
		refusal  wire.Code
		want     uint64 // next offset
		status   wire.Code
		code     wire.Code
	}{
		"messages":           {strategy: next, polled: polled(t), want: 204},
		"nothing at offset":  {strategy: from, polled: &wire.PolledMessages{CurrentOffset: 76}, want: 77},
		"nothing behind":     {strategy: next, polled: &wire.PolledMessages{}, offset: &wire.ConsumerOffset{Stored: 41}, want: 42},
		"nothing stored":     {strategy: next, polled: &wire.PolledMessages{}, want: 0},
		"of another life":    {strategy: next, refusal: wire.CodeHistoryUnavailable, status: wire.CodeHistoryUnavailable},
		"not allowed at all": {strategy: next, refusal: wire.CodeUnauthorized, code: wire.CodeUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := says(nil)
			b.answer = func(h wire.RequestHeader, body []byte) transport.Frame {
				switch {
				case h.Command != wire.CmdPollMessagesDeferred:
					return routed(t, tt.offset)(h, body)
				case tt.refusal != 0:
					return answerTo(h, nil, tt.refusal)
				}
				return answerTo(h, tt.polled, 0)
			}
			conn := serve(t, b)
			code, payload := ask(t, conn, wire.CmdFetchMessages, fetching(wire.FetchTarget{
				Partition: 3, Strategy: tt.strategy, MaxBytes: 2000, Incarnation: 11, OwnerGeneration: 0,
			}))
			require.Equal(t, tt.code, code)
			if tt.code != 0 {
				return
			}
			got, err := wire.Decode[wire.FetchedMessages](payload)
			require.NoError(t, err)
			require.Len(t, got.Sections, 1)
			require.EqualValues(t, 3, got.Sections[0].Partition)
			require.Equal(t, tt.status, got.Sections[0].Status)
			require.Equal(t, tt.want, got.Sections[0].NextOffset)
			if tt.polled != nil {
				require.Equal(t, string(tt.polled.Records), string(got.Sections[0].Records))
			}
		})
	}
}

func TestAnyRequestOfTheInterfaceCanBeMade(t *testing.T) {
	t.Parallel()
	conn := serve(t, says(&wire.Streams{Streams: []wire.Stream{{Name: "s"}}}))
	status, body, err := conn.DoHTTP(t.Context(), "GET", "/streams?consistency=serializable", nil)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Contains(t, string(body), `"name":"s"`)
	status, body, err = conn.DoHTTP(t.Context(), "POST", "/streams", []byte(`{`))
	require.NoError(t, err)
	require.Equal(t, 400, status)
	require.Contains(t, string(body), `"field":"body"`)
	for _, path := range []string{
		"/users/login", "/users/logout", "/users/refresh-token", "/personal-access-tokens/login", "/users/./login", "/users//login",
		"/x/../users/login", "/users/login/", "/users/%6Cogin", "/Users/Login?x=1",
	} {
		_, _, err := conn.DoHTTP(t.Context(), "POST", path, nil)
		require.ErrorIs(t, err, rest.ErrSessionPath, path)
		require.True(t, transport.Unsent(err))
	}
	for _, path := range []string{"", "streams", "//evil.example/streams", "http://evil.example/", "@evil.example/", "/%zz"} {
		_, _, err := conn.DoHTTP(t.Context(), "GET", path, nil)
		require.ErrorIs(t, err, rest.ErrPath, path)
	}
	_, _, err = conn.DoHTTP(t.Context(), "BAD METHOD", "/streams", nil)
	require.ErrorIs(t, err, transport.ErrProtocol)
	var size *transport.SizeError
	_, _, err = conn.DoHTTP(t.Context(), "GET", "/"+strings.Repeat("a", 9000), nil)
	require.ErrorAs(t, err, &size)
}

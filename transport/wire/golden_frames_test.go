package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// requestFrame wants that a whole request is encoded and decoded as the fields of the vector say.
func requestFrame(b body) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		want := wire.NewRequest(wire.Command(v.number(t, "code")))
		require.Equal(t, want.Operation, wire.Operation(v.number(t, "operation")))
		want.Client = v.wide(t, "client")
		want.Checksum = v.wide(t, "request_checksum")
		want.Request = v.number(t, "request")
		want.Session = v.number(t, "session")
		want.Context.Incarnation = v.number(t, "partition_incarnation")
		want.Context.OwnerGeneration = v.number(t, "owner_generation")
		want.Context.MetadataOp = v.number(t, "minimum_metadata_op")
		require.EqualValues(t, len(v.bytes), v.number(t, "size"))

		frame, err := wire.AppendRequest([]byte("before"), want, b.Body)
		require.NoError(t, err)
		require.Equal(t, "before"+string(v.bytes), string(frame))

		got, rest, err := wire.DecodeRequest(v.bytes)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, got.Validate())
		require.Equal(t, !got.Checksum.IsZero(), got.Operation.HasChecksum())
		b.same(t, vector{Name: v.Name, bytes: rest})
	}
}

func cancelFrame(t *testing.T, v vector) {
	poll := wire.NewRequest(wire.CmdPollMessagesDeferred)
	poll.Client, poll.Request, poll.Session, poll.Context.Incarnation = goldenClient, 31, 42, 11
	want := wire.NewCancel(&poll)
	require.Equal(t, wire.CmdCancelDeferred, want.Carries())
	frame, err := wire.AppendRequest(nil, want, nil)
	require.NoError(t, err)
	require.Equal(t, v.bytes, frame)
	got, rest, err := wire.DecodeRequest(v.bytes)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Empty(t, rest)
}

// replyFrame wants that a whole reply is encoded and decoded; the payload is nil for none.
func replyFrame(want wire.ReplyHeader, payload *body) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		var b wire.Body
		if payload != nil {
			b = payload.Body
		}
		frame, err := wire.AppendReply([]byte("before"), want, b)
		require.NoError(t, err)
		require.Equal(t, "before"+string(v.bytes), string(frame))

		got, rest, err := wire.DecodeReply(v.bytes)
		require.NoError(t, err)
		require.Equal(t, want, got)
		code, rest, err := got.Result(rest)
		require.NoError(t, err)
		require.Equal(t, want.Status, code)
		if payload == nil {
			require.Empty(t, rest)
		} else {
			payload.same(t, vector{Name: v.Name, bytes: rest})
		}
	}
}

// rejection wants that a reply whose result section has a code is encoded and decoded.
func rejection(want wire.ReplyHeader, why wire.Code) check {
	return func(t *testing.T, v vector) {
		t.Helper()
		require.Equal(t, v.bytes, wire.AppendRejection(nil, want, why))
		got, rest, err := wire.DecodeReply(v.bytes)
		require.NoError(t, err)
		require.Equal(t, want, got)
		code, rest, err := got.Result(rest)
		require.NoError(t, err)
		require.Equal(t, why, code)
		require.Empty(t, rest)
	}
}

func replyFrameChecks() map[string]check {
	replies := replyBodies()
	payload := func(name string) *body { b := replies[name]; return &b }
	header := func(op wire.Operation, request uint64) wire.ReplyHeader {
		h := wire.ReplyHeader{Client: goldenClient, Operation: op, Request: request}
		if op != wire.OpNonReplicated && !op.IsPartition() {
			h.Checksum = goldenChecksum
		}
		return h
	}
	committed := func(op wire.Operation, request, commit uint64) wire.ReplyHeader {
		h := header(op, request)
		h.Committed, h.Op, h.Commit = true, commit, commit
		return h
	}
	with := func(h wire.ReplyHeader, change func(h *wire.ReplyHeader)) wire.ReplyHeader {
		change(&h)
		return h
	}
	incarnation := func(h *wire.ReplyHeader) { h.Incarnation = 11 }
	checks := map[string]check{
		"login_register_ok": replyFrame(committed(wire.OpRegister, 0, 42), payload("login_register")),
		"bind_session_ok":   replyFrame(header(wire.OpNonReplicated, 13), payload("login_register")),
		"ping_ok":           replyFrame(header(wire.OpNonReplicated, 9), nil),
		"create_stream_ok":  replyFrame(committed(wire.OpCreateStream, 4, 43), payload("get_stream/no_topics")),
		"create_topic_internal_operation": replyFrame(
			committed(wire.OpInternalCreateTopic, 5, 44), payload("get_topic/no_partitions")),
		"create_stream_rejected":  rejection(committed(wire.OpCreateStream, 4, 43), wire.CodeStreamNameAlreadyExists),
		"transient_not_committed": rejection(header(wire.OpCreateStream, 4), wire.CodeTransientNotCommitted),
		"status_unauthorized": replyFrame(with(header(wire.OpCreateStream, 4), func(h *wire.ReplyHeader) {
			h.Status = wire.CodeUnauthorized
		}), nil),
		"status_history_unavailable": replyFrame(with(header(wire.OpSendMessages, 20), func(h *wire.ReplyHeader) {
			h.Status, h.Incarnation = wire.CodeHistoryUnavailable, 11
		}), nil),
		"send_messages_ok": replyFrame(with(committed(wire.OpSendMessages, 20, 7), incarnation), payload("send_messages")),
		"store_offset_ok":  replyFrame(with(committed(wire.OpStoreConsumerOffset, 9, 8), incarnation), nil),
		"logout_ok":        replyFrame(committed(wire.OpLogout, 12, 50), nil),
	}
	named := map[string]check{}
	for name, c := range checks {
		named["reply_frame/"+name] = c
	}
	return named
}

func evictionChecks() map[string]check {
	evictions := map[string]wire.Eviction{
		"no_session":                {Reason: wire.EvictNoSession},
		"invalid_request_operation": {Reason: wire.EvictInvalidOperation},
		"session_too_low":           {Reason: wire.EvictSessionTooLow},
		"invalid_credentials":       {Reason: wire.EvictInvalidCredentials},
		"invalid_token":             {Reason: wire.EvictInvalidToken},
		"user_inactive":             {Reason: wire.EvictUserInactive},
		"session_error":             {Reason: wire.EvictSessionError},
		"stale_client":              {Reason: wire.EvictStaleClient},
		"malformed_login":           {Reason: wire.EvictMalformedLogin},
		"incompatible_protocol": {
			Reason: wire.EvictIncompatibleProtocol, Newest: wire.Version0122, Oldest: wire.Version0122,
		},
	}
	checks := map[string]check{}
	for name, want := range evictions {
		want.Client = goldenClient
		checks["eviction/"+name] = func(t *testing.T, v vector) {
			require.Equal(t, v.bytes, wire.AppendEviction(nil, want))
			got, err := wire.DecodeEviction(v.bytes)
			require.NoError(t, err)
			require.Equal(t, want, got)
			if v.Fields["sdk_error"] != nil {
				require.EqualValues(t, v.number(t, "sdk_error"), got.Reason.Code())
			}
		}
	}
	return checks
}

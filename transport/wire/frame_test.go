package wire_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestSizeOfAFrameIsBounded(t *testing.T) {
	t.Parallel()
	header, err := wire.AppendRequest(nil, wire.NewRequest(wire.CmdPing), nil)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		size uint32
		err  error
	}{
		"a header":            {wire.HeaderSize, nil},
		"less than a header":  {wire.HeaderSize - 1, wire.ErrLength},
		"none":                {0, wire.ErrLength},
		"the limit":           {1000, nil},
		"more than the limit": {1001, wire.ErrLength},
		"the largest":         {1<<32 - 1, wire.ErrLength},
	} {
		h := bytes.Clone(header)
		binary.LittleEndian.PutUint32(h[48:], c.size)
		p, err := wire.DecodePrefix(h, 1000)
		require.ErrorIs(t, err, c.err, name)
		if c.err == nil {
			require.Equal(t, wire.Prefix{Size: c.size, Kind: wire.FrameRequest}, p, name)
		}
	}
	_, err = wire.DecodePrefix(header[:wire.HeaderSize-1], 1000)
	require.ErrorIs(t, err, wire.ErrShort)
}

func TestFramesAreWholeAndOfTheirKind(t *testing.T) {
	t.Parallel()
	request, err := wire.AppendRequest(nil, wire.NewRequest(wire.CmdGetClient), &wire.GetClient{ClientID: 1})
	require.NoError(t, err)
	reply, err := wire.AppendReply(nil, wire.ReplyHeader{Operation: wire.OpNonReplicated}, &wire.GetClient{ClientID: 1})
	require.NoError(t, err)
	eviction := wire.AppendEviction(nil, wire.Eviction{Reason: wire.EvictNoSession})
	decoders := map[string]func(b []byte) error{
		"request":  func(b []byte) error { _, _, err := wire.DecodeRequest(b); return err },
		"reply":    func(b []byte) error { _, _, err := wire.DecodeReply(b); return err },
		"eviction": func(b []byte) error { _, err := wire.DecodeEviction(b); return err },
	}
	frames := map[string][]byte{"request": request, "reply": reply, "eviction": eviction}
	for of, frame := range frames {
		for as, decode := range decoders {
			if of == as {
				require.NoError(t, decode(frame), of)
			} else {
				require.ErrorIs(t, decode(frame), wire.ErrValue, "%s as %s", of, as)
			}
		}
		require.ErrorIs(t, decoders[of](frame[:len(frame)-1]), map[bool]error{
			true: wire.ErrShort, false: wire.ErrLength,
		}[len(frame) == wire.HeaderSize], of)
		require.Error(t, decoders[of](append(bytes.Clone(frame), 0)), of)
	}
	require.ErrorIs(t, wire.SetSize(request[:10]), wire.ErrLength)
}

func TestServerWantsWhatARequestNeeds(t *testing.T) {
	t.Parallel()
	bound := wire.NewRequest(wire.CmdCreateStream)
	bound.Client, bound.Session, bound.Request = goldenClient, 1, 1
	require.NoError(t, bound.Validate())
	require.Equal(t, wire.CmdCreateStream, bound.Carries())
	register := wire.NewRequest(wire.CmdLoginRegisterWithToken)
	register.Client = goldenClient
	require.NoError(t, register.Validate())
	require.Equal(t, wire.CmdLoginRegister, register.Carries())
	ping := wire.NewRequest(wire.CmdPing)
	ping.Client = goldenClient
	require.NoError(t, ping.Validate())

	for name, c := range map[string]struct {
		from   wire.RequestHeader
		change func(h *wire.RequestHeader)
		field  string
	}{
		"no client":                {bound, func(h *wire.RequestHeader) { h.Client = wire.Uint128{} }, "client"},
		"no operation":             {bound, func(h *wire.RequestHeader) { h.Operation = 0 }, "operation"},
		"internal operation":       {bound, func(h *wire.RequestHeader) { h.Operation = wire.OpInternalCreateTopic }, "operation"},
		"retired operation":        {bound, func(h *wire.RequestHeader) { h.Operation = 129 }, "operation"},
		"no session":               {bound, func(h *wire.RequestHeader) { h.Session = 0 }, "session"},
		"no number":                {bound, func(h *wire.RequestHeader) { h.Request = 0 }, "request"},
		"login with a session":     {register, func(h *wire.RequestHeader) { h.Session = 1 }, "session"},
		"login with a number":      {register, func(h *wire.RequestHeader) { h.Request = 1 }, "request"},
		"send without a session":   {bound, func(h *wire.RequestHeader) { h.Operation, h.Session = wire.OpSendMessages, 0 }, "session"},
		"logout without a session": {bound, func(h *wire.RequestHeader) { h.Operation, h.Session = wire.OpLogout, 0 }, "session"},
	} {
		h := c.from
		c.change(&h)
		err := h.Validate()
		require.ErrorIs(t, err, wire.ErrValue, name)
		require.ErrorContains(t, err, c.field+" at byte ", name)
	}
}

func TestCommittedReplyHasToRepeatTheRequest(t *testing.T) {
	t.Parallel()
	request := wire.NewRequest(wire.CmdCreateTopic)
	request.Client, request.Checksum, request.Request = goldenClient, goldenChecksum, 7
	request.Context.Incarnation = 3
	reply := wire.NewReply(&request)
	require.EqualValues(t, 7, reply.Request)
	reply.Committed, reply.Op, reply.Commit = true, 5, 5
	require.NoError(t, reply.CheckCommit(&request))
	internal := reply
	internal.Operation = wire.OpInternalCreateTopic
	require.NoError(t, internal.CheckCommit(&request))

	for field, change := range map[string]func(h *wire.ReplyHeader){
		"client":                func(h *wire.ReplyHeader) { h.Client.Lo++ },
		"request checksum":      func(h *wire.ReplyHeader) { h.Checksum.Hi++ },
		"operation":             func(h *wire.ReplyHeader) { h.Operation = wire.OpInternalCreatePartitions },
		"partition incarnation": func(h *wire.ReplyHeader) { h.Incarnation = 0 },
		"commit":                func(h *wire.ReplyHeader) { h.Commit++ },
	} {
		wrong := reply
		change(&wrong)
		require.ErrorContains(t, wrong.CheckCommit(&request), field+" at byte ")
		wrong.Committed = false
		require.NoError(t, wrong.CheckCommit(&request), "without the mark nothing is checked")
	}
	reply.Op, reply.Commit = 0, 0
	require.ErrorContains(t, reply.CheckCommit(&request), "commit at byte ")
}

func TestResultSectionComesBeforeThePayload(t *testing.T) {
	t.Parallel()
	framed := wire.ReplyHeader{Operation: wire.OpCreateStream}
	for name, c := range map[string]struct {
		header  wire.ReplyHeader
		body    string
		code    wire.Code
		payload string
		err     error
	}{
		"success":                     {framed, "00000000aabb", 0, "aabb", nil},
		"rejection":                   {framed, "0100000000000000f4030000", wire.CodeStreamNameAlreadyExists, "", nil},
		"the first of two rejections": {framed, "02000000000000000a0000000100000014000000", 10, "", nil},
		"no section":                  {framed, "", 0, "", wire.ErrShort},
		"section that ends early":     {framed, "010000000000", 0, "", wire.ErrLength},
		"section that goes on":        {framed, "0100000000000000f403000000", 0, "", wire.ErrLength},
		"rejection without a code":    {framed, "010000000000000000000000", 0, "", wire.ErrValue},
		"operation without one":       {wire.ReplyHeader{Operation: wire.OpNonReplicated}, "0100", 0, "0100", nil},
		"login":                       {wire.ReplyHeader{Operation: wire.OpRegister}, "00000000aa", 0, "aa", nil},
		"login without a body":        {wire.ReplyHeader{Operation: wire.OpRegister}, "", 0, "", nil},
		"logout":                      {wire.ReplyHeader{Operation: wire.OpLogout}, "", 0, "", nil},
		"segments":                    {wire.ReplyHeader{Operation: wire.OpInternalDeleteSegments}, "00000000", 0, "", nil},
		"refusal":                     {wire.ReplyHeader{Operation: wire.OpCreateStream, Status: 41}, "", 41, "", nil},
		"refusal with a body":         {wire.ReplyHeader{Operation: wire.OpCreateStream, Status: 41}, "00", 0, "", wire.ErrTrailing},
	} {
		code, payload, err := c.header.Result(mustHex(c.body))
		require.ErrorIs(t, err, c.err, name)
		if c.err == nil {
			require.Equal(t, c.code, code, name)
			require.Equal(t, string(mustHex(c.payload)), string(payload), name)
		}
	}
}

func TestBatchCanBeAppendedBehindARequest(t *testing.T) {
	t.Parallel()
	send := wire.SendMessages{
		Stream: wire.ID(1), Topic: wire.ID(2), Partitioning: wire.ToPartition(3), MessagesCount: 1,
	}
	frame, err := wire.AppendRequest(nil, wire.NewRequest(wire.CmdSendMessages), &send)
	require.NoError(t, err)
	frame, err = wire.AppendBatch(frame, nil, []wire.Message{hello})
	require.NoError(t, err)
	require.NoError(t, wire.SetSize(frame))

	send.Batch, err = wire.AppendBatch(nil, nil, []wire.Message{hello})
	require.NoError(t, err)
	want, err := wire.AppendRequest(nil, wire.NewRequest(wire.CmdSendMessages), &send)
	require.NoError(t, err)
	require.Equal(t, want, frame)
}

func TestLoginsAreToldApartByTheirBodies(t *testing.T) {
	t.Parallel()
	for _, context := range []string{"", "c", "a longer context"} {
		for _, secret := range []string{"", "p", "password"} {
			want := wire.LoginRegister{Client: goldenInfo, Username: "iggy", Password: secret, Context: context}
			b, err := wire.Append(nil, &want)
			require.NoError(t, err)
			login, token, err := wire.DecodeLogin(b)
			require.NoError(t, err)
			require.Nil(t, token)
			require.Equal(t, &want, login)
			_, err = wire.Decode[wire.LoginRegisterWithToken](b)
			require.Error(t, err, "a login with a password is none with a token")
		}
		want := wire.LoginRegisterWithToken{Client: goldenInfo, Token: "token", Context: context}
		b, err := wire.Append(nil, &want)
		require.NoError(t, err)
		login, token, err := wire.DecodeLogin(b)
		require.NoError(t, err)
		require.Nil(t, login)
		require.Equal(t, &want, token)
		info, err := wire.DecodeClientInfo(b[:20])
		require.NoError(t, err, "what follows need not be there")
		require.Equal(t, goldenInfo, info)
	}
	_, _, err := wire.DecodeLogin([]byte{1, 2, 3})
	require.ErrorIs(t, err, wire.ErrShort)
}

func TestNoBytesMeanThatThereIsNone(t *testing.T) {
	t.Parallel()
	_, found, err := wire.DecodeIfAny[wire.ConsumerOffset](nil)
	require.NoError(t, err)
	require.False(t, found)
	offset := wire.ConsumerOffset{Partition: 1, Current: 2, Stored: 3}
	b, err := wire.Append(nil, &offset)
	require.NoError(t, err)
	got, found, err := wire.DecodeIfAny[wire.ConsumerOffset](b)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, offset, got)
	_, found, err = wire.DecodeIfAny[wire.ConsumerOffset](b[:3])
	require.ErrorIs(t, err, wire.ErrShort)
	require.False(t, found)
}

func TestOlderServersLeaveOutTheLastStatistics(t *testing.T) {
	t.Parallel()
	stats := wire.Stats{Hostname: "h", TotalDisk: 5, OpenFiles: 1, OpenFilesLimit: 2}
	b, err := wire.Append(nil, &stats)
	require.NoError(t, err)
	got, err := wire.Decode[wire.Stats](b[:len(b)-16])
	require.NoError(t, err)
	stats.OpenFiles, stats.OpenFilesLimit = 0, 0
	require.Equal(t, stats, got)
	_, err = wire.Decode[wire.Stats](b[:len(b)-8])
	require.ErrorIs(t, err, wire.ErrShort)
}

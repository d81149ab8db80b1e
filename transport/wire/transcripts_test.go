package wire_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// The files testdata/transcripts/client-0.12.2-*.json hold frames that the crate iggy 0.11.1-edge.9 sent, which speaks
// protocol 0.12.2; server-0.11-*.json hold sessions of the crate iggy 0.11.0-edge.4 with a server of protocol 0.11.0. They
// were recorded between two processes.

// recorded is a frame of a transcript.
type recorded struct {
	Dir  string `json:"dir"`
	Hex  string `json:"hex"`
	Note string `json:"note"`

	bytes []byte
}

func (r recorded) fromClient() bool { return r.Dir == "c2s" }

func transcript(t testing.TB, path string) []recorded {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var frames []recorded
	require.NoError(t, json.Unmarshal(text, &frames))
	for i := range frames {
		frames[i].bytes, err = hex.DecodeString(frames[i].Hex)
		require.NoError(t, err)
	}
	return frames
}

func transcripts(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/transcripts/" + pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

func TestServerReadsFramesOfTheReferenceClient(t *testing.T) {
	t.Parallel()
	seen := map[wire.Command]int{}
	for _, path := range transcripts(t, "client-0.12.2-*.json") {
		for i, f := range transcript(t, path) {
			if f.fromClient() {
				seen[readRequest(t, f, "%s, frame %d: %s", filepath.Base(path), i, f.Note)]++
			}
		}
	}
	for _, c := range []wire.Command{
		wire.CmdLoginRegister, wire.CmdBindSession, wire.CmdLogout, wire.CmdPing, wire.CmdGetClusterMetadata, wire.CmdGetStream,
		wire.CmdCreateStream, wire.CmdDeleteStream, wire.CmdGetTopic, wire.CmdCreateTopic, wire.CmdGetPartitionRoute,
		wire.CmdSendMessages, wire.CmdPollMessagesDeferred, wire.CmdFetchMessages, wire.CmdCancelDeferred,
		wire.CmdGetConsumerOffset, wire.CmdStoreConsumerOffset, wire.CmdDeleteConsumerOffset, wire.CmdGetConsumerGroup,
		wire.CmdCreateConsumerGroup, wire.CmdDeleteConsumerGroup, wire.CmdJoinConsumerGroup, wire.CmdLeaveConsumerGroup,
		wire.CmdSyncConsumerGroup,
	} {
		require.NotZero(t, seen[c], "no frame of %s", c)
	}
}

// readRequest reads a frame as a server does, wants that it is the same when it is encoded again, and returns its command.
func readRequest(t *testing.T, f recorded, what ...any) wire.Command {
	t.Helper()
	prefix, err := wire.DecodePrefix(f.bytes[:wire.HeaderSize], wire.MaxReplySize)
	require.NoError(t, err, what...)
	require.Equal(t, wire.Prefix{Size: uint32(len(f.bytes)), Kind: wire.FrameRequest}, prefix, what...)
	h, b, err := wire.DecodeRequest(f.bytes)
	require.NoError(t, err, what...)
	require.NoError(t, h.Validate(), what...)
	bodies, known := bodiesByCommand()[h.Carries()]
	require.True(t, known, what...)
	decoded, err := bodies.request(b)
	require.NoError(t, err, what...)
	again, err := wire.AppendRequest(nil, h, decoded)
	require.NoError(t, err, what...)
	require.Equal(t, f.bytes, again, what...)
	switch v := decoded.(type) {
	case *wire.SendMessages:
		verifyBatch(t, v.Batch, v.MessagesCount, what...)
	case *wire.LoginRegister:
		login, token, err := wire.DecodeLogin(b)
		require.NoError(t, err, what...)
		require.Nil(t, token, what...)
		require.Equal(t, v, login, what...)
		require.Equal(t, wire.Version0122, login.Client.Version, what...)
	}
	return h.Carries()
}

// verifyBatch wants a sound batch, whose messages are read and made into the same bytes again.
func verifyBatch(t *testing.T, batch []byte, count uint32, what ...any) {
	t.Helper()
	h, err := wire.VerifyBatch(batch)
	require.NoError(t, err, what...)
	require.Equal(t, count, h.Count, what...)
	var messages []wire.Message
	r := wire.NewRecords(batch)
	for r.Next() {
		m := r.Message()
		require.NoError(t, r.Verify(), what...)
		headers, err := wire.DecodeUserHeaders(nil, m.UserHeaders)
		require.NoError(t, err, what...)
		block, err := wire.AppendUserHeaders(nil, headers)
		require.NoError(t, err, what...)
		require.Equal(t, string(m.UserHeaders), string(block), what...)
		messages = append(messages, m)
	}
	require.NoError(t, r.Err(), what...)
	var producer *wire.Producer
	if h.Idempotent {
		producer = &h.Producer
	}
	again, err := wire.AppendBatch(nil, producer, messages)
	require.NoError(t, err, what...)
	require.Equal(t, batch, again, what...)
}

// changed says whether the body of a command, or the payload of its reply, is another one in protocol 0.11.
func changed(c wire.Command) (request, reply bool) {
	switch c {
	case wire.CmdLoginRegister:
		return true, false
	case wire.CmdGetClusterMetadata, wire.CmdGetStream, wire.CmdGetStreams, wire.CmdCreateStream, wire.CmdGetTopic, wire.CmdGetTopics,
		wire.CmdCreateTopic, wire.CmdGetUser, wire.CmdGetUsers, wire.CmdCreateUser, wire.CmdDescribeOptions, wire.CmdPollMessages:
		return false, true
	}
	return false, false
}

func TestClientReadsFramesOfAnOlderServer(t *testing.T) {
	t.Parallel()
	var requests, replies, evictions, messages int
	for _, path := range transcripts(t, "server-0.11-*.json") {
		var asked wire.Command // each session waits for a reply before it asks again
		for i, f := range transcript(t, path) {
			what := []any{"%s, frame %d: %s", filepath.Base(path), i, f.Note}
			prefix, err := wire.DecodePrefix(f.bytes, wire.MaxReplySize)
			require.NoError(t, err, what...)
			require.EqualValues(t, len(f.bytes), prefix.Size, what...)
			switch prefix.Kind {
			case wire.FrameRequest:
				asked = readOlderRequest(t, f, what...)
				requests++
			case wire.FrameReply:
				messages += readOlderReply(t, f, asked, what...)
				replies++
			default:
				_, err := wire.DecodeEviction(f.bytes)
				require.NoError(t, err, what...)
				evictions++
			}
		}
	}
	require.Greater(t, requests, 100)
	require.Greater(t, replies, 100)
	require.Equal(t, 2, evictions)
	require.Greater(t, messages, 5)
}

func readOlderRequest(t *testing.T, f recorded, what ...any) wire.Command {
	t.Helper()
	h, b, err := wire.DecodeRequest(f.bytes)
	require.NoError(t, err, what...)
	c := h.Carries()
	bodies, known := bodiesByCommand()[c]
	if other, _ := changed(c); other || !known {
		return c
	}
	decoded, err := bodies.request(b)
	require.NoError(t, err, what...)
	again, err := wire.Append(nil, decoded)
	require.NoError(t, err, what...)
	require.Equal(t, string(b), string(again), what...)
	return c
}

// readOlderReply returns the number of messages in the reply.
func readOlderReply(t *testing.T, f recorded, asked wire.Command, what ...any) (messages int) {
	t.Helper()
	h, b, err := wire.DecodeReply(f.bytes)
	require.NoError(t, err, what...)
	code, payload, err := h.Result(b)
	require.NoError(t, err, what...)
	if asked == wire.CmdPollMessages && code == 0 {
		const olderHead = 16
		r := wire.NewRecords(payload[olderHead:])
		for r.Next() {
			require.NoError(t, r.Verify(), what...)
			messages++
		}
		require.NoError(t, r.Err(), what...)
		return messages
	}
	bodies, known := bodiesByCommand()[asked]
	if _, other := changed(asked); other || !known || code != 0 || len(payload) == 0 {
		return 0
	}
	decoded, err := bodies.reply(payload)
	require.NoError(t, err, what...)
	again, err := wire.Append(nil, decoded)
	require.NoError(t, err, what...)
	if asked != wire.CmdGetStats { // an older server leaves out the last two fields
		require.Equal(t, string(payload), string(again), what...)
	}
	return 0
}

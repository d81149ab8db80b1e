package broker_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// What a real client of protocol 0.12.2 has sent, as the codec keeps it. A stand-in answered it, so the sessions and the
// lives of partitions in it are those of the stand-in: the replay puts in those of the broker.
const transcripts = "../../../wire/testdata/transcripts"

func TestARealClientGetsTheRepliesThatItReads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(transcripts, "client-0.12.2-*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	refusals := map[string]map[int]wire.Code{"offsets": {13: wire.CodeConsumerOffsetNotFound}} // it is deleted twice
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "client-0.12.2-"), ".json")
		if name == "refused" {
			continue // it was recorded with a server of another protocol
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newReplay(t, refusals[name]).run(file) })
		})
	}
}

// replay sends the frames of a transcript to a broker.
type replay struct {
	t        *testing.T
	observer *client
	links    map[int]*broker.Link
	sessions map[wire.Uint128]uint64 // by client
	answers  map[string][]byte       // to writes, by client and request
	refusals map[int]wire.Code       // by the place of the request
}

func newReplay(t *testing.T, refusals map[int]wire.Code) *replay {
	return &replay{
		t: t, observer: root(t, newBroker(t)), links: map[int]*broker.Link{}, sessions: map[wire.Uint128]uint64{},
		answers: map[string][]byte{}, refusals: refusals,
	}
}

func (r *replay) run(file string) {
	text, err := os.ReadFile(file)
	require.NoError(r.t, err)
	var entries []struct {
		Dir  string `json:"dir"`
		Conn int    `json:"conn"`
		Hex  string `json:"hex"`
	}
	require.NoError(r.t, json.Unmarshal(text, &entries))
	for i, e := range entries {
		require.Equal(r.t, "c2s", e.Dir)
		frame, err := hex.DecodeString(e.Hex)
		require.NoError(r.t, err)
		r.send(i, e.Conn, frame)
	}
}

// send sends one frame and checks status and shape of the reply.
func (r *replay) send(i, conn int, frame []byte) {
	link := r.links[conn]
	if link == nil {
		link = r.observer.broker.Connect(broker.Peer{Transport: wire.TransportTCP, Address: "127.0.0.1:6000"})
		r.links[conn] = link
	}
	h, body, err := wire.DecodeRequest(frame)
	require.NoError(r.t, err)
	h.Session = r.sessions[h.Client]
	frame = r.observer.frame(h, nil)
	frame = append(frame, r.translate(&h, body)...)
	copy(frame, r.observer.frame(h, nil))
	require.NoError(r.t, wire.SetSize(frame))
	reply, closing := link.Handle(r.t.Context(), frame)
	require.False(r.t, closing, "frame %d, %s", i, h.Carries())
	if h.Command == wire.CmdCancelDeferred {
		require.Empty(r.t, reply)
		return
	}
	got, code, payload := wiretest.Open(r.t, reply)
	require.Equal(r.t, h.Request, got.Request)
	require.NoError(r.t, got.CheckCommit(&h))
	require.Equal(r.t, r.refusals[i], code, "frame %d, %s: %s", i, h.Carries(), code)
	if code != 0 {
		return
	}
	require.NoError(r.t, r.read(&h, payload), "frame %d, %s", i, h.Carries())
	if h.Operation != wire.OpNonReplicated && h.Operation != wire.OpRegister {
		key := fmt.Sprintf("%s %d", h.Client, h.Request)
		if earlier, ok := r.answers[key]; ok {
			require.Equal(r.t, earlier, reply, "frame %d is a repeat", i)
		}
		r.answers[key] = reply
	}
}

// translate puts the lives of the broker's partitions into a request. An ownership that the stand-in named becomes the
// present one.
func (r *replay) translate(h *wire.RequestHeader, body []byte) []byte {
	h.Context.OwnerGeneration = 0
	set := func(partition uint32) { h.Context = r.observer.at(partition) }
	switch h.Carries() {
	case wire.CmdSendMessages:
		set(wiretest.Decode[wire.SendMessages](r.t, body).Partitioning.Partition)
	case wire.CmdPollMessagesDeferred:
		set(wiretest.Decode[wire.PollMessagesDeferred](r.t, body).Partition.ID)
	case wire.CmdGetConsumerOffset:
		set(wiretest.Decode[wire.GetConsumerOffset](r.t, body).Partition.ID)
	case wire.CmdStoreConsumerOffset:
		set(wiretest.Decode[wire.StoreConsumerOffset](r.t, body).Partition.ID)
	case wire.CmdDeleteConsumerOffset:
		set(wiretest.Decode[wire.DeleteConsumerOffset](r.t, body).Partition.ID)
	case wire.CmdFetchMessages:
		f := wiretest.Decode[wire.FetchMessages](r.t, body)
		for i := range f.Targets {
			f.Targets[i].Incarnation, f.Targets[i].OwnerGeneration = r.observer.at(f.Targets[i].Partition).Incarnation, 0
		}
		return r.encode(&f)
	case wire.CmdBindSession:
		b := wiretest.Decode[wire.BindSession](r.t, body)
		b.Session = h.Session
		return r.encode(&b)
	}
	return body
}

func (r *replay) encode(body wire.Body) []byte {
	b, err := wire.Append(nil, body)
	require.NoError(r.t, err)
	return b
}

// as says that a payload has the shape of a type; ifAny says that it may be empty, too.
func as[T any, P interface {
	*T
	wire.Body
}](payload []byte,
) error {
	_, err := wire.Decode[T, P](payload)
	return err
}

func ifAny[T any, P interface {
	*T
	wire.Body
}](payload []byte,
) error {
	_, _, err := wire.DecodeIfAny[T, P](payload)
	return err
}

// read decodes the payload of a reply as a client does.
func (r *replay) read(h *wire.RequestHeader, payload []byte) error {
	switch h.Carries() {
	case wire.CmdLoginRegister:
		got := wiretest.Decode[wire.Registered](r.t, payload)
		r.sessions[h.Client] = got.Session
		return nil
	case wire.CmdBindSession:
		return as[wire.Registered](payload)
	case wire.CmdGetClusterMetadata:
		return as[wire.ClusterMetadata](payload)
	case wire.CmdGetMe:
		return as[wire.ClientDetails](payload)
	case wire.CmdGetStream:
		return ifAny[wire.StreamDetails](payload)
	case wire.CmdCreateStream:
		return as[wire.StreamDetails](payload)
	case wire.CmdGetTopic:
		return ifAny[wire.TopicDetails](payload)
	case wire.CmdCreateTopic:
		return as[wire.TopicDetails](payload)
	case wire.CmdGetPartitionRoute:
		return as[wire.PartitionRoute](payload)
	case wire.CmdSendMessages:
		return as[wire.SentMessages](payload)
	case wire.CmdPollMessagesDeferred:
		return as[wire.PolledMessages](payload)
	case wire.CmdFetchMessages:
		return as[wire.FetchedMessages](payload)
	case wire.CmdGetConsumerOffset:
		return ifAny[wire.ConsumerOffset](payload)
	case wire.CmdGetConsumerGroup:
		return ifAny[wire.GroupDetails](payload)
	case wire.CmdCreateConsumerGroup:
		return as[wire.GroupDetails](payload)
	case wire.CmdSyncConsumerGroup:
		return ifAny[wire.Assignment](payload)
	}
	return as[wire.Empty](payload)
}

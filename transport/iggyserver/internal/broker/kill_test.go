package broker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/disk"
	"github.com/runnel-go/runnel/transport/wire"
)

// killedFolder is the variable that makes the program of the tests a server that sends to itself until it is killed.
const killedFolder = "RUNNEL_TEST_KILLED_FOLDER"

// kills is how often the server is killed.
const kills = 25

// sendUntilKilled is the child: it writes a line for each acknowledged batch and each acknowledged offset.
func sendUntilKilled(dir string) {
	if err := sendFrom(dir); err != nil {
		fmt.Println("error", err)
	}
	os.Exit(1)
}

func sendFrom(dir string) error {
	store, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	b, err := broker.New(broker.Config{PasswordRounds: 1, Store: store})
	if err != nil {
		return err
	}
	c := &sender{link: b.Connect(broker.Peer{}), id: wire.Uint128{Lo: uint64(os.Getpid())}}
	if err := c.begin(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		offset, err := c.put(1 + i%50)
		if err != nil {
			return err
		}
		fmt.Println("batch", offset, 1+i%50)
		if err := c.commit(offset); err != nil {
			return err
		}
		fmt.Println("offset", offset)
	}
}

// sender is a client that has no test to fail.
type sender struct {
	link    *broker.Link
	id      wire.Uint128
	session uint64
	request uint64
	at      wire.PartitionContext
}

func (c *sender) do(h wire.RequestHeader, body wire.Body) ([]byte, error) {
	h.Client, h.Session, h.Context = c.id, c.session, c.at
	if h.Operation != wire.OpRegister {
		c.request++
		h.Request = c.request
	}
	if h.Operation.HasChecksum() {
		h.Checksum = wire.Uint128{Lo: h.Request, Hi: 1}
	}
	frame, err := wire.AppendRequest(nil, h, body)
	if err != nil {
		return nil, err
	}
	reply, _ := c.link.Handle(context.Background(), frame)
	got, payload, err := wire.DecodeReply(reply)
	if err != nil {
		return nil, err
	}
	code, payload, err := got.Result(payload)
	if code != 0 && code != wire.CodeStreamNameAlreadyExists && code != wire.CodeTopicNameAlreadyExists {
		err = fmt.Errorf("%s: %s", h.Carries(), code)
	}
	return payload, err
}

func (c *sender) begin() error {
	payload, err := c.do(wire.RequestHeader{Operation: wire.OpRegister}, &wire.LoginRegister{Client: info(), Username: "iggy", Password: "iggy"})
	if err != nil {
		return err
	}
	registered, err := wire.Decode[wire.Registered](payload)
	if err != nil {
		return err
	}
	c.session = registered.Session
	if _, err := c.do(wire.NewRequest(wire.CmdCreateStream), &wire.CreateStream{Name: "orders"}); err != nil {
		return err
	}
	_, err = c.do(wire.NewRequest(wire.CmdCreateTopic), &wire.CreateTopic{
		Stream: orders, Name: "events", PartitionsCount: 1,
		Options: wire.Options{{Key: wire.OptionSegmentSize, Value: wire.Uint64Value(1 << 20)}},
	})
	if err != nil {
		return err
	}
	payload, err = c.do(wire.NewRequest(wire.CmdGetPartitionRoute), &wire.GetPartitionRoute{Stream: orders, Topic: events})
	if err != nil {
		return err
	}
	route, err := wire.Decode[wire.PartitionRoute](payload)
	c.at.Incarnation = route.Incarnation
	return err
}

func (c *sender) put(n int) (uint64, error) {
	messages := make([]wire.Message, n)
	for i := range messages {
		messages[i] = wire.Message{ID: wire.Uint128{Lo: 1}, Payload: []byte(strings.Repeat("x", 100+i))}
	}
	batch, err := wire.AppendBatch(nil, nil, messages)
	if err != nil {
		return 0, err
	}
	payload, err := c.do(wire.NewRequest(wire.CmdSendMessages), sending(0, uint32(n), batch))
	if err != nil {
		return 0, err
	}
	sent, err := wire.Decode[wire.SentMessages](payload)
	if err != nil {
		return 0, err
	}
	return sent.Confirmations[0].BaseOffset, nil
}

func (c *sender) commit(offset uint64) error {
	_, err := c.do(wire.NewRequest(wire.CmdStoreConsumerOffset), &wire.StoreConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0), Offset: offset,
	})
	return err
}

func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var next, stored uint64 // what was acknowledged at least
	for range kills {
		before := next
		for _, line := range killedAfter(t, dir, 1+random.IntN(300)) {
			var offset, count uint64
			if _, err := fmt.Sscanf(line, "batch %d %d", &offset, &count); err != nil {
				_, err := fmt.Sscanf(line, "offset %d", &stored)
				require.NoError(t, err, line)
				continue
			}
			require.GreaterOrEqual(t, offset, before, "an offset comes twice")
			next = offset + count
			before = next
		}
		next = requireAcknowledged(t, dir, next, stored)
	}
}

// killedAfter runs the child until it has written so many lines or a few more, and returns them.
func killedAfter(t *testing.T, dir string, lines int) (written []string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killedFolder+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break // a line without its end was not acknowledged yet
		}
		written = append(written, line)
		if len(written) == lines {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	require.GreaterOrEqual(t, len(written), lines, "the child ended by itself: %q", written)
	return written
}

// requireAcknowledged looks at what the folder has, and returns the next offset.
func requireAcknowledged(t *testing.T, dir string, next, stored uint64) uint64 {
	t.Helper()
	s := serve(t, dir)
	defer s.stop(t)
	c := root(t, s.Broker)
	var offset uint64
	for {
		got := c.poll(polling(reader, 0, from(wire.FromOffset, offset), 100_000))
		if got.Count == 0 {
			break
		}
		r := wire.NewRecords(got.Records)
		for r.Next() {
			require.NoError(t, r.Verify())
			require.Equal(t, offset, r.Message().Offset)
			offset++
		}
		require.NoError(t, r.Err())
	}
	require.GreaterOrEqual(t, offset, next)
	_, payload := c.tryAt(c.at(0), wire.CmdGetConsumerOffset, &wire.GetConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0),
	})
	if stored > 0 {
		require.GreaterOrEqual(t, wiretest.Decode[wire.ConsumerOffset](t, payload).Stored, stored)
	}
	return offset
}

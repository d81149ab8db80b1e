package iggyrust_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// TestAConsumerSharesAGroupWithTheRustSDK has a consumer and the program as members of one group: each reads half of the
// partitions, nothing is read by both, and when the program leaves the consumer goes on with what it had.
func TestAConsumerSharesAGroupWithTheRustSDK(t *testing.T) {
	each(t, binary, func(t *testing.T, p program, protocol dial.Protocol) {
		const stream, partitions, count = "shared", 4, 100
		server := start(t)
		peer := connect(t, server, protocol)
		peer.createTopic(stream, partitions)
		consumer := iggysource.NewConsumer(connect(t, server, protocol).client, "readers", wire.Named(stream), wire.Named(topic),
			iggysource.Group())
		require.NoError(t, consumer.Init(t.Context()))
		rust := p.member(t, server.ConnectionString(protocol), stream)
		require.Eventually(t, func() bool { return len(consumer.Partitions()) == partitions/2 }, patience, 10*time.Millisecond)

		ours := map[uint32]int{}
		send := func(text string) {
			for id := range uint32(partitions) {
				var messages []wire.Message
				for i := range count {
					messages = append(messages, wire.Message{Payload: fmt.Appendf(nil, "%s %d", text, i)})
				}
				peer.send(stream, id, messages)
			}
		}
		take := func(n int) {
			for range n {
				m, err := consumer.Next(t.Context())
				require.NoError(t, err)
				ours[m.Partition]++
				require.NoError(t, consumer.Commit(t.Context(), m.Checkpoint()))
			}
		}
		send("both")
		take(partitions / 2 * count)
		theirs := rust.take(t, partitions/2*count)
		for id := range uint32(partitions) {
			require.Equal(t, count, ours[id]+theirs[id], "partition %d: %v and %v", id, ours, theirs)
			require.True(t, ours[id] == 0 || theirs[id] == 0, "partition %d: %v and %v", id, ours, theirs)
		}
		rust.leave(t)
		send("one")
		clear(ours)
		take(partitions * count)
		require.Equal(t, map[uint32]int{0: count, 1: count, 2: count, 3: count}, ours, "nothing of before comes again")
		require.NoError(t, consumer.Shutdown(t.Context()))
	})
}

// rustMember is the program as a member of a group.
type rustMember struct {
	cmd   *exec.Cmd
	wait  func() error
	lines *bufio.Scanner
	stdin io.Closer
}

// member starts the program, which has joined when member returns.
func (p program) member(t *testing.T, url, stream string) *rustMember {
	t.Helper()
	cmd, wait := p.command(t, "member", "--url", url, "--name", stream, "--group", "readers")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	m := &rustMember{cmd, wait, bufio.NewScanner(out), stdin}
	require.True(t, m.lines.Scan())
	require.Equal(t, "ready", m.lines.Text())
	return m
}

// take returns how many of the next messages that it reads are of which partition.
func (m *rustMember) take(t *testing.T, n int) map[uint32]int {
	t.Helper()
	got := map[uint32]int{}
	for range n {
		require.True(t, m.lines.Scan())
		var read struct{ Partition uint32 }
		require.NoError(t, json.Unmarshal(m.lines.Bytes(), &read))
		got[read.Partition]++
	}
	return got
}

// leave lets it leave, and wants that it read nothing more.
func (m *rustMember) leave(t *testing.T) {
	t.Helper()
	require.NoError(t, m.stdin.Close())
	require.False(t, m.lines.Scan(), m.lines.Text())
	require.NoError(t, m.wait())
}

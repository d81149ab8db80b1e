package broker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

// TestManyLinksAtOnce has producers, members of a group that come and go, and an administrator at work at the same time.
// Every message has to be served once to the group: members commit what they read before they leave.
func TestManyLinksAtOnce(t *testing.T) {
	t.Parallel()
	const producers, members, sends, partitions = 4, 3, 60, 4
	c := withGroup(t, partitions)
	var all sync.WaitGroup
	for i := range producers {
		all.Go(func() { c.produce(root(t, c.broker), i, sends, partitions) })
	}
	seen := &tally{count: map[string]int{}}
	for range members {
		all.Go(func() { c.consume(root(t, c.broker), seen, producers*sends) })
	}
	all.Go(func() { c.administer(root(t, c.broker), sends) })
	all.Wait()
	require.Len(t, seen.count, producers*sends)
	for text, n := range seen.count {
		require.Equal(t, 1, n, text)
	}
}

// tally counts messages.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (s *tally) add(texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		s.count[text]++
	}
}

func (s *tally) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.count)
}

func (c *client) produce(p *client, id, sends, partitions int) {
	for i := range sends {
		p.put(uint32((id+i)%partitions), fmt.Sprintf("%d/%d", id, i))
	}
}

// consume reads as a member of the group until everything was read; now and then it leaves and joins again.
func (c *client) consume(m *client, seen *tally, total int) {
	for round := 1; seen.len() < total; round++ {
		_, _ = m.try(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
		for _, partition := range m.sync().Partitions {
			m.takeAndCommit(partition, seen)
		}
		if round%5 == 0 {
			m.ok(wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: workers})
		}
	}
}

// takeAndCommit waits a moment for messages of a partition and commits them. Losing the partition in between is fine.
func (c *client) takeAndCommit(partition uint32, seen *tally) {
	p := deferred(polling(groupReads, partition, from(wire.FromNext, 0), 7), uint64(time.Millisecond.Microseconds()), 1)
	code, payload := c.tryAt(c.at(partition), wire.CmdPollMessagesDeferred, p)
	if code != 0 {
		require.Equal(c.t, wire.CodeConsumerGroupPartitionNotOwned, code)
		return
	}
	got := wiretest.Decode[wire.PolledMessages](c.t, payload)
	if got.Count == 0 {
		return
	}
	r := wire.NewRecords(got.Records)
	var last uint64
	for r.Next() {
		last = r.Message().Offset
	}
	code, _ = c.tryAt(got.Context, wire.CmdStoreConsumerOffset, storing(groupReads, partition, last))
	require.Zero(c.t, code, "who has read goes on acknowledging")
	seen.add(payloads(c.t, got.Records))
}

func (c *client) administer(a *client, rounds int) {
	for i := range rounds {
		name := fmt.Sprintf("stream %d", i)
		a.ok(wire.CmdCreateStream, &wire.CreateStream{Name: name})
		a.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: wire.Named(name), Name: "t", PartitionsCount: 3})
		a.ok(wire.CmdGetStats, nil)
		a.ok(wire.CmdGetClients, nil)
		a.ok(wire.CmdDeleteStream, &wire.DeleteStream{Stream: wire.Named(name)})
		other := root(c.t, c.broker)
		other.link.Close()
	}
}

package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

// workers is the group of most tests.
var (
	workers    = wire.GroupOf{Stream: orders, Topic: events, Group: wire.Named("workers")}
	groupReads = wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named("workers")}
)

// withGroup makes a broker with a topic and a group.
func withGroup(t testing.TB, partitions uint32, change ...func(*brokerConfig)) *client {
	t.Helper()
	c := withTopic(t, partitions, change...)
	c.ok(wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	return c
}

// join makes another client that is a member.
func (c *client) join() *client {
	c.t.Helper()
	m := root(c.t, c.broker)
	m.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
	return m
}

// sync asks for the assignment of the client, which has to be a member.
func (c *client) sync() wire.Assignment {
	c.t.Helper()
	return wiretest.Decode[wire.Assignment](c.t, c.ok(wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: workers}))
}

// take reads from a partition for the group and returns the code, the payloads and the context of the reply.
func (c *client) take(at wire.PartitionContext, partition, count uint32) (wire.Code, []string, wire.PartitionContext) {
	c.t.Helper()
	code, payload := c.tryAt(at, wire.CmdPollMessages, polling(groupReads, partition, from(wire.FromNext, 0), count))
	if code != 0 {
		return code, nil, wire.PartitionContext{}
	}
	got := wiretest.Decode[wire.PolledMessages](c.t, payload)
	return 0, payloads(c.t, got.Records), got.Context
}

func TestAGroupIsThereUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 3, func(c *brokerConfig) { c.Limits.Groups = 1 })
	want := wire.GroupDetails{Group: wire.Group{PartitionsCount: 3, Name: "workers"}}
	get := func() wire.GroupDetails {
		return wiretest.Decode[wire.GroupDetails](t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: workers}))
	}
	require.Equal(t, want, get())
	c.refused(wire.CodeConsumerGroupNameAlreadyExists, wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "workers"})
	c.refused(wire.CodeTooManyConsumerGroups, wire.CmdCreateConsumerGroup, &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "more"})
	c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
	c.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
	want.Group.MembersCount, want.Members = 1, []wire.GroupMember{{Partitions: []uint32{0, 1, 2}}}
	require.Equal(t, want, get())
	all := wiretest.Decode[wire.Groups](t, c.ok(wire.CmdGetConsumerGroups, &wire.GetConsumerGroups{Stream: orders, Topic: events}))
	require.Equal(t, []wire.Group{want.Group}, all.Groups)
	me := wiretest.Decode[wire.ClientDetails](t, c.ok(wire.CmdGetMe, nil))
	require.Equal(t, []wire.ClientGroup{{}}, me.Groups)

	c.ok(wire.CmdDeleteConsumerGroup, &wire.DeleteConsumerGroup{GroupOf: workers})
	require.Empty(t, c.ok(wire.CmdGetConsumerGroup, &wire.GetConsumerGroup{GroupOf: workers}))
	for command, body := range map[wire.Command]wire.Body{
		wire.CmdDeleteConsumerGroup: &wire.DeleteConsumerGroup{GroupOf: workers},
		wire.CmdJoinConsumerGroup:   &wire.JoinConsumerGroup{GroupOf: workers},
		wire.CmdSyncConsumerGroup:   &wire.SyncConsumerGroup{GroupOf: workers},
	} {
		c.refused(wire.CodeConsumerGroupIDNotFound, command, body)
	}
	require.Empty(t, wiretest.Decode[wire.ClientDetails](t, c.ok(wire.CmdGetMe, nil)).Groups)
}

func TestWhoIsNotAMemberHasNoAssignment(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 1)
	require.Empty(t, c.ok(wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: workers}))
	c.refused(wire.CodeConsumerGroupMemberNotFound, wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: workers})
	code, _, _ := c.take(c.at(0), 0, 1)
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
}

func TestPartitionsAreSharedOutAndMoveNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 4)
	one := c.join()
	alone := one.sync()
	require.Equal(t, []uint32{0, 1, 2, 3}, alone.Partitions)
	two := c.join()
	shared := one.sync()
	require.Equal(t, []uint32{0, 1}, shared.Partitions)
	require.Equal(t, wire.Assignment{Generation: shared.Generation, Partitions: []uint32{2, 3}}, two.sync())
	require.Greater(t, shared.Generation, alone.Generation)
	three := c.join()
	require.Equal(t, []uint32{0, 1}, one.sync().Partitions)
	require.Equal(t, []uint32{2}, two.sync().Partitions)
	require.Equal(t, []uint32{3}, three.sync().Partitions)
	one.ok(wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: workers})
	require.Equal(t, []uint32{0, 2}, two.sync().Partitions)
	require.Equal(t, []uint32{1, 3}, three.sync().Partitions)
	c.ok(wire.CmdCreatePartitions, &wire.CreatePartitions{Stream: orders, Topic: events, Count: 1})
	require.Equal(t, []uint32{0, 2, 4}, two.sync().Partitions)
	c.ok(wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 3})
	require.Equal(t, []uint32{0}, two.sync().Partitions)
	require.Equal(t, []uint32{1}, three.sync().Partitions)
}

func TestTheFirstReadOfAnOwnerLearnsItsGeneration(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 1)
	c.put(0, "a", "b")
	one := c.join()
	code, got, at := one.take(c.at(0), 0, 1)
	require.Zero(t, code)
	require.Equal(t, []string{"a"}, got)
	require.NotZero(t, at.OwnerGeneration)
	code, _ = one.tryAt(at, wire.CmdStoreConsumerOffset, storing(groupReads, 0, 0))
	require.Zero(t, code)
	code, got, again := one.take(at, 0, 1)
	require.Zero(t, code)
	require.Equal(t, []string{"b"}, got)
	require.Equal(t, at.OwnerGeneration, again.OwnerGeneration)

	at.OwnerGeneration++
	code, _, _ = one.take(at, 0, 1)
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
	code, _ = one.tryAt(at, wire.CmdStoreConsumerOffset, storing(groupReads, 0, 1))
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
	at.OwnerGeneration, at.Incarnation = 0, 1
	code, _, _ = one.take(at, 0, 1)
	require.Equal(t, wire.CodeHistoryUnavailable, code)
	require.Zero(t, c.storedOffset(groupReads, 0), "who is no member may look")
	code, _ = c.tryAt(c.at(0), wire.CmdDeleteConsumerOffset, deleting(groupReads, 0))
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code, "but not change anything")
}

func TestIGG05APartitionMovesWhenItsOwnerHasCommittedWhatItRead(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 2)
	c.put(1, "a", "b", "c")
	one := c.join()
	_, got, at := one.take(c.at(1), 1, 2)
	require.Equal(t, []string{"a", "b"}, got)
	two := c.join()
	require.Equal(t, []uint32{0}, one.sync().Partitions)
	require.Empty(t, two.sync().Partitions, "it is not theirs yet")
	before := two.sync().Generation

	for _, m := range []*client{one, two} {
		code, _, _ := m.take(c.at(1), 1, 1)
		require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
	}
	code, _ := one.tryAt(at, wire.CmdStoreConsumerOffset, storing(groupReads, 1, 0))
	require.Zero(t, code, "the owner goes on acknowledging")
	require.Empty(t, two.sync().Partitions)
	code, _ = one.tryAt(at, wire.CmdStoreConsumerOffset, storing(groupReads, 1, 1))
	require.Zero(t, code)

	require.Equal(t, []uint32{1}, two.sync().Partitions)
	require.Greater(t, two.sync().Generation, before)
	code, got, taken := two.take(c.at(1), 1, 9)
	require.Zero(t, code)
	require.Equal(t, []string{"c"}, got, "the next owner goes on behind what is stored")
	require.Greater(t, taken.OwnerGeneration, at.OwnerGeneration)
	code, _ = one.tryAt(at, wire.CmdStoreConsumerOffset, storing(groupReads, 1, 2))
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
}

// running runs the broker in the bubble of a test.
func (c *client) running(t *testing.T) {
	done := make(chan error)
	go func() { done <- c.broker.Run(t.Context()) }()
	t.Cleanup(func() {
		require.NoError(t, c.broker.Close())
		require.NoError(t, <-done)
	})
}

func TestAPartitionMovesThoughItsOwnerNeverCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withGroup(t, 2)
		c.running(t)
		c.put(1, "a")
		one := c.join()
		code, _, _ := one.take(c.at(1), 1, 1)
		require.Zero(t, code)
		two := c.join()
		for range 29 {
			time.Sleep(time.Second)
			one.ok(wire.CmdPing, nil)
			two.ok(wire.CmdPing, nil)
		}
		require.Empty(t, two.sync().Partitions)
		time.Sleep(2 * time.Second)
		require.Equal(t, []uint32{1}, two.sync().Partitions)
		_, got, _ := two.take(c.at(1), 1, 1)
		require.Equal(t, []string{"a"}, got)
	})
}

func TestAnotherJoinDoesNotPutOffAHandover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withGroup(t, 2)
		c.running(t)
		c.put(1, "a")
		one := c.join()
		code, _, _ := one.take(c.at(1), 1, 1)
		require.Zero(t, code)
		two := c.join()
		time.Sleep(20 * time.Second)
		c.join()
		time.Sleep(12 * time.Second)
		require.Equal(t, []uint32{1}, two.sync().Partitions)
	})
}

func TestTheOffsetsOfAGroupAreDeletedWithIt(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 1, func(c *brokerConfig) { c.Limits.Offsets = 1 })
	c.put(0, "a")
	code, _ := c.join().tryAt(c.at(0), wire.CmdStoreConsumerOffset, storing(groupReads, 0, 0))
	require.Zero(t, code)
	code, _ = c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, storing(reader, 0, 0))
	require.Equal(t, wire.CodeTooManyConsumerOffsets, code)
	c.ok(wire.CmdDeleteConsumerGroup, &wire.DeleteConsumerGroup{GroupOf: workers})
	code, _ = c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, storing(reader, 0, 0))
	require.Zero(t, code)
}

func TestAWaitOfAGroupEndsWhenItsPartitionMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withGroup(t, 2)
		one := c.join()
		f := c.fetching(9, 0, 1)
		f.Consumer, f.WaitMicros = groupReads, 20_000_000
		w := one.start(wire.PartitionContext{}, wire.CmdFetchMessages, f)
		w.waits(t)
		c.join()
		_, code, payload := wiretest.Open(t, <-w.reply)
		require.Zero(t, code)
		sections := wiretest.Decode[wire.FetchedMessages](t, payload).Sections
		require.Zero(t, sections[0].Status)
		require.NotZero(t, sections[0].Context.OwnerGeneration)
		require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, sections[1].Status)
	})
}

func TestAMemberThatIsSilentIsEvicted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withGroup(t, 2)
		c.running(t)
		silent, lively := c.join(), c.join()
		require.Equal(t, []uint32{1}, lively.sync().Partitions)
		for range 35 {
			time.Sleep(time.Second)
			lively.ok(wire.CmdPing, nil)
		}
		require.Equal(t, []uint32{1}, lively.sync().Partitions)
		time.Sleep(2 * time.Second)
		<-silent.link.Done()
		e, err := wire.DecodeEviction(silent.link.Eviction())
		require.NoError(t, err)
		require.Equal(t, wire.Eviction{Client: silent.id, Reason: wire.EvictStaleClient}, e)
		require.Equal(t, []uint32{0, 1}, lively.sync().Partitions)
		c.ok(wire.CmdPing, nil) // who is no member may be silent

		silent.dial()
		silent.ok(wire.CmdBindSession, silent.binding())
		require.Empty(t, silent.ok(wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: workers}))
		silent.ok(wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: workers})
		require.Len(t, silent.sync().Partitions, 1)
	})
}

func TestAMemberThatComesBackSoonKeepsItsPartitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withGroup(t, 2)
		c.running(t)
		one := c.join()
		one.link.Close()
		time.Sleep(2 * time.Second)
		one.dial()
		one.ok(wire.CmdBindSession, one.binding())
		require.Len(t, one.sync().Partitions, 2)
		one.link.Close()
		time.Sleep(5 * time.Second)
		one.dial()
		one.ok(wire.CmdBindSession, one.binding())
		require.Empty(t, one.ok(wire.CmdSyncConsumerGroup, &wire.SyncConsumerGroup{GroupOf: workers}))
	})
}

func TestALogoutLeavesTheGroups(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 2)
	one, two := c.join(), c.join()
	one.ok(wire.CmdLogout, nil)
	require.Equal(t, []uint32{0, 1}, two.sync().Partitions)
}

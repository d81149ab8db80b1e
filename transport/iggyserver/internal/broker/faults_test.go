package broker_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestARenewedPartitionRefusesItsOldLife(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a")
	old := c.at(0)
	require.NoError(t, c.broker.Renew(orders, events, 0))
	code, _ := c.tryAt(old, wire.CmdSendMessages, sending(0, 1, batch(t, nil, "b")))
	require.Equal(t, wire.CodeHistoryUnavailable, code)
	require.Equal(t, uint64(1), c.put(0, "b"))
}

func TestARegeneratedGroupRefusesOldGenerations(t *testing.T) {
	t.Parallel()
	c := withGroup(t, 1)
	c.put(0, "a", "b")
	one := c.join()
	before := one.sync()
	_, _, at := one.take(c.at(0), 0, 1)
	require.NoError(t, c.broker.Regenerate(orders, events, wire.Named("workers")))
	code, _, _ := one.take(at, 0, 1)
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
	require.Greater(t, one.sync().Generation, before.Generation)
	require.Equal(t, before.Partitions, one.sync().Partitions)
	at.OwnerGeneration = 0
	code, got, _ := one.take(at, 0, 1)
	require.Zero(t, code)
	require.Equal(t, []string{"a"}, got)
}

func TestAStoredOffsetMayLieBeyondTheEndOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a", "b", "c")
	code, _ := c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, storing(reader, 0, 2))
	require.Zero(t, code)
	require.NoError(t, c.broker.Truncate(orders, events, 0, 1))
	require.Equal(t, uint64(2), c.storedOffset(reader, 0))
	next := polling(reader, 0, from(wire.FromNext, 0), 9)
	require.Empty(t, c.poll(next).Records)
	require.Equal(t, uint64(1), c.put(0, "d", "e", "f"))
	require.Equal(t, []string{"f"}, payloads(t, c.poll(next).Records))
}

func TestAConnectionIsEvictedForAnyReason(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	for why := wire.EvictNoSession; why <= wire.EvictMalformedLogin; why++ {
		c.link.Evict(why)
		<-c.link.Done()
		e, err := wire.DecodeEviction(c.link.Eviction())
		require.NoError(t, err)
		require.Equal(t, wire.Eviction{Client: c.id, Reason: why}, e)
		c.dial()
		c.ok(wire.CmdBindSession, c.binding())
	}
	nobody := connect(t, c.broker)
	nobody.link.Evict(wire.EvictStaleClient)
	<-nobody.link.Done()
	require.Empty(t, nobody.link.Eviction())
}

func TestFaultsOfWhatIsNotThereAreErrors(t *testing.T) {
	t.Parallel()
	b := withTopic(t, 1).broker
	require.EqualError(t, b.Renew(wire.Named("x"), events, 0), "renew: stream x is not there")
	require.EqualError(t, b.Truncate(orders, wire.Named("x"), 0, 0), "truncate: topic orders/x is not there")
	require.EqualError(t, b.Renew(orders, events, 4), "renew: partition orders/events/4 is not there")
	require.EqualError(t, b.Regenerate(orders, events, wire.ID(4)), "regenerate: group 4 is not there")
	require.EqualError(t, b.Regenerate(wire.ID(9), events, wire.ID(4)), "regenerate: stream 9 is not there")
}

// badLog is a log that has errors.
type badLog struct {
	broker.Log // the span of an empty one

	append func() error
	read   error
	close  error
	span   broker.Span
}

func (l *badLog) Append([]byte) error       { return l.append() }
func (l *badLog) Span() broker.Span         { return l.span }
func (l *badLog) After(uint64) uint64       { return 0 }
func (l *badLog) Close() error              { return l.close }
func (l *badLog) Remove() error             { return l.close }
func (l *badLog) DropSegments(uint32) error { return l.read }
func (l *badLog) Read(dst []byte, _ uint64, _ broker.ReadLimit) ([]byte, uint32, error) {
	return dst, 0, l.read
}

var errDisk = errors.New("disk")

// logs is a store that opens logs and forgets all else.
type logs func(broker.LogSpec) (broker.Log, error)

func (l logs) OpenLog(spec broker.LogSpec) (broker.Log, error) { return l(spec) }
func (l logs) Load(func(string, []byte) error) (uint64, error) { return 0, nil }
func (l logs) Commit(...broker.Change) error                   { return nil }
func (l logs) Prune() error                                    { return nil }

// onLog makes a broker whose partitions have a log.
func onLog(l *badLog) func(*broker.Config) {
	return func(c *broker.Config) {
		c.Store = logs(func(broker.LogSpec) (broker.Log, error) { return l, nil })
	}
}

func TestErrorsOfALogAreTold(t *testing.T) {
	t.Parallel()
	l := &badLog{append: func() error { return errDisk }, read: errDisk}
	c := withTopic(t, 1, onLog(l))
	code, _ := c.tryAt(c.at(0), wire.CmdSendMessages, sending(0, 1, batch(t, nil, "a")))
	require.Equal(t, wire.Code(4010), code)
	code, _ = c.tryAt(c.at(0), wire.CmdPollMessages, polling(reader, 0, from(wire.FromFirst, 0), 1))
	require.Equal(t, wire.Code(4011), code)
	c.refused(wire.CodeError, wire.CmdDeleteSegments, &wire.DeleteSegments{Stream: orders, Topic: events, Count: 1})
	l.close = errDisk
	c.refused(wire.CodeError, wire.CmdDeletePartitions, &wire.DeletePartitions{Stream: orders, Topic: events, Count: 1})
	require.Empty(t, wiretest.Decode[wire.TopicDetails](t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events})).Partitions)
}

func TestTheErrorOfALogIsThatOfClose(t *testing.T) {
	t.Parallel()
	l := &badLog{close: errDisk}
	b, err := broker.New(broker.Config{PasswordRounds: 1, Store: logs(func(broker.LogSpec) (broker.Log, error) { return l, nil })})
	require.NoError(t, err)
	c := root(t, b)
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 1})
	require.ErrorIs(t, b.Close(), errDisk)
	require.NoError(t, b.Close(), "once")
}

func TestATopicWhoseLogsCannotBeOpenedIsNotThere(t *testing.T) {
	t.Parallel()
	var specs []broker.LogSpec
	c := root(t, newBroker(t, func(c *broker.Config) {
		c.Store = logs(func(spec broker.LogSpec) (broker.Log, error) {
			specs = append(specs, spec)
			if spec.Partition == 2 {
				return nil, errDisk
			}
			return &badLog{}, nil
		})
	}))
	c.ok(wire.CmdCreateStream, &wire.CreateStream{Name: "orders"})
	c.refused(wire.CodeError, wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 3})
	require.Empty(t, c.ok(wire.CmdGetTopic, &wire.GetTopic{Stream: orders, Topic: events}))
	require.Len(t, specs, 3)
	require.Equal(t, uint64(1<<30), specs[0].SegmentBytes)
	c.ok(wire.CmdCreateTopic, &wire.CreateTopic{Stream: orders, Name: "events", PartitionsCount: 2})
}

func TestARepeatWaitsForTheWriteThatIsAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, calls := make(chan error), 0
		l := &badLog{append: func() error { calls++; return <-begin }}
		c := withTopic(t, 1, onLog(l))
		h := c.header(wire.CmdSendMessages)
		h.Context = c.at(0)
		frame := c.frame(h, sending(0, 1, batch(t, nil, "a")))
		replies := make(chan []byte)
		for range 2 {
			go func() { replies <- c.send(frame) }()
		}
		synctest.Wait()
		begin <- nil
		one, other := <-replies, <-replies
		require.Equal(t, one, other)
		require.Equal(t, 1, calls, "the repeat stores nothing")

		h.Request = c.counter.Add(1)
		frame = c.frame(h, sending(0, 1, batch(t, nil, "b")))
		for range 2 {
			go func() { replies <- c.send(frame) }()
		}
		synctest.Wait()
		begin <- errDisk
		synctest.Wait()
		begin <- nil
		_, first, _ := wiretest.Open(t, <-replies)
		_, second, _ := wiretest.Open(t, <-replies)
		require.ElementsMatch(t, []wire.Code{4010, 0}, []wire.Code{first, second}, "after a refusal the repeat is tried")
	})
}

// movingLog is a log of one message that does something whenever it is read.
type movingLog struct {
	badLog

	batch []byte
	then  func()
}

func (l *movingLog) Read(dst []byte, _ uint64, _ broker.ReadLimit) ([]byte, uint32, error) {
	l.then()
	return append(dst, l.batch...), 1, nil
}

func TestWhatAMemberReadsWhileItLosesThePartitionIsNotServed(t *testing.T) {
	t.Parallel()
	l := &movingLog{batch: batch(t, nil, "a"), then: func() {}}
	l.span = broker.Span{Next: 1, Segments: 1}
	c := withGroup(t, 1, func(c *broker.Config) {
		c.Store = logs(func(broker.LogSpec) (broker.Log, error) { return l, nil })
	})
	one, two := c.join(), c.join()
	l.then = func() { one.ok(wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: workers}) }
	code, _, _ := one.take(c.at(0), 0, 1)
	require.Equal(t, wire.CodeConsumerGroupPartitionNotOwned, code)
	l.then = func() {}
	code, got, _ := two.take(c.at(0), 0, 1)
	require.Zero(t, code)
	require.Equal(t, []string{"a"}, got)
}

func TestLargeRequestsThatSendNothingAreRefused(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	h := c.header(wire.CmdUpdatePermissions)
	frame := append(c.frame(h, nil), make([]byte, 1<<20+1)...)
	require.NoError(t, wire.SetSize(frame))
	_, code, _ := wiretest.Open(t, c.send(frame))
	require.Equal(t, wire.CodeInvalidCommand, code)
}

func TestConnectionsEndAndSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	c := root(t, newBroker(t))
	c.broker.Disconnect()
	<-c.link.Done()
	require.Nil(t, c.link.Eviction())
	c = root(t, c.broker)
	c.broker.EvictAll(wire.EvictUserInactive)
	<-c.link.Done()
	e, err := wire.DecodeEviction(c.link.Eviction())
	require.NoError(t, err)
	require.Equal(t, wire.Eviction{Client: c.id, Reason: wire.EvictUserInactive}, e)
	c = root(t, c.broker)
	c.broker.ForgetSessions()
	c.refused(wire.CodeUnauthenticated, wire.CmdGetMe, nil)
}

package iggysource

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// awaitPartitions waits until a member has as many partitions. Nothing is handed out meanwhile.
func awaitPartitions(t *testing.T, c *Consumer, n int) []uint32 {
	t.Helper()
	var got []uint32
	require.Eventually(t, func() bool {
		got = c.Partitions()
		return len(got) == n
	}, 30*time.Second, 5*time.Millisecond)
	return got
}

// IGG-02: a member has a cursor for each partition, one without partitions waits, and shutdown stores nothing by itself.
func TestIGG02EachPartitionOfAMemberHasItsOwnCursor(t *testing.T) {
	t.Parallel()
	w := serve(t, 3)
	w.send(0, 0, 10)
	w.send(1, 0, 1000)
	w.send(2, 0, 10)
	first := w.consumer(dial.TCP, Group(), Start(FromFirst()), Count(100))
	got := map[uint32][]string{}
	for range 1020 {
		m := nextOf(t, first)
		got[m.Partition] = append(got[m.Partition], string(m.Payload))
	}
	require.Equal(t, map[uint32][]string{0: texts(0, 0, 10), 1: texts(1, 0, 1000), 2: texts(2, 0, 10)}, got)

	var others []*Consumer
	for range 3 {
		others = append(others, w.consumer(dial.TCP, Group(), Start(FromFirst())))
	}
	syncs := 0
	for _, o := range others {
		syncs += len(o.Partitions())
	}
	require.Zero(t, syncs, "what was read of all partitions is not committed, so none moves")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := others[2].Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "a member without partitions waits")
	require.NoError(t, first.Shutdown(t.Context()))
	for p := range uint32(3) {
		require.Equal(t, -1, w.stored(wire.ConsumerGroup, p), "with manual commits shutdown stores nothing")
	}
	again := nextOf(t, others[0])
	require.Zero(t, again.Offset, "who has it now begins where the offsets say")
}

func TestIGG02AMemberWithoutPartitionsAsksOnceASecond(t *testing.T) {
	t.Parallel()
	alone(t, nil, []Option{Group()}, func(t *testing.T, f *fake, c *Consumer) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second+time.Millisecond)
		defer cancel()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.InDelta(t, 101, f.count("sync"), 1)
		require.Zero(t, c.Stats().Partitions)
	})
}

// IGG-05: a member goes on committing what it was handed out until the server hands the partition over; the next owner begins
// there, and an offset that comes later is refused, counted and not tried again.
func TestIGG05AnOwnerCommitsWhatItHasUntilThePartitionIsHandedOver(t *testing.T) {
	t.Parallel()
	w := serve(t, 2)
	w.send(0, 0, 100)
	w.send(1, 0, 100)
	a := w.consumer(dial.TCP, Group(), Count(100))
	last := map[uint32]Message{}
	for range 200 { // 100 of each, of which 40 are committed
		m := nextOf(t, a)
		last[m.Partition] = m
		if m.Offset == 39 {
			require.NoError(t, a.Commit(t.Context(), m.Checkpoint()))
		}
	}
	b := w.consumer(dial.TCP, Group())
	require.Empty(t, b.Partitions(), "what A has in hand is not B's yet")
	moved := uint32(0)
	if slices.Equal(awaitPartitions(t, a, 1), []uint32{0}) {
		moved = 1
	}
	require.NoError(t, a.Commit(t.Context(), last[moved].Checkpoint()), "A commits on")
	require.Equal(t, []uint32{moved}, awaitPartitions(t, b, 1))
	w.send(moved, 100, 101)
	require.Equal(t, texts(moved, 100, 101), take(t, b, 1), "B begins at the stored offset")

	require.Zero(t, a.Stats().Refused)
	late := last[moved]
	late.Offset = 100
	require.ErrorIs(t, a.Commit(t.Context(), late.Checkpoint()), wire.CodeConsumerGroupPartitionNotOwned)
	require.EqualValues(t, 1, a.Stats().Refused)
	require.Equal(t, 99, w.stored(wire.ConsumerGroup, moved))
}

// IGG-06: an assignment is applied as a difference: one partition, three, one, two. The cursor of one that stays is not reset.
func TestIGG06AnAssignmentIsAppliedAsADifference(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0, 1, 2, 3}, []Option{Group(), Start(FromFirst())}, func(t *testing.T, f *fake, c *Consumer) {
		read := map[uint32]int{}
		round := func(assigned ...uint32) {
			f.set(func() { f.assigned = assigned })
			time.Sleep(2 * syncInterval)
			for _, p := range assigned {
				f.add(p, len(f.logs[p]), len(f.logs[p])+3)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for {
				m, err := c.Next(ctx)
				if err != nil {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					break
				}
				require.EqualValues(t, read[m.Partition], m.Offset, "partition %d", m.Partition)
				read[m.Partition]++
				require.NoError(t, c.Commit(t.Context(), m.Checkpoint()))
			}
			require.Equal(t, assigned, c.Partitions())
		}
		round(0, 1, 2, 3)
		round(2)
		round(1, 2, 3)
		round(2)
		round(2, 3)
		require.Equal(t, map[uint32]int{0: 3, 1: 6, 2: 15, 3: 9}, read)
	})
}

// IGG-07: a group over HTTP is refused before anything is opened; a consumer logs in by itself, and a token that has expired
// leads to one new login.
func TestIGG07OverHTTPAGroupIsRefusedAndAConsumerLogsInByItself(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 3)
	c, err := dial.Client(w.server.ConnectionString(dial.HTTP)) // nobody has logged in
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Shutdown(context.Background())) }()
	group := NewConsumer(c, "reader", stream, topic, Group())
	require.ErrorIs(t, group.Validate(), wire.CodeFeatureUnavailable)
	require.ErrorIs(t, group.Init(t.Context()), wire.CodeFeatureUnavailable)
	p := runnel.New("refused")
	runnel.From(p, JSON[int](group)).To(sink.Discard[int]())
	require.ErrorIs(t, p.Validate(), wire.CodeFeatureUnavailable)
	require.ErrorIs(t, p.Run(t.Context()), wire.CodeFeatureUnavailable)
	require.Equal(t, client.Disconnected, c.State(), "nothing was opened")

	listed := NewConsumer(c, "reader", stream, topic, Partitions(0), Wait(0))
	require.NoError(t, listed.Init(t.Context()))
	require.Equal(t, texts(0, 0, 3), take(t, listed, 3))
	w.server.Faults().ForgetSessions()
	w.send(0, 3, 5)
	require.Equal(t, texts(0, 3, 5), take(t, listed, 2))
	require.NoError(t, listed.Shutdown(t.Context()))
}

func TestAGroupThatIsNotThereIsMadeUnlessThatIsRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	c := NewConsumer(w.client(dial.TCP), "reader", stream, topic, Group(), ExistingGroup())
	require.ErrorIs(t, c.Init(t.Context()), wire.CodeConsumerGroupIDNotFound)
	made := w.consumer(dial.TCP, Group())
	require.Equal(t, []uint32{0}, made.Partitions())
	require.NoError(t, c.Init(t.Context()))
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestAPartitionThatIsTakenAwayIsStoredBeforeItGoes(t *testing.T) {
	t.Parallel()
	w := serve(t, 2)
	w.send(0, 0, 30)
	w.send(1, 0, 30)
	auto := CommitAutomatically(AutoCommit{Interval: time.Hour})
	a := w.consumer(dial.TCP, Group(), auto)
	take(t, a, 60)
	b := w.consumer(dial.TCP, Group(), auto)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { // it asks for the next, so that the last one counts
		_, err := a.Next(ctx)
		ended <- err
	}()
	moved := awaitPartitions(t, b, 1)
	require.Equal(t, 29, w.stored(wire.ConsumerGroup, moved[0]))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Zero(t, b.Stats().Read, "nothing is repeated")
}

func TestALostOwnershipIsReadAnewFromTheStoredOffset(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 20)
	c := w.consumer(dial.TCP, Group(), Count(5), AllowReplay())
	for _, want := range texts(0, 0, 10) {
		m := nextOf(t, c)
		require.Equal(t, want, string(m.Payload))
		if m.Offset == 6 {
			require.NoError(t, c.Commit(t.Context(), m.Checkpoint()))
		}
	}
	require.NoError(t, w.server.Faults().Regenerate(stream, topic, wire.Named("reader")))
	var got []string
	for range 40 {
		m := nextOf(t, c)
		got = append(got, string(m.Payload))
		if m.Offset == 19 && slices.Contains(got, "0:7") {
			break
		}
		if m.Offset == 19 {
			w.send(0, 20, 21) // so that it notices
		}
	}
	require.Contains(t, got, "0:7", "another member may have read from there")
}

func TestAMessageIsHandedOutOnceUnlessReplayIsAllowed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts []Option
		want []string
	}{
		"by default":  {nil, texts(0, 5, 8)},
		"with replay": {[]Option{AllowReplay()}, texts(0, 0, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone(t, []uint32{0}, append(tt.opts, Group()), func(t *testing.T, f *fake, c *Consumer) {
				f.add(0, 0, 5)
				take(t, c, 5)
				f.set(func() { f.assigned = nil })
				time.Sleep(2 * syncInterval)
				require.Empty(t, c.Partitions())
				f.set(func() { f.assigned, f.owner = []uint32{0}, 2 })
				f.add(0, 5, 8)
				require.Equal(t, tt.want, take(t, c, 3))
			})
		})
	}
}

func TestAMemberThatTheGroupHasLostJoinsAgain(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group()}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 5)
		at := nextOf(t, c).Checkpoint()
		require.Equal(t, 1, f.count("join"))
		lost := true
		f.set(func() {
			f.onSync = func() error {
				if lost {
					lost = false
					return coded(wire.CodeConsumerGroupMemberNotFound)
				}
				return nil
			}
			f.owner++
		})
		time.Sleep(2 * syncInterval)
		synctest.Wait()
		require.Equal(t, 2, f.count("join"))
		require.ErrorIs(t, c.Commit(t.Context(), at), wire.CodeConsumerGroupPartitionNotOwned)
		require.Equal(t, texts(0, 1, 5), take(t, c, 4))
		require.EqualValues(t, 4, c.Stats().Dropped, "what was read before was not handed out")
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, 1, f.count("leave"))
	})
}

func TestAJoinWithAnUnknownOutcomeIsFoundOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(0)
		first := true
		f.onJoin = func() error {
			if first {
				first = false
				return &client.Error{Code: wire.CodeOperationUncertain, Operation: 5}
			}
			return nil
		}
		feed := newFeed(f, newConsumer(f, "reader", stream, topic, []Option{Group()}).cfg, orDiscard(nil), "")
		require.ErrorIs(t, feed.join(t.Context()), wire.CodeOperationUncertain)
		require.NoError(t, feed.join(t.Context()))
		require.Equal(t, 1, f.count("resolve"))
	})
}

func TestAnAssignmentThatCannotBeLearntIsToldOnce(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group()}, func(t *testing.T, f *fake, c *Consumer) {
		f.set(func() { f.onSync = func() error { return coded(wire.CodeUnauthorized) } })
		_, err := c.Next(t.Context())
		e := readError(t, err)
		require.False(t, e.Partition.Present)
		require.ErrorIs(t, e, wire.CodeUnauthorized)
		f.add(0, 0, 1)
		require.Equal(t, texts(0, 0, 1), take(t, c, 1), "what it has is read on")
	})
}

func TestAPartitionThatStaysIsReadOnOverARestartOfTheServer(t *testing.T) {
	t.Parallel()
	w := serve(t, 1, iggyserver.Heartbeat(time.Hour))
	w.send(0, 0, 10)
	c := w.consumer(dial.TCP, Group())
	take(t, c, 10)
	w.server.Faults().Disconnect()
	w.send(0, 10, 20)
	require.Equal(t, texts(0, 10, 20), take(t, c, 10))
}

package broker_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/wire"
)

func from(kind wire.StrategyKind, value uint64) wire.PollingStrategy {
	return wire.PollingStrategy{Kind: kind, Value: value}
}

func TestAPollBeginsWhereItsStrategySays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withTopic(t, 1)
		c.put(0, "a", "b", "c")
		time.Sleep(time.Second)
		between := uint64(time.Now().Add(-time.Millisecond).UnixMicro())
		c.put(0, "d", "e")
		tests := map[string]struct {
			from  wire.PollingStrategy
			count uint32
			want  []string
		}{
			"first":                      {from(wire.FromFirst, 0), 2, []string{"a", "b"}},
			"first, with a value":        {from(wire.FromFirst, 4), 2, []string{"a", "b"}},
			"everything":                 {from(wire.FromFirst, 0), 100, []string{"a", "b", "c", "d", "e"}},
			"an offset":                  {from(wire.FromOffset, 1), 3, []string{"b", "c", "d"}},
			"the last offset":            {from(wire.FromOffset, 4), 3, []string{"e"}},
			"beyond the end":             {from(wire.FromOffset, 5), 3, nil},
			"last":                       {from(wire.FromLast, 0), 3, []string{"c", "d", "e"}},
			"last of more than there is": {from(wire.FromLast, 0), 50, []string{"a", "b", "c", "d", "e"}},
			"a time before all":          {from(wire.FromTimestamp, 0), 2, []string{"a", "b"}},
			"a time in between":          {from(wire.FromTimestamp, between), 9, []string{"d", "e"}},
			"a time after all":           {from(wire.FromTimestamp, between+1e7), 9, nil},
			"next without an offset":     {from(wire.FromNext, 0), 2, []string{"a", "b"}},
			"nothing":                    {from(wire.FromFirst, 0), 0, nil},
		}
		for name, tt := range tests {
			got := c.poll(polling(reader, 0, tt.from, tt.count))
			require.Equal(t, tt.want, payloads(t, got.Records), name)
			require.Equal(t, len(tt.want), int(got.Count), name)
			require.Equal(t, uint64(4), got.CurrentOffset, name)
			require.Equal(t, c.at(0), got.Context, name)
		}
	})
}

func TestAPollThatCommitsGoesOnBehindWhatItServed(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a", "b", "c")
	p := polling(reader, 0, from(wire.FromNext, 0), 2)
	require.Equal(t, []string{"a", "b"}, payloads(t, c.poll(p).Records))
	p.AutoCommit = true
	require.Equal(t, []string{"a", "b"}, payloads(t, c.poll(p).Records))
	require.Equal(t, []string{"c"}, payloads(t, c.poll(p).Records))
	require.Empty(t, c.poll(p).Records)
	other := polling(wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(3)}, 0, from(wire.FromNext, 0), 2)
	require.Equal(t, []string{"a", "b"}, payloads(t, c.poll(other).Records))
}

func TestWhatWasDeletedIsLeftOut(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	c.put(0, "a", "b")
	c.ok(wire.CmdDeleteSegments, &wire.DeleteSegments{Stream: orders, Topic: events, Count: 1})
	c.put(0, "c")
	for _, s := range []wire.PollingStrategy{from(wire.FromFirst, 0), from(wire.FromOffset, 0), from(wire.FromNext, 0), from(wire.FromLast, 0)} {
		require.Equal(t, []string{"c"}, payloads(t, c.poll(polling(reader, 0, s, 9)).Records))
	}
}

func TestPollsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	fine := func() *wire.PollMessages { return polling(reader, 0, from(wire.FromFirst, 0), 1) }
	tests := map[string]struct {
		change func(p *wire.PollMessages, at *wire.PartitionContext)
		want   wire.Code
	}{
		"no stream":    {func(p *wire.PollMessages, _ *wire.PartitionContext) { p.Stream = wire.Named("x") }, wire.CodeStreamIDNotFound},
		"no topic":     {func(p *wire.PollMessages, _ *wire.PartitionContext) { p.Topic = wire.Named("x") }, wire.CodeTopicIDNotFound},
		"no partition": {func(p *wire.PollMessages, _ *wire.PartitionContext) { p.Partition.ID = 9 }, wire.CodePartitionNotFound},
		"no partition named": {
			func(p *wire.PollMessages, _ *wire.PartitionContext) { p.Partition = wire.OptionalPartition{} }, wire.CodeInvalidCommand,
		},
		"another life": {func(_ *wire.PollMessages, at *wire.PartitionContext) { at.Incarnation++ }, wire.CodeHistoryUnavailable},
		"no life":      {func(_ *wire.PollMessages, at *wire.PartitionContext) { at.Incarnation = 0 }, wire.CodeHistoryUnavailable},
		"an ownership without a group": {
			func(_ *wire.PollMessages, at *wire.PartitionContext) { at.OwnerGeneration = 1 }, wire.CodeConsumerGroupPartitionNotOwned,
		},
		"no group": {func(p *wire.PollMessages, _ *wire.PartitionContext) {
			p.Consumer.Kind = wire.ConsumerGroup
		}, wire.CodeConsumerGroupIDNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, at := fine(), c.at(0)
			tt.change(p, &at)
			code, _ := c.tryAt(at, wire.CmdPollMessages, p)
			require.Equal(t, tt.want, code)
			code, _ = c.tryAt(at, wire.CmdPollMessagesDeferred, deferred(p, 1000, 1))
			require.Equal(t, tt.want, code, "and if it waits, at once")
		})
	}
}

func TestAReplyHasNoMoreBytesThanAskedForButOneMessage(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1)
	long := string(make([]byte, 1000))
	c.put(0, long, long, long)
	c.put(0, long)
	const head, one = 40 + wire.BatchHeaderSize, wire.MessageHeaderSize + 1000
	tests := map[string]struct {
		most uint32
		from uint64
		want uint32
	}{
		"less than a message":        {wire.MinPollBytes, 0, 1},
		"less than two":              {head + 2*one - 1, 0, 1},
		"two":                        {head + 2*one, 0, 2},
		"a batch":                    {head + 3*one, 0, 3},
		"a batch and a part":         {head + 3*one + wire.BatchHeaderSize + one - 1, 0, 3},
		"two batches":                {head + 3*one + wire.BatchHeaderSize + one, 0, 4},
		"from the middle of a batch": {head + 2*one, 1, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := deferred(polling(reader, 0, from(wire.FromOffset, tt.from), 100), 0, 1)
			p.MaxBytes = tt.most
			_, payload := c.tryAt(c.at(0), wire.CmdPollMessagesDeferred, p)
			got := wiretest.Decode[wire.PolledMessages](t, payload)
			require.Equal(t, tt.want, got.Count)
			require.Len(t, payloads(t, got.Records), int(tt.want))
		})
	}
}

func TestNoReplyIsLargerThanTheBrokerAllows(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 1, func(c *brokerConfig) { c.Limits.ReadBytes = 3000 })
	long := string(make([]byte, 1000))
	for range 5 {
		c.put(0, long)
	}
	require.Equal(t, uint32(2), c.poll(polling(reader, 0, from(wire.FromFirst, 0), 1<<31)).Count)
}

// fetching asks for the first messages of partitions.
func (c *client) fetching(count uint32, partitions ...uint32) *wire.FetchMessages {
	f := wire.FetchMessages{
		Consumer: reader, Stream: orders, Topic: events, TimeoutMicros: 60_000_000, MinCount: 1, Count: count, MaxBytes: 1 << 20,
	}
	for _, p := range partitions {
		f.Targets = append(f.Targets, wire.FetchTarget{
			Partition: p, Strategy: from(wire.FromOffset, 0), MaxBytes: 1 << 20, Incarnation: c.at(p).Incarnation,
		})
	}
	return &f
}

func (c *client) fetch(f *wire.FetchMessages) []wire.FetchSection {
	c.t.Helper()
	return wiretest.Decode[wire.FetchedMessages](c.t, c.ok(wire.CmdFetchMessages, f)).Sections
}

func TestAFetchReadsFromSeveralPartitions(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 3)
	c.put(0, "a", "b")
	c.put(2, "c", "d")
	sections := c.fetch(c.fetching(3, 0, 1, 2))
	require.Len(t, sections, 3)
	want := [][]string{{"a", "b"}, nil, {"c"}}
	next := []uint64{2, 0, 1}
	for i, s := range sections {
		require.Equal(t, uint32(i), s.Partition)
		require.Zero(t, s.Status)
		require.Equal(t, want[i], payloads(t, s.Records))
		require.Equal(t, len(want[i]), int(s.Count))
		require.Equal(t, next[i], s.NextOffset)
		require.Equal(t, c.at(uint32(i)), s.Context)
	}
}

func TestATargetThatCannotBeReadDoesNotKeepOthersFromIt(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2)
	c.put(0, "a")
	f := c.fetching(9, 0, 1)
	f.Targets[1].Incarnation++
	f.Targets = append(f.Targets, wire.FetchTarget{Partition: 7, Strategy: from(wire.FromNext, 0), MaxBytes: 1 << 10})
	f.WaitMicros, f.MinCount = 20_000_000, 9
	sections := c.fetch(f)
	require.Equal(t, []string{"a"}, payloads(t, sections[0].Records))
	require.Equal(t, wire.CodeHistoryUnavailable, sections[1].Status)
	require.Equal(t, wire.CodePartitionNotFound, sections[2].Status)
}

func TestAFetchThatCommitsStoresEachOffset(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2)
	c.put(0, "a", "b", "c")
	c.put(1, "d")
	f := c.fetching(2, 0, 1)
	f.AutoCommit = true
	c.fetch(f)
	require.Equal(t, uint64(1), c.storedOffset(reader, 0))
	_, payload := c.tryAt(c.at(1), wire.CmdGetConsumerOffset, offsetOf(reader, 1))
	require.Empty(t, payload, "nothing was served of the other")
}

func TestOnlyOneMessageOfAFetchMayBeLargerThanAskedFor(t *testing.T) {
	t.Parallel()
	c := withTopic(t, 2)
	long := string(make([]byte, 1000))
	c.put(0, long)
	c.put(1, long)
	f := c.fetching(9, 0, 1)
	f.Targets[0].MaxBytes, f.Targets[1].MaxBytes = wire.MinPollBytes, wire.MinPollBytes
	sections := c.fetch(f)
	require.Equal(t, uint32(1), sections[0].Count)
	require.Zero(t, sections[1].Count)
	require.Zero(t, sections[1].NextOffset)
}

// This test counts what the process allocates, so that it does not run beside others.
func TestAPollTakesRoomForWhatItGetsNotForWhatItsLimitsAllow(t *testing.T) {
	c := withTopic(t, 1)
	for range 8 {
		c.put(0, slices.Repeat([]string{strings.Repeat("x", 1<<10)}, 1000)...)
	}
	at, body := c.at(0), deferred(polling(reader, 0, from(wire.FromFirst, 0), 1), 0, 1)
	body.MaxBytes = 8 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		code, payload := c.tryAt(at, wire.CmdPollMessagesDeferred, body)
		require.Zero(t, code)
		require.Equal(t, uint32(1), wiretest.Decode[wire.PolledMessages](t, payload).Count)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

package iggysource

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestOptionsThatCannotBeAreRefusedWithTheirCodes(t *testing.T) {
	t.Parallel()
	listed := Partitions(0)
	tests := map[string]struct {
		opts []Option
		want wire.Code
	}{
		"no count":                       {[]Option{listed, Count(0)}, wire.CodeInvalidMessagesCount},
		"no least count":                 {[]Option{listed, MinCount(0)}, wire.CodeInvalidMessagesCount},
		"a least count above the count":  {[]Option{listed, Count(5), MinCount(6)}, wire.CodeInvalidMessagesCount},
		"too long a wait":                {[]Option{listed, Wait(601 * time.Second)}, wire.CodeInvalidCommand},
		"a negative wait":                {[]Option{listed, Wait(-1)}, wire.CodeInvalidCommand},
		"too few bytes":                  {[]Option{listed, MaxBytes(343)}, errSize},
		"commits that never come":        {[]Option{listed, CommitAutomatically(AutoCommit{})}, wire.CodeInvalidConfiguration},
		"a negative interval":            {[]Option{listed, CommitAutomatically(AutoCommit{Interval: -1})}, wire.CodeInvalidConfiguration},
		"commits after nothing known":    {[]Option{listed, CommitAutomatically(AutoCommit{Messages: 1, After: 7})}, wire.CodeInvalidConfiguration},
		"neither group nor partitions":   {nil, wire.CodeInvalidConfiguration},
		"group and partitions":           {[]Option{listed, Group()}, wire.CodeInvalidConfiguration},
		"an empty list":                  {[]Option{Partitions()}, wire.CodeInvalidConfiguration},
		"a partition twice":              {[]Option{Partitions(1, 2, 1)}, wire.CodeInvalidConfiguration},
		"too many partitions":            {[]Option{Partitions(make([]uint32, 1001)...)}, wire.CodeInvalidConfiguration},
		"no such strategy":               {[]Option{listed, Start(wire.PollingStrategy{})}, wire.CodeInvalidCommand},
		"no room to read ahead":          {[]Option{listed, PrefetchBytes(0)}, wire.CodeInvalidConfiguration},
		"no messages to read ahead":      {[]Option{listed, PrefetchMessages(0)}, wire.CodeInvalidConfiguration},
		"negative retries":               {[]Option{listed, InitRetries(-1)}, wire.CodeInvalidConfiguration},
		"no time for the last offsets":   {[]Option{listed, OffsetDrainTimeout(0)}, wire.CodeInvalidConfiguration},
		"no time to give a partition up": {[]Option{Group(), RebalanceTimeout(0)}, wire.CodeInvalidConfiguration},
		"an end, used alone":             {[]Option{listed, UntilNow()}, wire.CodeInvalidConfiguration},
		"two ends":                       {[]Option{listed, UntilNow(), Until(time.Now())}, wire.CodeInvalidConfiguration},
		"an option that is nil":          {[]Option{listed, nil}, wire.CodeInvalidConfiguration},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(0)
			c := newConsumer(f, "reader", stream, topic, tt.opts)
			require.ErrorIs(t, c.Init(t.Context()), tt.want)
			require.Zero(t, f.count("sign in"), "nothing is opened")
		})
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	t.Parallel()
	c := newConsumer(newFake(0), "", stream, topic, []Option{Count(0), MaxBytes(1)})
	err := c.Validate()
	require.ErrorIs(t, err, wire.CodeInvalidMessagesCount)
	require.ErrorIs(t, err, errSize)
	require.ErrorIs(t, err, wire.CodeInvalidConfiguration)
	require.ErrorContains(t, err, "the name has 0 bytes")
	require.ErrorIs(t, NewConsumer(nil, "reader", stream, topic, Partitions(0)).Init(t.Context()), wire.CodeInvalidConfiguration)
}

func TestAPipelineTakesNoOtherCommits(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]Option{
		"on read": CommitOnRead(), "by itself": CommitAutomatically(DefaultAutoCommit()), "replay": AllowReplay(),
	} {
		c := newConsumer(newFake(0), "reader", stream, topic, []Option{Partitions(0), opt})
		require.ErrorContains(t, c.Validate(), "a pipeline", name)
		require.NoError(t, c.Init(t.Context()), name)
		require.NoError(t, c.Shutdown(t.Context()))
	}
}

func TestReadsAheadFitIntoTheirBounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts []Option
		want int
	}{
		"by default":          {nil, 16},
		"by bytes":            {[]Option{PrefetchBytes(3 << 20)}, 3},
		"by messages":         {[]Option{PrefetchMessages(5500)}, 5},
		"one at least":        {[]Option{PrefetchBytes(1)}, 1},
		"one of large counts": {[]Option{Count(50_000)}, 1},
		"sixteen at most":     {[]Option{Count(1), MaxBytes(344)}, 16},
		"one on read":         {[]Option{CommitOnRead()}, 1},
	} {
		c := newConsumer(newFake(0), "reader", stream, topic, tt.opts)
		require.Equal(t, tt.want, c.cfg.slots(), name)
	}
}

func TestInitTriesAgainAsOftenAsItIsTold(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Group(), InitRetries(3)}, func(t *testing.T, f *fake, c *Consumer) {
		require.NoError(t, c.Shutdown(t.Context()))
		missing := 3
		f.onJoin = func() error {
			if missing--; missing >= 0 {
				return coded(wire.CodeTopicIDNotFound)
			}
			return nil
		}
		begin := time.Now()
		require.NoError(t, c.Init(t.Context()))
		require.Equal(t, 3*initInterval, time.Since(begin))
		require.NoError(t, c.Shutdown(t.Context()))
		missing = 4
		require.ErrorIs(t, c.Init(t.Context()), wire.CodeTopicIDNotFound)
	})
}

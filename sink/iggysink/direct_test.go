package iggysink

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestASendIsCutIntoRequestsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		at, err := p.Send(t.Context(), texts(numbered(0, 7)...))
		require.NoError(t, err)
		require.Equal(t, [][]string{numbered(0, 3), numbered(3, 6), numbered(6, 7)}, f.requests())
		require.Equal(t, []wire.Confirmation{{BaseOffset: 0}, {BaseOffset: 3}, {BaseOffset: 6}}, at)
		require.Equal(t, Stats{Sent: 7, Confirmed: 7, Requests: 3}, p.Stats())
	}, Direct(BatchLength(3)))
}

func TestARequestHasAThousandMessagesUnlessToldOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		options []Option
		want    []int
	}{
		"by default":    {nil, []int{1000, 1000, 500}},
		"0 is no limit": {[]Option{Direct(BatchLength(0))}, []int{2500}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				_, err := p.Send(t.Context(), texts(numbered(0, 2500)...))
				require.NoError(t, err)
				var got []int
				for _, r := range f.requests() {
					got = append(got, len(r))
				}
				require.Equal(t, c.want, got)
			}, c.options...)
		})
	}
}

func TestNoMessagesAreNoCall(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		at, err := p.Send(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, at)
		require.Empty(t, f.requests())
	})
}

func TestSendsOfEveryKindGoWhereTheySay(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.partitions = 3
		ctx := t.Context()
		for range 4 {
			_, err := p.SendOne(ctx, texts("x")[0])
			require.NoError(t, err)
		}
		_, err := p.SendWithPartitioning(ctx, texts("x"), ByKey([]byte("key")))
		require.NoError(t, err)
		_, err = p.SendTo(ctx, wire.ID(7), wire.Named("other"), texts("x"), ToPartition(2))
		require.NoError(t, err)
		_, err = p.SendTo(ctx, wire.ID(7), wire.Named("other"), texts("x"), wire.Partitioning{})
		require.NoError(t, err)
		var ids []uint32
		for i := range f.requests() {
			ids = append(ids, f.nth(i).to.ID)
		}
		require.Equal(t, []uint32{0, 1, 2, 0, wire.PartitionOfKey([]byte("key"), 3), 2, 0}, ids)
		require.Equal(t, wire.ID(7), f.nth(5).to.Stream)
		require.Equal(t, wire.Named("other"), f.nth(5).to.Topic)
	})
}

func TestAPartitionerWinsOverEverything(t *testing.T) {
	errNo := errors.New("no")
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		_, err := p.SendWithPartitioning(t.Context(), texts("4"), ToPartition(1))
		require.NoError(t, err)
		require.EqualValues(t, 4, f.nth(0).to.ID)
		_, err = p.Send(t.Context(), texts("x", "y"))
		require.ErrorIs(t, err, errNo)
		require.Equal(t, []string{"x", "y"}, payloads(failedOf(t, err).Failed))
	}, PartitionBy(ToPartition(2)), Partitioner(func(stream, topic wire.Identifier, messages []wire.Message) (uint32, error) {
		if stream.Name != "s" || topic.Name != "t" || len(messages) != 1 {
			return 0, errNo
		}
		return uint32(messages[0].Payload[0] - '0'), nil
	}))
}

func TestOverHTTPTheServerChoosesThePartition(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.sessionless = true
	p := of(f)
	require.NoError(t, p.Init(t.Context()))
	key := ByKey([]byte("key"))
	_, err := p.SendWithPartitioning(t.Context(), texts("x"), key)
	require.NoError(t, err)
	at, err := p.Send(t.Context(), texts("x"))
	require.NoError(t, err)
	require.Empty(t, at)
	_, err = p.SendWithPartitioning(t.Context(), texts("x"), ToPartition(3))
	require.NoError(t, err)
	require.Equal(t, []wire.Partitioning{key, Balanced(), ToPartition(3)}, []wire.Partitioning{f.nth(0).by, f.nth(1).by, f.nth(2).by})
}

func TestWhatIsNoPartitioningIsRefusedBeforeItIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		for name, by := range map[string]wire.Partitioning{
			"no key": ByKey(nil), "a long key": ByKey(make([]byte, 256)), "no kind": {Kind: 9},
		} {
			_, err := p.SendWithPartitioning(t.Context(), texts("x"), by)
			require.ErrorIs(t, err, client.ErrArgument, name)
		}
		require.Empty(t, f.requests())
	})
}

func TestLingerIsTheLeastTimeBetweenCalls(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		for range 2 {
			_, err := p.Send(t.Context(), texts("a", "b"))
			require.NoError(t, err)
		}
		pass(4 * time.Millisecond)
		_, err := p.Send(t.Context(), texts("c"))
		require.NoError(t, err)
		pass(time.Second)
		_, err = p.Send(t.Context(), texts("d"))
		require.NoError(t, err)
		var at []time.Duration
		for i := range f.requests() {
			at = append(at, f.nth(i).at)
		}
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{0, 0, 5 * ms, 5 * ms, 10 * ms, 1010 * ms}, at, "chunks do not wait for each other")
	}, Direct(Linger(5*time.Millisecond), BatchLength(1)))
}

func TestWhoWaitsForTheLingerTimeCanBeCanceled(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		_, err := p.Send(t.Context(), texts("a"))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = p.Send(ctx, texts("b"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []string{"b"}, payloads(failedOf(t, err).Failed))
		require.Equal(t, [][]string{{"a"}}, f.requests())
	}, Direct(Linger(time.Hour)))
}

func TestAFailingRequestEndsTheSendWithTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		err       error
		uncertain int
	}{
		"refused":                 {fault(wire.CodeTopicFull), 0},
		"uncertain":               {uncertainOf(5), 2},
		"uncertain over HTTP":     {fault(wire.CodeTransientNotCommitted), 2},
		"the lane is blocked":     {blockedBy(6), 0},
		"not accepted":            {fault(wire.CodeTransientNotAccepted), 0},
		"the client is shut down": {fault(wire.CodeClientShutdown), 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				f.next(nil, c.err)
				messages := texts(numbered(0, 5)...)
				at, err := p.Send(t.Context(), messages)
				failed := failedOf(t, err)
				require.Equal(t, c.err, failed.Cause)
				require.ErrorIs(t, err, client.CodeOf(c.err))
				require.ErrorIs(t, err, wire.CodeProducerSendFailed)
				require.Equal(t, numbered(2, 5), payloads(failed.Failed))
				require.Equal(t, c.uncertain, failed.Uncertain)
				require.Equal(t, []wire.Confirmation{{BaseOffset: 0}}, failed.Committed)
				require.Equal(t, failed.Committed, at)
				require.Equal(t, "s", failed.Stream.Name)
				require.Equal(t, "t", failed.Topic.Name)
				require.Len(t, f.requests(), 2, "nothing is sent behind it")
				require.Equal(t, Stats{Sent: 5, Confirmed: 2, Failed: 3, Uncertain: int64(c.uncertain), Requests: 1}, p.Stats())
			}, Direct(BatchLength(2)))
		})
	}
}

func TestAMissingPartitionIsChosenAnewOnce(t *testing.T) {
	missing := fault(wire.CodePartitionNotFound)
	for name, c := range map[string]struct {
		by    wire.Partitioning
		sends int
	}{
		"balanced": {Balanced(), 2}, "by key": {ByKey([]byte("k")), 2}, "named": {ToPartition(0), 1},
	} {
		for mode, options := range map[string][]Option{"plain": nil, "idempotent": {Idempotent()}} {
			t.Run(name+", "+mode, func(t *testing.T) {
				bubble(t, func(t *testing.T, f *fake, p *Producer) {
					f.next(missing, missing)
					_, err := p.SendWithPartitioning(t.Context(), texts("x"), c.by)
					require.ErrorIs(t, err, wire.CodePartitionNotFound)
					require.Len(t, f.requests(), c.sends)
				}, options...)
			})
		}
	}
}

func TestATopicWithoutPartitionsTakesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.partitions = 0
		_, err := p.Send(t.Context(), texts("x"))
		require.ErrorIs(t, err, wire.CodePartitionNotFound)
		require.Empty(t, f.requests())
	})
}

func TestMessagesGetATimeAndLieTogetherInABatch(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		messages := texts("now", "given", "old")
		messages[1].OriginTimestamp = uint64(time.Now().Add(-time.Hour).UnixMicro())
		messages[2].OriginTimestamp = 5
		_, err := p.Send(t.Context(), messages)
		require.NoError(t, err)
		require.Equal(t, [][]string{{"now", "given"}, {"old"}}, f.requests(), "a batch spans some 71 minutes")
		require.Equal(t, uint64(time.Now().UnixMicro()), f.nth(0).messages[0].OriginTimestamp)
	})
}

func TestARequestIsNoLargerThanTheProtocolHasIt(t *testing.T) {
	t.Parallel()
	large := make([]byte, 40_000_000)
	require.Equal(t, 1, fitting([]wire.Message{{Payload: large}, {Payload: large}}, 1000))
	require.Equal(t, 2, fitting([]wire.Message{{Payload: large[:30_000_000]}, {Payload: large[:30_000_000]}}, 1000))
	require.Equal(t, 1, fitting([]wire.Message{{Payload: make([]byte, 65_000_000)}, {}}, 1000), "the client says what is wrong with it")
}

func TestSendsOutsideTheLifeOfAProducerSaySo(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]Option{"direct": nil, "background": {Background()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := of(newFake(), options...)
				send := func() error {
					_, err := p.Send(t.Context(), texts("x"))
					_, one := p.SendOne(t.Context(), texts("x")[0])
					require.Equal(t, err, one)
					return err
				}
				require.ErrorIs(t, send(), ErrNotInitialized)
				require.NoError(t, p.Init(t.Context()))
				require.NoError(t, send())
				require.NoError(t, p.Shutdown(t.Context()))
				require.ErrorIs(t, send(), wire.CodeProducerClosed)
				require.ErrorIs(t, p.Init(t.Context()), wire.CodeProducerClosed)
				require.NoError(t, p.Shutdown(t.Context()))
			})
		})
	}
}

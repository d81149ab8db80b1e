package iggysink

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func one(t *testing.T, p *Producer, text string) {
	t.Helper()
	at, err := p.SendOne(t.Context(), texts(text)[0])
	require.NoError(t, err)
	require.Empty(t, at, "nothing is confirmed in the background")
}

func TestTheBufferIsWrittenWhenItsTimeHasCome(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		one(t, p, "a")
		pass(3 * time.Millisecond)
		one(t, p, "b")
		pass(time.Minute)
		one(t, p, "c")
		pass(time.Minute)
		require.Equal(t, [][]string{{"a", "b"}, {"c"}}, f.requests())
		require.Equal(t, 5*time.Millisecond, f.nth(0).at, "the time begins with the first send")
		require.Equal(t, time.Minute+8*time.Millisecond, f.nth(1).at)
		require.Equal(t, Stats{Sent: 3, Confirmed: 3, Requests: 2}, p.Stats())
	}, Background(Linger(5*time.Millisecond)))
}

func TestTheBufferIsWrittenWhenItIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		option BackgroundOption
		want   [][]string
	}{
		"by sends": {BatchLength(3), [][]string{{"0", "1", "2"}, {"3", "4", "5"}}},
		"by bytes": {BatchBytes(2*(messageBytes+1) + 1), [][]string{{"0", "1", "2"}, {"3", "4", "5"}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				for _, text := range numbered(0, 7) {
					one(t, p, text)
					synctest.Wait()
				}
				require.Equal(t, c.want, f.requests())
				require.EqualValues(t, 1, p.Stats().Buffered)
				require.EqualValues(t, messageBytes+1, p.Stats().BufferedBytes)
			}, Background(Linger(time.Hour), BatchLength(0), BatchBytes(0), c.option))
		})
	}
}

func TestWithoutLingerSendsAreWrittenAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		one(t, p, "a")
		synctest.Wait()
		one(t, p, "b")
		synctest.Wait()
		one(t, p, "c")
		pass(time.Minute)
		require.Equal(t, [][]string{{"a"}, {"b", "c"}}, f.requests(), "what comes during a write is written together")
		require.Equal(t, time.Second, f.nth(1).at)
	}, Background(Linger(0)), slow(time.Second))
}

// slow makes each send take some time.
func slow(d time.Duration) Option { return fakeOption(func(f *fake) { f.took = d }) }

func TestAdjacentSendsToOnePlaceAreOneRequest(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		send := func(text string, by wire.Partitioning) {
			_, err := p.SendWithPartitioning(t.Context(), texts(text), by)
			require.NoError(t, err)
		}
		f.partitions = 2
		send("a", ByKey([]byte("x")))
		send("b", ByKey([]byte("x")))
		send("c", ByKey([]byte("y")))
		send("d", ToPartition(1))
		send("e", Balanced())
		send("f", ToPartition(1))
		_, err := p.SendTo(t.Context(), wire.Named("s"), wire.Named("u"), texts("g"), ToPartition(1))
		require.NoError(t, err)
		pass(time.Second)
		require.Equal(t, [][]string{{"a", "b"}, {"c"}, {"d", "f"}, {"e"}, {"g"}}, f.requests())
		require.Equal(t, wire.Named("u"), f.nth(4).to.Topic)
	}, Background())
}

func TestCallersMayUseTheirMemoryAgain(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		payload, headers, key := []byte("a"), []byte("h"), []byte("k")
		long := make([]byte, 10_000)
		messages := []wire.Message{{Payload: payload, UserHeaders: headers}, {Payload: long}}
		_, err := p.SendWithPartitioning(t.Context(), messages, ByKey(key))
		require.NoError(t, err)
		require.Zero(t, messages[0].OriginTimestamp, "nothing is written to what is not kept")
		payload[0], headers[0], key[0], long[0] = 'X', 'X', 'X', 'X'
		messages[0] = wire.Message{Payload: []byte("other")}
		_, err = p.SendWithPartitioning(t.Context(), messages[:1], ByKey([]byte("k")))
		require.NoError(t, err)
		pass(time.Second)
		require.Equal(t, []string{"a", string(make([]byte, 10_000)), "other"}, f.nth(0).texts)
		require.Equal(t, "h", string(f.nth(0).messages[0].UserHeaders))
		require.Equal(t, uint64(epoch.UnixMicro()), f.nth(0).messages[0].OriginTimestamp)
		require.Equal(t, "k", string(f.nth(0).by.Key))
	}, Background(), overHTTP())
}

func overHTTP() Option { return fakeOption(func(f *fake) { f.sessionless = true }) }

func TestMemoryThatIsUsedAgainIsNotShared(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		var want []string
		for i := range 50 {
			part := numbered(100*i, 100*i+i)
			want = append(want, part...)
			_, err := p.Send(t.Context(), texts(part...))
			require.NoError(t, err)
		}
		pass(time.Minute)
		var got []string
		for _, r := range f.requests() {
			got = append(got, r...)
		}
		require.Equal(t, want, got)
	}, Background(BatchLength(3)), slow(time.Millisecond))
}

func TestAQueueThatIsFullMakesSendsWaitWhateverTheMode(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		sent := 0
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		for ctx.Err() == nil {
			if _, err := p.SendOne(ctx, texts("x")[0]); err == nil {
				sent++
			}
		}
		require.Equal(t, 10+10+queuedSends, sent, "what is written, the next buffer, and the queue")
		require.EqualValues(t, sent, p.Stats().Sent)
		require.EqualValues(t, sent, p.Stats().Buffered)
		pass(time.Hour)
		require.EqualValues(t, 10, p.Stats().Confirmed)
		one(t, p, "y")
	}, Background(BatchLength(10), FailImmediately()), slow(time.Hour))
}

func TestWithoutRoomASendDoesAsItsModeSays(t *testing.T) {
	const size = messageBytes + 1
	for name, c := range map[string]struct {
		mode []BackgroundOption
		code wire.Code
		took time.Duration
	}{
		"block":                  {nil, 0, 3 * time.Second},
		"block with timeout":     {[]BackgroundOption{BlockWithTimeout(time.Second)}, wire.CodeBackgroundSendTimeout, time.Second},
		"a timeout that is long": {[]BackgroundOption{BlockWithTimeout(time.Minute)}, 0, 3 * time.Second},
		"fail immediately":       {[]BackgroundOption{FailImmediately()}, wire.CodeBackgroundSendBufferOverflow, 0},
	} {
		t.Run(name, func(t *testing.T) {
			options := append([]BackgroundOption{MaxBufferBytes(2*size + 1), Linger(time.Hour)}, c.mode...)
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				one(t, p, "a")
				one(t, p, "b")
				_, err := p.Send(t.Context(), texts("c"))
				require.Equal(t, c.took, time.Since(epoch), "what lingers is written when others wait for room")
				if c.code != 0 {
					require.ErrorIs(t, err, c.code)
				} else {
					require.NoError(t, err)
				}
				_, err = p.Send(t.Context(), texts("x", "y", "z"))
				require.ErrorIs(t, err, wire.CodeBackgroundSendBufferOverflow, "it is larger than all the room")
				require.LessOrEqual(t, p.Stats().BufferedBytes, int64(2*size+1))
			}, Background(options...), slow(3*time.Second))
		})
	}
}

func TestWhoWaitsForRoomCanBeCanceled(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		one(t, p, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Send(ctx, texts("b"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, wire.CodeBackgroundSendTimeout)
		pass(time.Hour)
		require.Equal(t, [][]string{{"a"}}, f.requests())
		require.Zero(t, p.Stats().BufferedBytes)
	}, Background(MaxBufferBytes(messageBytes+1)), slow(time.Minute))
}

func TestZeroMeansNoBound(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		_, err := p.Send(t.Context(), texts(string(make([]byte, 40<<20))))
		require.NoError(t, err)
		pass(time.Second)
		require.EqualValues(t, 1, p.Stats().Confirmed)
	}, Background(MaxBufferBytes(0), MaxInFlight(0), Shards(0), BatchLength(0), BatchBytes(0)))
}

func TestShardsWriteAsManyRequestsAtOnceAsTheyMay(t *testing.T) {
	for name, c := range map[string]struct {
		options []BackgroundOption
		most    int
	}{
		"one shard":             {[]BackgroundOption{MaxInFlight(8)}, 1},
		"one request":           {[]BackgroundOption{Shards(4), BalancedShards()}, 1},
		"two requests":          {[]BackgroundOption{Shards(4), BalancedShards(), MaxInFlight(2)}, 2},
		"no bound":              {[]BackgroundOption{Shards(4), BalancedShards(), MaxInFlight(0)}, 4},
		"ordered, one topic":    {[]BackgroundOption{Shards(4), MaxInFlight(0), Ordered()}, 1},
		"a function, one shard": {[]BackgroundOption{Shards(4), MaxInFlight(0), Sharding(toThird)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				for _, text := range numbered(0, 8) {
					one(t, p, text)
				}
				pass(time.Hour)
				require.Equal(t, c.most, f.most)
				require.EqualValues(t, 8, p.Stats().Confirmed)
			}, Background(append(c.options, BatchLength(1))...), slow(time.Second))
		})
	}
}

func toThird(shards int, _, _ wire.Identifier, _ []wire.Message) int { return shards - 2 }

func TestAShardThatIsNotThereRefusesTheSend(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		_, err := p.Send(t.Context(), texts("x"))
		require.ErrorContains(t, err, "worker 2 of 2")
		_, err = p.SendOne(t.Context(), texts("x")[0])
		require.ErrorContains(t, err, "worker 2 of 2")
	}, Background(Shards(2), Sharding(func(n int, _, _ wire.Identifier, _ []wire.Message) int { return n })))
}

func TestSendsToOneTopicAreWrittenInTheOrderOfTheCalls(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		want := numbered(0, 2000)
		for _, text := range want {
			one(t, p, text)
		}
		require.NoError(t, p.Shutdown(t.Context()))
		var got []string
		for _, r := range f.requests() {
			got = append(got, r...)
		}
		require.Equal(t, want, got)
	}, Background(Shards(4), MaxInFlight(4), BatchLength(7)), slow(time.Millisecond))
}

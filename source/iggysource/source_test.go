package iggysource

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// source returns a source of payloads with a client of its own.
func (w *world) source(opts ...Option) (runnel.Source[string], *Consumer) {
	c := NewConsumer(w.client(dial.TCP), "reader", stream, topic, opts...)
	return Decode(c, payloadOf), c
}

// readAll opens a source at a position and reads to its end.
func readAll[T any](t *testing.T, s runnel.Source[T], from checkpoint.Position) (values []T, pos checkpoint.Position, failed []runnel.Failed) {
	t.Helper()
	r, err := s.Open(t.Context(), runnel.SourceEnv{Name: "iggy", MaxBatch: 7}, from)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	pos = from.Clone()
	if pos == nil {
		pos = checkpoint.Position{}
	}
	for {
		fetch, err := r.Read(t.Context())
		values = append(values, fetch.Values()...)
		failed = append(failed, fetch.Failed...)
		maps.Copy(pos, fetch.Position)
		if err == io.EOF {
			return values, pos, failed
		}
		require.NoError(t, err)
		require.LessOrEqual(t, fetch.Len()+len(fetch.Failed), 7)
	}
}

// IGG-01: a sink fails on the second batch. What is stored is the last offset that was acknowledged, and the second batch comes
// again.
func TestIGG01WhatASinkDidNotTakeIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{"group": {Group()}, "listed": {Partitions(0)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 1)
			w.send(0, 0, 20)
			kind := wire.ConsumerSingle
			if name == "group" {
				kind = wire.ConsumerGroup
			}
			bad := errors.New("bad")
			var got []string
			run := func(fails bool) error {
				src, _ := w.source(append(opts, Count(10), UntilNow())...)
				p := runnel.New("copy", runnel.MaxBatch(10), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(10)))
				runnel.From(p, src).To(sink.Func(func(_ context.Context, v string) error {
					if fails && slices.Contains(texts(0, 10, 20), v) {
						return bad
					}
					got = append(got, v)
					return nil
				}))
				return p.Run(t.Context())
			}
			require.ErrorIs(t, run(true), bad)
			require.Equal(t, texts(0, 0, 10), got)
			require.LessOrEqual(t, w.stored(kind, 0), 9)
			stored := w.stored(kind, 0)
			got = nil
			require.NoError(t, run(false))
			require.Equal(t, texts(0, stored+1, 20), got)
			require.Equal(t, 19, w.stored(kind, 0))
		})
	}
}

func TestListedPartitionsBeginWhereTheStoreSaysAndTheirOffsetsAreACopy(t *testing.T) {
	t.Parallel()
	w := serve(t, 2)
	w.send(0, 0, 20)
	w.send(1, 0, 20)
	src, _ := w.source(Partitions(0, 1), UntilNow())
	values, end, _ := readAll(t, src, nil)
	require.Len(t, values, 40)
	require.Equal(t, -1, w.stored(wire.ConsumerSingle, 0), "nobody has committed")

	from := checkpoint.Position{}
	for p, begin := range map[string]uint64{"0": 15, "1": 18} {
		next, under, err := decodeToken(end[p])
		require.NoError(t, err)
		require.EqualValues(t, 20, next)
		from[p] = encodeToken(begin, under)
	}
	again, _, _ := readAll(t, src, from)
	slices.Sort(again)
	require.Equal(t, append(texts(0, 15, 20), texts(1, 18, 20)...), again)
}

func TestAPositionOfAnotherLifeIsNotReadOn(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 20)
	src, _ := w.source(Partitions(0))
	r, err := src.Open(t.Context(), runnel.SourceEnv{}, checkpoint.Position{"0": encodeToken(5, wire.PartitionContext{Incarnation: 99})})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	_, err = r.Read(t.Context())
	require.ErrorIs(t, err, wire.CodeHistoryUnavailable)

	for name, token := range map[string][]byte{"empty": {}, "text": []byte("text"), "cut": encodeToken(5, wire.PartitionContext{Incarnation: 9})[:10]} {
		_, err := Decode(NewConsumer(w.client(dial.TCP), "reader", stream, topic, Partitions(0)), payloadOf).
			Open(t.Context(), runnel.SourceEnv{}, checkpoint.Position{"0": token})
		require.Error(t, err, name)
	}
}

func TestASourceBeginsWhereItsStartOptionSays(t *testing.T) {
	t.Parallel()
	clock := newTickingClock()
	w := serve(t, 1, iggyserver.WithClock(clock))
	w.send(0, 0, 10)
	late := clock.advance()
	w.send(0, 10, 20)
	require.NoError(t, w.sender.StoreOffset(t.Context(), wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}, part(0), 5,
		wire.PartitionContext{}))
	for name, tt := range map[string]struct {
		start wire.PollingStrategy
		want  int
	}{
		"behind the stored offset": {FromNext(), 6},
		"first":                    {FromFirst(), 0},
		"last":                     {FromLast(), 17}, // with a count of 3
		"offset":                   {FromOffset(12), 12},
		"time":                     {FromTime(late), 10},
		"a time to come":           {FromTime(late.Add(time.Hour)), 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, _ := w.source(Partitions(0), Start(tt.start), Count(3), UntilNow())
			r, err := src.Open(t.Context(), runnel.SourceEnv{}, nil)
			require.NoError(t, err)
			begin := r.(runnel.Starter).Start() //nolint:forcetypeassert // it has the ability
			require.NoError(t, r.Close(t.Context()))
			next, _, err := decodeToken(begin["0"])
			require.NoError(t, err)
			require.EqualValues(t, tt.want, next)
			values, _, _ := readAll(t, src, nil)
			require.Equal(t, texts(0, tt.want, 20), values)
		})
	}
}

func TestAGroupKeepsWhereAPartitionBeginsThatItsStartOptionChose(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 20)
	src, _ := w.source(Group(), Start(FromLast()), Count(5))
	r, err := src.Open(t.Context(), runnel.SourceEnv{}, nil)
	require.NoError(t, err)
	fetch, err := r.Read(t.Context())
	require.NoError(t, err)
	require.Zero(t, fetch.Len())
	require.NotNil(t, fetch.Drain)
	require.NoError(t, r.Commit(t.Context(), fetch.Position))
	fetch.Drain(nil)
	require.Equal(t, 14, w.stored(wire.ConsumerGroup, 0))
	fetch, err = r.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, texts(0, 15, 20), fetch.Values())
	require.NoError(t, r.Close(t.Context()))

	w.send(0, 20, 22)
	again, _ := w.source(Group(), Start(FromLast()), Count(5), UntilNow())
	values, _, _ := readAll(t, again, nil)
	require.Equal(t, texts(0, 15, 22), values, "the next start does not choose anew")
}

func TestASourceEndsBeforeATime(t *testing.T) {
	t.Parallel()
	clock := newTickingClock()
	w := serve(t, 2, iggyserver.WithClock(clock))
	w.send(0, 0, 10)
	late := clock.advance()
	w.send(0, 10, 20)
	src, _ := w.source(Partitions(0, 1), Start(FromFirst()), Until(late))
	values, _, _ := readAll(t, src, nil)
	require.Equal(t, texts(0, 0, 10), values)
}

func TestATimeToComeIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 10)
	clock := runneltest.NewClock(time.Now())
	src, _ := w.source(Partitions(0), Start(FromFirst()), Until(clock.Now().Add(time.Hour)))
	r, err := src.Open(t.Context(), runnel.SourceEnv{Clock: clock}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	fetch, err := r.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, texts(0, 0, 10), fetch.Values())
	go clock.Advance(time.Hour)
	_, err = r.Read(t.Context())
	require.Equal(t, io.EOF, err)
}

func TestARecordHasTimeHeadersAndPlaceOfItsMessage(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	m, err := client.NewMessage([]byte("x"),
		client.Header("text", wire.StringValue("a")), client.Header("raw", wire.RawValue([]byte{0, 255})),
		client.Header("number", wire.Int16Value(-7)), client.Header("flag", wire.BoolValue(true)),
		client.Header("part", wire.Float32Value(0.5)), wire.UserHeader{Key: wire.Uint8Value(9), Value: wire.StringValue("key")})
	require.NoError(t, err)
	m.OriginTimestamp = 1_700_000_000_000_001
	plain := wire.Message{Payload: []byte("y"), OriginTimestamp: m.OriginTimestamp}
	_, _, err = w.sender.Send(t.Context(), part(0), nil, []wire.Message{plain, m, plain})
	require.NoError(t, err)
	src, _ := w.source(Partitions(0))
	r, err := src.Open(t.Context(), runnel.SourceEnv{Name: "in"}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	fetch, err := r.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"y", "x", "y"}, fetch.Values())
	require.Empty(t, fetch.Meta(0).Headers)
	require.Empty(t, fetch.Meta(2).Headers)
	meta := fetch.Meta(1)
	require.Nil(t, meta.Key)
	require.True(t, meta.Time.Equal(time.UnixMicro(1_700_000_000_000_001)))
	require.Equal(t, "in/0@1", meta.Origin.String())
	got := map[string]string{}
	for _, h := range meta.Headers {
		got[h.Name] = string(h.Value)
	}
	require.Equal(t, map[string]string{"text": "a", "raw": "\x00\xff", "number": "-7", "flag": "true", "part": "0.5", "9": "key"}, got)
}

func TestMessagesThatCannotBeDecodedOrDecryptedAreFailedRecords(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	key := client.Encrypt(make([]byte, wire.KeySize))
	sealing := w.client(dial.TCP, key)
	send := func(c *client.Client, payload string) {
		_, _, err := c.Send(t.Context(), part(0), nil, []wire.Message{{Payload: []byte(payload)}})
		require.NoError(t, err)
	}
	send(sealing, `{"n":1}`)
	send(w.sender, `{"n":2}`) // as it is
	send(sealing, `{"n":`)
	send(sealing, `{"n":4}`)
	type row struct{ N int }
	c := NewConsumer(w.client(dial.TCP, key), "reader", stream, topic, Partitions(0), UntilNow())
	rows, pos, failed := readAll(t, JSON[row](c), nil)
	require.Equal(t, []row{{1}, {4}}, rows)
	next, _, err := decodeToken(pos["0"])
	require.NoError(t, err)
	require.EqualValues(t, 4, next)
	require.Len(t, failed, 2)
	require.Equal(t, []byte(`{"n":2}`), failed[0].Value)
	require.ErrorIs(t, failed[0].Err, wire.CodeCannotDecryptData)
	require.EqualValues(t, 1, failed[0].Origin.Offset)
	require.Equal(t, []byte(`{"n":`), failed[1].Value)
	var syntax *json.SyntaxError
	require.ErrorAs(t, failed[1].Err, &syntax)
}

func TestWhileAPipelineReadsTheConsumerIsItsOwn(t *testing.T) {
	t.Parallel()
	w := serve(t, 1)
	w.send(0, 0, 1)
	_, c := w.source(Partitions(0))
	r, err := c.Open(t.Context(), runnel.SourceEnv{}, nil)
	require.NoError(t, err)
	_, err = c.Next(t.Context())
	require.ErrorIs(t, err, ErrInPipeline)
	require.ErrorIs(t, c.Init(t.Context()), ErrInPipeline)
	require.ErrorIs(t, c.Commit(t.Context(), Checkpoint{}), ErrInPipeline)
	require.ErrorIs(t, c.Seek(t.Context(), 0, FromFirst()), ErrInPipeline)
	require.ErrorIs(t, c.StoreOffset(t.Context(), 0, 0), ErrInPipeline)
	require.ErrorIs(t, c.Shutdown(t.Context()), ErrInPipeline)
	_, err = c.Open(t.Context(), runnel.SourceEnv{}, nil)
	require.ErrorIs(t, err, ErrInPipeline)
	fetch, err := r.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0:0", string(fetch.Values()[0].Payload))
	require.Equal(t, map[string]int64{"0": 0}, r.(runnel.Lagger).Lag()) //nolint:forcetypeassert // it has the ability
	require.NoError(t, r.Close(t.Context()))
	require.NoError(t, c.Init(t.Context()), "afterwards it can be used alone")
	_, err = c.Open(t.Context(), runnel.SourceEnv{}, nil)
	require.Error(t, err)
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestTokensCompareWithinALifeAndAnOwnership(t *testing.T) {
	t.Parallel()
	one, other := wire.PartitionContext{Incarnation: 1, OwnerGeneration: 5}, wire.PartitionContext{Incarnation: 1, OwnerGeneration: 6}
	require.Negative(t, compareTokens(encodeToken(1, one), encodeToken(2, one)))
	require.Positive(t, compareTokens(encodeToken(3, one), encodeToken(2, one)))
	require.Zero(t, compareTokens(encodeToken(1, one), encodeToken(2, other)))
	require.Zero(t, compareTokens(encodeToken(1, one), []byte("x")))
}

package iggysink

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestInitMakesWhatIsMissing(t *testing.T) {
	t.Parallel()
	persisted := []Option{
		Partitions(3), TopicDurability(client.Persisted), TopicOptions(client.TopicOptions{MessageExpiry: time.Hour}),
	}
	for name, c := range map[string]struct {
		options []Option
		has     []string // of stream and topic
		refuse  map[string]wire.Code
		want    []string
		err     wire.Code
	}{
		"both are there":       {has: []string{"s", "t"}, want: []string{"SignIn", "GetStream", "GetTopic"}},
		"the topic is missing": {has: []string{"s"}, want: []string{"SignIn", "GetStream", "GetTopic", "CreateTopic 1  0s"}},
		"both are missing": {
			options: persisted,
			want:    []string{"SignIn", "GetStream", "CreateStream", "GetTopic", "CreateTopic 3 persisted 1h0m0s"},
		},
		"somebody makes them at the moment": {
			refuse: map[string]wire.Code{
				"CreateStream": wire.CodeStreamNameAlreadyExists, "CreateTopic 1  0s": wire.CodeTopicNameAlreadyExists,
			},
			want: []string{"SignIn", "GetStream", "CreateStream", "GetTopic", "CreateTopic 1  0s"},
		},
		"a stream is not to be made": {
			options: []Option{KeepStream()}, want: []string{"SignIn", "GetStream"}, err: wire.CodeStreamIDNotFound,
		},
		"a topic is not to be made": {
			options: []Option{KeepTopic()}, has: []string{"s"}, want: []string{"SignIn", "GetStream", "GetTopic"},
			err: wire.CodeTopicIDNotFound,
		},
		"the login is refused": {
			refuse: map[string]wire.Code{"SignIn": wire.CodeInvalidCredentials}, want: []string{"SignIn"},
			err: wire.CodeInvalidCredentials,
		},
		"the right to look is missing": {
			refuse: map[string]wire.Code{"GetStream": wire.CodeUnauthorized}, want: []string{"SignIn", "GetStream"},
			err: wire.CodeUnauthorized,
		},
		"the right to make it is missing": {
			refuse: map[string]wire.Code{"CreateStream": wire.CodeUnauthorized},
			want:   []string{"SignIn", "GetStream", "CreateStream"}, err: wire.CodeUnauthorized,
		},
		"an idempotent one takes a number": {
			options: []Option{Idempotent()}, has: []string{"s", "t"},
			want: []string{"SignIn", "GetStream", "GetTopic", "NextProducerID"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.streams, f.topics = map[string]bool{}, map[string]bool{}
			for _, is := range c.has {
				f.streams[is], f.topics[is] = true, true
			}
			for call, code := range c.refuse {
				f.refuse[call] = fault(code)
			}
			p := of(f, c.options...)
			err := p.Init(t.Context())
			require.Equal(t, c.want, f.calls)
			if c.err != 0 {
				require.ErrorIs(t, err, c.err)
				_, err = p.Send(t.Context(), texts("x"))
				require.ErrorIs(t, err, ErrNotInitialized)
				return
			}
			require.NoError(t, err)
			require.NoError(t, p.Init(t.Context()), "again")
			require.Equal(t, c.want, f.calls, "again is no call")
		})
	}
}

func TestWhatHasANumberIsNotMade(t *testing.T) {
	t.Parallel()
	f := newFake()
	err := newProducer(f, wire.ID(8), wire.Named("t"), nil).Init(t.Context())
	require.ErrorIs(t, err, wire.CodeStreamIDNotFound)
	err = newProducer(f, wire.Named("s"), wire.ID(8), nil).Init(t.Context())
	require.ErrorIs(t, err, wire.CodeTopicIDNotFound)
	require.Equal(t, []string{"SignIn", "GetStream", "SignIn", "GetStream", "GetTopic"}, f.calls)
}

func TestInitMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := of(f, Background())
	f.refuse["SignIn"] = fault(wire.CodeCannotEstablishConnection)
	require.ErrorIs(t, p.Init(t.Context()), wire.CodeCannotEstablishConnection)
	delete(f.refuse, "SignIn")
	require.NoError(t, p.Init(t.Context()))
	require.NoError(t, p.Shutdown(t.Context()))
}

func TestInitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := of(newFake())
	p.changing <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Init(ctx), context.Canceled)
	require.ErrorIs(t, p.Shutdown(ctx), context.Canceled)
}

func TestMistakesAreToldAllAtOnce(t *testing.T) {
	t.Parallel()
	p := NewProducer(nil, wire.Named("s"), wire.Named("t"),
		nil, Log(nil), Partitions(1001), PartitionBy(ByKey(nil)), Partitioner(nil),
		Background(BatchLength(-1), BatchBytes(-1), Linger(-1), Shards(-1), MaxInFlight(-1), MaxBufferBytes(-1), BlockWithTimeout(0),
			Sharding(nil), OnError(nil)))
	for _, err := range []error{p.Validate(), p.Init(t.Context())} {
		for _, part := range []string{
			"s/t", "an option is nil", "Log has no logger", "Partitions(1001)", "PartitionBy", "Partitioner has no function", "the client is nil",
			"BatchLength(-1)", "BatchBytes(-1)", "Linger(-1ns)", "Shards(-1)", "MaxInFlight(-1)", "MaxBufferBytes(-1)", "BlockWithTimeout(0s)",
			"Sharding has no function", "OnError has no function",
		} {
			require.ErrorContains(t, err, part)
		}
	}
	require.ErrorContains(t, of(newFake(), Direct(BatchLength(-1), Linger(-1))).Validate(), "Linger(-1ns)")
	require.NoError(t, of(newFake(), Background(BatchLength(0), BatchBytes(0), Linger(0), Shards(0), MaxInFlight(0), MaxBufferBytes(0))).Validate())
}

func TestAnIdempotentProducerNeedsSessions(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.sessionless = true
	p := of(f, Idempotent())
	require.ErrorIs(t, p.Validate(), wire.CodeFeatureUnavailable)
	require.ErrorIs(t, p.Init(t.Context()), wire.CodeFeatureUnavailable)
	require.Empty(t, f.calls)
}

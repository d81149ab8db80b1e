package iggysink

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// writeAll writes records through a sink of a producer, and returns the error of Write.
func writeAll[T any](t *testing.T, sink runnel.Sink[T], records ...runnel.Record[T]) error {
	t.Helper()
	w, err := sink.Open(t.Context(), runnel.SinkEnv{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	var values []T
	var meta []runnel.Meta
	for _, r := range records {
		values, meta = append(values, r.Value), append(meta, r.Meta)
	}
	refused := w.Write(t.Context(), runnel.NewBatch(values, meta))
	require.NoError(t, w.Flush(t.Context()))
	require.NoError(t, w.Close(t.Context()))
	return refused
}

func TestAMessageIsWhatTheEncoderMakesOfARecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		id := wire.Uint128{Hi: 1, Lo: 2}
		headers := []wire.UserHeader{client.Header("n", wire.Uint64Value(7))}
		require.NoError(t, writeAll(t, of(f), runnel.Record[Message]{
			Value: Message{ID: id, Payload: []byte("text"), Headers: headers, Time: time.UnixMicro(1234)},
			Meta:  runnel.Meta{Headers: runnel.Headers{{Name: "other", Value: []byte("x")}}},
		}, runnel.Record[Message]{}))
		m := f.nth(0).messages[0]
		require.Equal(t, id, m.ID)
		require.Equal(t, "text", string(m.Payload))
		require.EqualValues(t, 1234, m.OriginTimestamp)
		got, err := client.Headers(m)
		require.NoError(t, err)
		require.Equal(t, headers, got)
		require.Equal(t, uint64(epoch.UnixMicro()), f.nth(1).messages[0].OriginTimestamp, "in a request of its own: its time is far away")
	})
}

func TestHeadersAreThoseOfTheMetadataUnlessTheEncoderHasSome(t *testing.T) {
	t.Parallel()
	f := newFake()
	meta := runnel.Meta{Headers: runnel.Headers{{Name: "b", Value: []byte{0, 1}}, {Name: "a", Value: []byte("x")}}}
	require.NoError(t, writeAll(t, of(f),
		runnel.Record[Message]{Meta: meta},
		runnel.Record[Message]{Meta: meta, Value: Message{Headers: []wire.UserHeader{}}}))
	got, err := client.Headers(f.nth(0).messages[0])
	require.NoError(t, err)
	require.Equal(t, []wire.UserHeader{client.Header("a", wire.RawValue([]byte("x"))), client.Header("b", wire.RawValue([]byte{0, 1}))}, got)
	require.Empty(t, f.nth(0).messages[1].UserHeaders)
}

func TestWhatIggyCannotHoldIsAnErrorOfTheRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	header := func(name string, value []byte) runnel.Meta {
		return runnel.Meta{Headers: runnel.Headers{{Name: name, Value: value}}}
	}
	for name, c := range map[string]struct {
		meta    runnel.Meta
		message Message
		want    string
	}{
		"a header without a name":    {meta: header("", []byte("x")), want: "name"},
		"a header with a long name":  {meta: header(long, []byte("x")), want: "name"},
		"a header without a value":   {meta: header("n", nil), want: "value"},
		"a header with a long value": {meta: header("n", []byte(long)), want: "value"},
		"a header that is there twice": {meta: runnel.Meta{Headers: runnel.Headers{
			{Name: "n", Value: []byte("x")}, {Name: "n", Value: []byte("y")},
		}}, want: "once"},
		"a header of the encoder": {message: Message{Headers: []wire.UserHeader{client.Header("", wire.BoolValue(true))}}, want: "name"},
		"a long key":              {message: Message{Key: []byte(long)}, want: "key of 256 bytes"},
		"a long key of metadata":  {meta: runnel.Meta{Key: []byte(long)}, want: "key of 256 bytes"},
		"a large payload":         {message: Message{Payload: make([]byte, wire.MaxPayloadSize+1)}, want: "64000001 bytes"},
		"a time before 1970":      {message: Message{Time: time.Unix(-1, 0)}, want: "1970"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			err := writeAll(t, of(f, KeysFromMetadata()), runnel.Record[Message]{Value: c.message, Meta: c.meta}, runnel.Record[Message]{})
			var batch *runnel.BatchError[Message]
			require.ErrorAs(t, err, &batch)
			require.Len(t, batch.Failed, 1)
			require.ErrorContains(t, batch.Errs[0], c.want)
			require.ErrorIs(t, batch.Errs[0], client.ErrArgument)
			require.False(t, runnel.Retryable(batch.Errs[0]))
			require.Len(t, f.requests(), 1, "the other one is written")
		})
	}
}

func TestRecordsGoToThePartitionOfTheirKey(t *testing.T) {
	t.Parallel()
	const partitions = 5
	keyed := func(key, metaKey string) runnel.Record[Message] {
		return runnel.Record[Message]{Value: Message{Payload: []byte(key + "/" + metaKey), Key: []byte(key)}, Meta: runnel.Meta{Key: []byte(metaKey)}}
	}
	of255 := strings.Repeat("k", 255)
	for name, c := range map[string]struct {
		options []Option
		want    map[string]uint32
	}{
		"of the encoder": {nil, map[string]uint32{"x/y": wire.PartitionOfKey([]byte("x"), partitions), "/y": 4, "/": 4}},
		"of metadata too": {[]Option{KeysFromMetadata()}, map[string]uint32{
			"x/y": wire.PartitionOfKey([]byte("x"), partitions), "/y": wire.PartitionOfKey([]byte("y"), partitions), "/": 4,
			of255 + "/": wire.PartitionOfKey([]byte(of255), partitions),
		}},
		"unless a function chooses": {[]Option{Partitioner(func(_, _ wire.Identifier, m []wire.Message) (uint32, error) {
			return uint32(len(m[0].Payload)), nil
		})}, map[string]uint32{"x/y": 3, "/y": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.partitions = partitions
			var records []runnel.Record[Message]
			for text := range c.want {
				key, metaKey, _ := strings.Cut(text, "/")
				records = append(records, keyed(key, metaKey), keyed(key, metaKey))
			}
			require.NoError(t, writeAll(t, of(f, append(c.options, PartitionBy(ToPartition(4)))...), records...))
			got := map[string]uint32{}
			places := map[uint32]bool{}
			for i, r := range f.requests() {
				require.False(t, places[f.nth(i).to.ID], "one request for each partition")
				places[f.nth(i).to.ID] = true
				for _, text := range r {
					got[text] = f.nth(i).to.ID
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestOverHTTPTheServerFindsThePartitionOfAKey(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.sessionless = true
	require.NoError(t, writeAll(t, of(f),
		runnel.Record[Message]{Value: Message{Key: []byte("x")}}, runnel.Record[Message]{Value: Message{Key: []byte("x")}},
		runnel.Record[Message]{Value: Message{Key: []byte("y")}}))
	require.Len(t, f.requests(), 2)
	require.Equal(t, ByKey([]byte("x")), f.nth(0).by)
	require.Equal(t, ByKey([]byte("y")), f.nth(1).by)
	require.NotContains(t, f.calls, "NextProducerID", "there is no idempotent producer over HTTP")
}

func TestKeysGoElsewhereWhenTheTopicHasOtherPartitions(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		record := runnel.Record[string]{Value: "a", Meta: runnel.Meta{Key: []byte("key")}}
		batch := func() runnel.Batch[string] {
			return runnel.NewBatch([]string{record.Value}, []runnel.Meta{record.Meta})
		}
		o.f.partitions = 7
		require.NoError(t, o.w.Write(t.Context(), batch()))
		require.NoError(t, o.w.Flush(t.Context()))
		o.f.next(fault(wire.CodePartitionNotFound))
		require.NoError(t, o.w.Write(t.Context(), batch()))
		_, cause := refused(t, o.w.Flush(t.Context()))
		require.True(t, runnel.Retryable(cause))
		o.f.partitions = 2
		require.NoError(t, o.w.Write(t.Context(), batch()))
		require.NoError(t, o.w.Flush(t.Context()))
		require.Contains(t, o.f.calls[3:], "GetTopic", "the server is asked, as the client was wrong")
		require.Equal(t, wire.PartitionOfKey(record.Key, 2), o.f.nth(2).to.ID)
	}, KeysFromMetadata())
}

func TestASinkIsIdempotentUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []Option
		want    bool
	}{"by default": {nil, true}, "not": {[]Option{NotIdempotent()}, false}, "told so": {[]Option{Idempotent()}, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			p := of(f, c.options...)
			require.NoError(t, writeAll(t, p, runnel.Record[Message]{}))
			require.Equal(t, c.want, f.nth(0).producer != nil)
			require.False(t, p.Describe().Idempotent, "a run that begins anew repeats what it has sent")
		})
	}
}

func TestJSONWritesTheValue(t *testing.T) {
	t.Parallel()
	type order struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	f := newFake()
	require.NoError(t, writeAll(t, JSON[order](of(f)),
		runnel.Record[order]{Value: order{1, "a"}}, runnel.Record[order]{Value: order{2, "b"}}))
	require.Equal(t, [][]string{{`{"id":1,"name":"a"}`, `{"id":2,"name":"b"}`}}, f.requests())
}

func TestAProducerBelongsToOnePipelineAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		env := runnel.SinkEnv{Log: slog.New(slog.DiscardHandler)}
		w, err := p.Open(t.Context(), env)
		require.NoError(t, err)
		_, err = p.Send(t.Context(), texts("x"))
		require.ErrorIs(t, err, ErrInPipeline)
		_, err = p.SendOne(t.Context(), texts("x")[0])
		require.ErrorIs(t, err, ErrInPipeline)
		_, err = p.Open(t.Context(), env)
		require.ErrorIs(t, err, ErrInPipeline)
		require.NoError(t, p.Init(t.Context()))
		require.NoError(t, w.Close(t.Context()))
		require.NoError(t, w.Close(t.Context()))
		_, err = p.Send(t.Context(), texts("x"))
		require.NoError(t, err)
		w, err = p.Open(t.Context(), env)
		require.NoError(t, err)
		require.NoError(t, p.Shutdown(t.Context()))
		require.NoError(t, w.Close(t.Context()))
		_, err = p.Open(t.Context(), env)
		require.ErrorIs(t, err, wire.CodeProducerClosed)
	})
}

func TestAProducerThatOnlyAPipelineUsedIsNotInitialized(t *testing.T) {
	t.Parallel()
	p := of(newFake())
	require.NoError(t, writeAll(t, p, runnel.Record[Message]{}))
	_, err := p.Send(t.Context(), texts("x"))
	require.ErrorIs(t, err, ErrNotInitialized)
}

func TestOpenReturnsMistakesAndWhatGoesWrong(t *testing.T) {
	t.Parallel()
	env := runnel.SinkEnv{Log: slog.New(slog.DiscardHandler)}
	_, err := Encode[string](nil, nil).Open(t.Context(), env)
	require.ErrorContains(t, err, "the encoder is nil")
	require.ErrorContains(t, err, "the producer is nil")
	_, err = of(newFake(), Partitions(5000)).Open(t.Context(), env)
	require.ErrorContains(t, err, "Partitions(5000)")
	f := newFake()
	f.refuse["SignIn"] = fault(wire.CodeInvalidCredentials)
	_, err = of(f).Open(t.Context(), env)
	require.ErrorIs(t, err, wire.CodeInvalidCredentials)
	f.refuse = map[string]error{}
	require.NoError(t, writeAll(t, of(f), runnel.Record[Message]{}))
}

func TestOpenLogsWhatItMakesWithThePipelinesLogger(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newFake()
	f.streams = map[string]bool{}
	w, err := of(f).Open(t.Context(), runnel.SinkEnv{Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	require.Contains(t, log.String(), "iggy stream made")
}

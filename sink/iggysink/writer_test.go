package iggysink

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// opened is a sink of texts in a bubble, with what its markers were told.
type opened struct {
	t    *testing.T
	f    *fake
	p    *Producer
	w    *writer[string]
	told []error // of markers, in the order that they were told
}

var errBad = errors.New("it is bad")

// open runs a test with a sink that is open.
func open(t *testing.T, test func(t *testing.T, o *opened), options ...Option) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for _, o := range options {
			if set, ok := o.(fakeOption); ok {
				set(f)
			}
		}
		o := &opened{t: t, f: f, p: of(f, options...)}
		o.open()
		defer func() {
			require.NoError(t, o.w.Close(context.Background()))
			require.Zero(t, o.p.Stats().Buffered)
			require.Zero(t, o.p.Stats().BufferedBytes)
		}()
		test(t, o)
	})
}

func (o *opened) open() {
	sink := Encode(o.p, func(r runnel.Record[string]) (Message, error) {
		switch r.Value {
		case "bad":
			return Message{}, errBad
		case "panic":
			panic("ouch")
		}
		return Message{Payload: []byte(r.Value)}, nil
	})
	w, err := sink.Open(o.t.Context(), runnel.SinkEnv{Log: slog.New(slog.DiscardHandler)})
	require.NoError(o.t, err)
	o.w = w.(*writer[string])
}

func (o *opened) write(texts ...string) error {
	return o.w.Write(o.t.Context(), runnel.NewBatch(texts, nil))
}

// mark adds a marker.
func (o *opened) mark() {
	o.w.Barrier(o.t.Context(), func(err error) { o.told = append(o.told, err) })
}

// refused are the values of the records of an error, and the first of the causes.
func refused(t *testing.T, err error) ([]string, error) {
	t.Helper()
	var batch *runnel.BatchError[string]
	require.True(t, errors.As(err, &batch), "%v", err)
	var values []string
	for _, r := range batch.Failed {
		values = append(values, r.Value)
	}
	return values, batch.Errs[0]
}

func TestAMarkerIsAcknowledgedLateAndDoesNotWaitForTheLinger(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.write("a", "b"))
		o.mark()
		require.NoError(t, o.write("c"))
		o.mark()
		o.mark()
		require.Empty(t, o.told)
		require.Zero(t, time.Since(epoch), "nothing waits")
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, []error{nil}, o.told)
		time.Sleep(time.Minute)
		require.Equal(t, []error{nil, nil, nil}, o.told)
		require.Equal(t, [][]string{{"a", "b"}, {"c"}}, o.f.requests())
		o.mark()
		require.Len(t, o.told, 4, "there is nothing to wait for")
	}, Background(Linger(time.Hour)), slow(time.Minute))
}

func TestRecordsAreWrittenWhenTheirTimeHasCome(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.write("a"))
		time.Sleep(time.Minute)
		require.NoError(t, o.write("b"))
		time.Sleep(time.Minute)
		require.Equal(t, [][]string{{"a"}, {"b"}}, o.f.requests())
		require.Equal(t, time.Millisecond, o.f.nth(0).at)
		require.Equal(t, Stats{Sent: 2, Confirmed: 2, Requests: 2}, o.p.Stats())
	})
}

func TestFlushReturnsWhenEverythingIsStored(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.w.Flush(t.Context()))
		require.NoError(t, o.write(numbered(0, 10)...))
		require.NoError(t, o.w.Flush(t.Context()))
		require.Equal(t, [][]string{numbered(0, 4), numbered(4, 8), numbered(8, 10)}, o.f.requests())
		require.Equal(t, 3*time.Minute, time.Since(epoch))
	}, Background(BatchLength(4), Linger(time.Hour)), slow(time.Minute))
}

func TestAFlushEndsWithItsContextAndOthersGoOn(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		o.f.next(fault(wire.CodeTopicFull))
		require.NoError(t, o.write("a"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, o.w.Flush(ctx), context.DeadlineExceeded)
		o.mark()
		time.Sleep(time.Hour)
		require.Len(t, o.told, 1, "the failure is told to the marker, as no flush waits any more")
		values, _ := refused(t, o.told[0])
		require.Equal(t, []string{"a"}, values)
	}, slow(time.Minute))
}

func TestARecordThatIsRefusedIsReturnedAloneAndTheOthersAreWritten(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		err := o.write("a", "bad", "b", "panic", "c")
		values, cause := refused(t, err)
		require.Equal(t, []string{"bad", "panic"}, values)
		require.ErrorIs(t, cause, errBad)
		require.False(t, runnel.Retryable(cause))
		var record *RecordError
		require.ErrorAs(t, cause, &record)
		require.Equal(t, "t", record.Topic.Name)
		var panicked *runnel.PanicError
		require.ErrorAs(t, err, &panicked)
		require.NoError(t, o.w.Flush(t.Context()))
		require.Equal(t, [][]string{{"a", "b", "c"}}, o.f.requests())
	})
}

func TestWhereAllIsRefusedNothingIsKept(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		for range 100 {
			require.Error(t, o.write("bad", "bad"))
		}
		require.Empty(t, o.w.held)
		o.mark()
		require.Equal(t, []error{nil}, o.told)
		require.Empty(t, o.f.requests())
	})
}

func TestAFailureIsToldToTheMarkerThatWaits(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		o.f.next(nil, fault(wire.CodeTopicFull))
		require.NoError(t, o.write(numbered(0, 4)...))
		o.mark()
		require.NoError(t, o.write(numbered(4, 6)...))
		o.mark()
		time.Sleep(time.Hour)
		require.Len(t, o.told, 1)
		values, cause := refused(t, o.told[0])
		require.Equal(t, numbered(2, 4), values)
		require.ErrorIs(t, cause, wire.CodeTopicFull)
		require.True(t, runnel.Retryable(cause))
		require.Len(t, o.f.requests(), 2, "nothing is written behind it until the pipeline has decided")

		require.NoError(t, o.write(numbered(6, 8)...), "that may have been on its way")
		require.NoError(t, o.write(values...), "the pipeline tries again")
		require.NoError(t, o.w.Flush(t.Context()))
		require.Equal(t, [][]string{
			numbered(0, 2), numbered(2, 4), numbered(4, 6), numbered(6, 8), numbered(2, 4),
		}, o.f.requests())
		require.Equal(t, []error{o.told[0], nil}, o.told)
	}, Background(BatchLength(2)))
}

func TestAFailureThatNoMarkerWaitsForIsToldToTheNextCall(t *testing.T) {
	for name, c := range map[string]struct {
		call func(o *opened) error
		want [][]string // behind it and a flush
	}{
		"write": {func(o *opened) error { return o.write("c") }, [][]string{{"a"}, {"b"}, {"c"}}},
		"flush": {func(o *opened) error { return o.w.Flush(o.t.Context()) }, [][]string{{"a"}, {"b"}}},
		"marker": {func(o *opened) error {
			o.mark()
			return o.told[0]
		}, [][]string{{"a"}, {"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(uncertainOf(3))
				require.NoError(t, o.write("a", "b"))
				time.Sleep(time.Minute)
				values, cause := refused(t, c.call(o))
				require.Equal(t, []string{"a"}, values)
				require.ErrorIs(t, cause, wire.CodeOperationUncertain)
				require.False(t, runnel.Retryable(cause), "it may have been written")
				time.Sleep(time.Minute)
				require.Len(t, o.f.requests(), 1, "the pipeline may end the run")
				require.NoError(t, o.w.Flush(t.Context()))
				require.Equal(t, c.want, o.f.requests())
				require.Equal(t, Stats{
					Sent: int64(len(c.want)), Confirmed: int64(len(c.want)) - 1, Failed: 1, Uncertain: 1, Requests: int64(len(c.want)) - 1,
				}, o.p.Stats())
			}, Background(BatchLength(1)), NotIdempotent())
		})
	}
}

func TestTheNextWriteOrMarkerBehindAToldFailureGoesOn(t *testing.T) {
	for name, goOn := range map[string]func(o *opened) error{
		"write": func(o *opened) error { return o.write("d") },
		"marker": func(o *opened) error {
			o.mark()
			return o.told[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(fault(wire.CodeTopicFull))
				require.NoError(t, o.write("a", "b"))
				time.Sleep(time.Minute)
				values, _ := refused(t, o.write("c", "bad"))
				require.Equal(t, []string{"a"}, values)
				values, _ = refused(t, goOn(o))
				require.Equal(t, []string{"bad"}, values, "what was carried is encoded late")
				time.Sleep(time.Minute)
				require.Equal(t, [][]string{{"a"}, {"b"}, {"c"}}, o.f.requests()[:3])
			}, Background(BatchLength(1)))
		})
	}
}

func TestAWriteThatWaitsForRoomReturnsWhenARequestFails(t *testing.T) {
	for name, marked := range map[string]bool{"with a marker": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(nil, fault(wire.CodeTopicFull))
				if marked {
					require.NoError(t, o.write("0"))
					require.NoError(t, o.write("1"))
					o.mark()
				} else {
					require.NoError(t, o.write("0", "1"))
				}
				err := o.write(numbered(2, 12)...)
				require.Equal(t, 2*time.Minute, time.Since(epoch))
				if marked {
					require.NoError(t, err)
					err = o.told[0]
				}
				values, _ := refused(t, err)
				require.Equal(t, []string{"1"}, values)
				require.LessOrEqual(t, o.p.Stats().BufferedBytes, int64(4*(messageBytes+1)))
				require.NoError(t, o.w.Flush(t.Context()))
				require.EqualValues(t, 11, o.p.Stats().Confirmed)
				var got []string
				for _, r := range o.f.requests() {
					got = append(got, r...)
				}
				require.Equal(t, numbered(0, 12), got)
			}, Background(BatchLength(1), MaxBufferBytes(3*(messageBytes+1))), slow(time.Minute))
		})
	}
}

func TestAWriteThatWaitsForRoomCanBeCanceled(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, o.w.Write(ctx, runnel.NewBatch(numbered(0, 9), nil)), context.DeadlineExceeded)
	}, Background(MaxBufferBytes(1)), slow(time.Minute))
}

func TestTheBufferOfASinkIsBounded(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		most := int64(0)
		go func() {
			for range 300 {
				time.Sleep(time.Second)
				most = max(most, o.p.Stats().BufferedBytes)
			}
		}()
		for i := range 100 {
			require.NoError(t, o.write(numbered(100+10*i, 110+10*i)...))
		}
		require.NoError(t, o.w.Flush(t.Context()))
		require.LessOrEqual(t, most, int64(51*(messageBytes+4)))
		require.Greater(t, most, int64(40*(messageBytes+4)))
		time.Sleep(time.Hour)
	}, Background(MaxBufferBytes(50*(messageBytes+4)), BatchLength(0), Linger(0)), slow(2*time.Second))
}

func TestFailuresInEveryPlaceLoseAndRepeatNothing(t *testing.T) {
	for at := range 12 {
		open2 := func(t *testing.T, o *opened) {
			outcomes := make([]error, at, at+2)
			o.f.next(append(outcomes, fault(wire.CodeTopicFull), fault(wire.CodeNotConnected))...)
			again := func(err error) {
				for err != nil {
					values, cause := refused(t, err)
					require.True(t, runnel.Retryable(cause))
					err = o.write(values...)
				}
			}
			for i := range 6 {
				again(o.write(numbered(10*i, 10*i+10)...))
				o.mark()
				time.Sleep(time.Minute)
				for _, err := range o.told {
					for err != nil {
						again(err)
						err = o.w.Flush(t.Context())
					}
				}
				o.told = nil
			}
			again(o.w.Flush(t.Context()))
			require.NoError(t, o.w.Flush(t.Context()))
			got := map[string]int{}
			refusedSends := map[int]bool{at: true, at + 1: true}
			for i, r := range o.f.requests() {
				for _, text := range r {
					if !refusedSends[i] {
						got[text]++
					}
				}
			}
			require.Len(t, got, 60)
			for text, n := range got {
				require.Equal(t, 1, n, text)
			}
		}
		t.Run("", func(t *testing.T) { open(t, open2, Background(BatchLength(4))) })
	}
}

func TestCloseEndsWhatIsBeingWritten(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.write("a", "b"))
		o.mark()
		synctest.Wait()
		require.NoError(t, o.w.Close(t.Context()))
		require.Zero(t, time.Since(epoch))
		require.Len(t, o.told, 1)
		require.ErrorIs(t, o.told[0], runnel.ErrClosed)
		require.Equal(t, []uint64{99}, o.f.abandoned, "nothing is left in the way of the next writer")
		require.ErrorIs(t, o.write("c"), runnel.ErrClosed)
		require.ErrorIs(t, o.w.Flush(t.Context()), runnel.ErrClosed)
		o.mark()
		require.ErrorIs(t, o.told[1], runnel.ErrClosed)
		o.open()
		require.NoError(t, o.write("d"))
		require.NoError(t, o.w.Flush(t.Context()))
	}, slow(time.Hour))
}

func TestCloseEndsAWriterThatWaitsForADecision(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		o.f.next(fault(wire.CodeTopicFull))
		require.NoError(t, o.write("a", "b"))
		time.Sleep(time.Minute)
		require.NoError(t, o.w.Close(t.Context()))
		require.Equal(t, [][]string{{"a"}}, o.f.requests())
	}, Background(BatchLength(1)))
}

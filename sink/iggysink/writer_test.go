package iggysink

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// opened is a sink of texts in a bubble, with what its markers were told.
type opened struct {
	t *testing.T
	f *fake
	p *Producer
	w *writer[string]

	mu    sync.Mutex
	marks []error // what markers were told; guarded by mu
}

var errBad = errors.New("it is bad")

// open runs a test with a sink that is open.
func open(t *testing.T, test func(t *testing.T, o *opened), options ...Option) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.took = time.Millisecond // so that a write returns before what it began
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
	o.w.Barrier(o.t.Context(), func(err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.marks = append(o.marks, err)
	})
}

// told is what markers were told so far, in the order of that.
func (o *opened) told() []error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.marks)
}

func (o *opened) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.marks = nil
}

// refused are the values of the records of an error, and the first of the causes.
func refused(t *testing.T, err error) ([]string, error) {
	t.Helper()
	var batch *runnel.BatchError[string]
	require.ErrorAs(t, err, &batch)
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
		require.Empty(t, o.told())
		require.Zero(t, time.Since(epoch), "nothing waits")
		pass(time.Minute + time.Second)
		require.Equal(t, []error{nil}, o.told())
		pass(time.Minute)
		require.Equal(t, []error{nil, nil, nil}, o.told())
		require.Equal(t, [][]string{{"a", "b"}, {"c"}}, o.f.requests())
		o.mark()
		require.Len(t, o.told(), 4, "there is nothing to wait for")
	}, Background(Linger(time.Hour)), slow(time.Minute))
}

func TestRecordsAreWrittenWhenTheirTimeHasCome(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.write("a"))
		pass(time.Minute)
		require.NoError(t, o.write("b"))
		pass(time.Minute)
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
		pass(time.Hour)
		require.Len(t, o.told(), 1, "the failure is told to the marker, as no flush waits any more")
		values, _ := refused(t, o.told()[0])
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
		o.w.mu.Lock()
		require.Empty(t, o.w.held)
		o.w.mu.Unlock()
		o.mark()
		require.Equal(t, []error{nil}, o.told())
		require.Empty(t, o.f.requests())
	})
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
		var most atomic.Int64
		go func() {
			for range 300 {
				time.Sleep(time.Second)
				most.Store(max(most.Load(), o.p.Stats().BufferedBytes))
			}
		}()
		for i := range 100 {
			require.NoError(t, o.write(numbered(100+10*i, 110+10*i)...))
		}
		require.NoError(t, o.w.Flush(t.Context()))
		require.LessOrEqual(t, most.Load(), int64(51*(messageBytes+4)))
		require.Greater(t, most.Load(), int64(40*(messageBytes+4)))
		pass(time.Hour)
	}, Background(MaxBufferBytes(50*(messageBytes+4)), BatchLength(0), Linger(0)), slow(2*time.Second))
}

func TestCloseEndsWhatIsBeingWritten(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		require.NoError(t, o.write("a", "b"))
		o.mark()
		synctest.Wait()
		require.NoError(t, o.w.Close(t.Context()))
		require.Zero(t, time.Since(epoch))
		require.Len(t, o.told(), 1)
		require.ErrorIs(t, o.told()[0], runnel.ErrClosed)
		require.Equal(t, []uint64{99}, o.f.abandoned, "nothing is left in the way of the next writer")
		require.ErrorIs(t, o.write("c"), runnel.ErrClosed)
		require.ErrorIs(t, o.w.Flush(t.Context()), runnel.ErrClosed)
		o.mark()
		require.ErrorIs(t, o.told()[1], runnel.ErrClosed)
		o.open()
		require.NoError(t, o.write("d"))
		require.NoError(t, o.w.Flush(t.Context()))
	}, slow(time.Hour))
}

func TestCloseEndsAWriterThatWaitsForADecision(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		o.f.next(fault(wire.CodeTopicFull))
		require.NoError(t, o.write("a", "b"))
		pass(time.Minute)
		require.NoError(t, o.w.Close(t.Context()))
		require.Equal(t, [][]string{{"a"}}, o.f.requests())
	}, Background(BatchLength(1)))
}

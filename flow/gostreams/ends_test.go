package gostreams_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	streams "github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/flow/gostreams"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

// gsSink is a sink of go-streams that keeps elements and completes when it is let.
type gsSink struct {
	in   chan any
	done chan struct{}
	got  []any
}

// newGSSink returns a sink that takes a while to complete.
func newGSSink(delay time.Duration) *gsSink {
	s := &gsSink{in: make(chan any), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for element := range s.in {
			s.got = append(s.got, element)
		}
		time.Sleep(delay)
	}()
	return s
}

func (s *gsSink) In() chan<- any   { return s.in }
func (s *gsSink) AwaitCompletion() { <-s.done }

func TestSinkAcknowledgesWhenItIsThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made []*gsSink
		open := func(context.Context, context.CancelFunc) (streams.Sink, error) {
			made = append(made, newGSSink(time.Minute))
			return made[len(made)-1], nil
		}
		start, completed := time.Now(), []time.Duration{}
		p := runnel.New("test", runnel.MaxBatch(10),
			runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(10)),
			runnel.OnCheckpoint(func(checkpoint.Checkpoint) { completed = append(completed, time.Since(start)) }))
		runnel.From(p, source.Slice(upTo(25))).To(gostreams.Sink[int](open))
		require.NoError(t, p.Run(context.Background()))
		require.Equal(t, []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}, completed[:3])
		require.Len(t, made, 3, "it is made anew behind each checkpoint")
		var got []int
		for _, s := range made {
			for _, v := range s.got {
				got = append(got, v.(int))
			}
		}
		require.Equal(t, upTo(25), got)
	})
}

// angry is a sink of go-streams that panics at the end.
type angry struct{ *gsSink }

func (a angry) AwaitCompletion() {
	a.gsSink.AwaitCompletion()
	panic("cannot rename")
}

func TestSinkThatDoesNotWorkEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open func(context.Context, context.CancelFunc) (streams.Sink, error)
		want string
	}{
		"no factory": {nil, "the function that makes its part of go-streams is nil"},
		"no sink":    {func(context.Context, context.CancelFunc) (streams.Sink, error) { return nil, nil }, "open returned nil"},
		"an error": {func(context.Context, context.CancelFunc) (streams.Sink, error) {
			return nil, errors.New("no such folder")
		}, "no such folder"},
		"panics": {func(context.Context, context.CancelFunc) (streams.Sink, error) {
			return angry{newGSSink(0)}, nil
		}, "cannot rename"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			runnel.From(p, source.Slice(upTo(100))).To(gostreams.Sink[int](c.open))
			require.ErrorContains(t, p.Run(context.Background()), c.want)
		})
	}
}

// fullDisk takes some writes and then fails.
type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room--; d.room < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}
func (d *fullDisk) Close() error { return nil }

func TestSinkThatGivesUpIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"at the last record": 10, "long before the checkpoint": 5000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(ctx context.Context, cancel context.CancelFunc) (streams.Sink, error) {
				return ext.NewWriterSink(&fullDisk{room: 9}, ext.WithContext(ctx), ext.WithContextCancel(cancel), quiet())
			}
			p := runnel.New("test")
			lines := runnel.From(p, source.Generate(int64(n), func(int64) string { return "line" }))
			lines.To(gostreams.Sink[string](open))
			require.ErrorIs(t, p.Run(context.Background()), gostreams.ErrGaveUp)
			require.Zero(t, p.Status().Sources[0].Committed)
		})
	}
}

func TestSinkEndsWhenTheRunFails(t *testing.T) {
	t.Parallel()
	p := runnel.New("test", runnel.MaxBatch(5))
	s := runnel.From(p, source.Slice(upTo(1000)))
	bad := flow.TryMap(s, func(v int) (int, error) {
		if v > 500 {
			return 0, errors.New("bad record")
		}
		return v, nil
	})
	bad.To(gostreams.Sink[int](func(context.Context, context.CancelFunc) (streams.Sink, error) { return newGSSink(0), nil }))
	require.ErrorContains(t, p.Run(context.Background()), "bad record") // TestMain finds what stays
}

func TestSinkThatIsStuckDoesNotHoldTheRunUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := runnel.New("test", runnel.DrainTimeout(time.Second))
		slow := func(context.Context, context.CancelFunc) (streams.Sink, error) { return newGSSink(time.Hour), nil }
		runnel.From(p, source.Slice(upTo(10))).To(gostreams.Sink[int](slow))
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		start := time.Now()
		require.ErrorIs(t, p.Run(ctx), runnel.ErrDrainTimeout)
		require.Less(t, time.Since(start), 2*time.Minute)
		time.Sleep(time.Hour) // the sink is through at last, and its goroutines end
	})
}

// quiet keeps sources of go-streams from logging.
func quiet() ext.Opt { return ext.WithLogger(slog.New(slog.DiscardHandler)) }

// lines returns a source of go-streams that reads lines for ever.
func lines(ctx context.Context) (streams.Source, error) {
	one := func(r io.Reader) ([]byte, error) { return []byte("line"), nil }
	return ext.NewReaderSource(io.NopCloser(&bytes.Buffer{}), one, ext.WithContext(ctx), quiet())
}

func channelOf(elements ...any) func(context.Context) (streams.Source, error) {
	return func(context.Context) (streams.Source, error) {
		c := make(chan any, len(elements))
		for _, e := range elements {
			c <- e
		}
		close(c)
		return ext.NewChanSource(c), nil
	}
}

func TestSourceReadsUntilItsOutletIsClosed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1000} {
		var elements []any
		for i := range n {
			elements = append(elements, i)
		}
		p, out := runnel.New("test", runnel.MaxBatch(64)), &bag[int]{}
		runnel.From(p, gostreams.Source[int](channelOf(elements...)), runnel.Name("gs")).To(out)
		require.NoError(t, p.Run(context.Background()))
		require.Len(t, out.records, n)
		for i, r := range out.records {
			require.Equal(t, i, r.Value)
			require.EqualValues(t, i, r.Origin.Offset)
			require.Equal(t, "gs", r.Origin.Source)
		}
		require.EqualValues(t, n, p.Status().Sources[0].Committed)
	}
}

func TestElementOfAnotherTypeGoesByTheSourcesErrorPolicy(t *testing.T) {
	t.Parallel()
	elements := channelOf(0, "one", 2, nil, 4)
	p := runnel.New("test")
	runnel.From(p, gostreams.Source[int](elements)).To(&bag[int]{})
	require.ErrorContains(t, p.Run(context.Background()), "element has type string, want int")

	dead, out := &bag[runnel.Failed]{}, &bag[int]{}
	p = runnel.New("test")
	runnel.From(p, gostreams.Source[int](elements), runnel.DeadLetter(dead)).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, []int{0, 2, 4}, out.values())
	require.EqualValues(t, 4, out.records[2].Origin.Offset)
	require.Len(t, dead.records, 2)
	require.Equal(t, "one", dead.records[0].Value.Value)
	require.EqualValues(t, 3, dead.records[1].Origin.Offset)
}

func TestSourceEndsWithTheRun(t *testing.T) {
	t.Parallel()
	t.Run("nobody reads it any more", func(t *testing.T) {
		t.Parallel()
		got := through(t, gostreams.Source[[]byte](lines), func(s runnel.Stream[[]byte]) runnel.Stream[[]byte] {
			return flow.Take(s, 100)
		})
		require.Len(t, got, 100)
	})
	t.Run("the run fails", func(t *testing.T) {
		t.Parallel()
		p := runnel.New("test")
		broken := &bag[[]byte]{write: func(runnel.Batch[[]byte]) error { return errors.New("disk full") }}
		runnel.From(p, gostreams.Source[[]byte](lines)).To(broken)
		require.ErrorContains(t, p.Run(context.Background()), "disk full")
	})
	t.Run("the source does not heed its context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			endless := make(chan any)
			open := func(context.Context) (streams.Source, error) { return ext.NewChanSource(endless), nil }
			p := runnel.New("test")
			runnel.From(p, gostreams.Source[int](open)).To(&bag[int]{})
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			start := time.Now()
			require.NoError(t, p.Run(ctx))
			require.Equal(t, 61*time.Second, time.Since(start))
		})
	})
}

func TestSourceThatCannotBeMadeEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open func(context.Context) (streams.Source, error)
		want string
	}{
		"no factory": {nil, "the function that makes its part of go-streams is nil"},
		"no source":  {func(context.Context) (streams.Source, error) { return nil, nil }, "open returned nil"},
		"an error":   {func(context.Context) (streams.Source, error) { return nil, errors.New("no such file") }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			runnel.From(p, gostreams.Source[int](c.open)).To(&bag[int]{})
			require.ErrorContains(t, p.Run(context.Background()), c.want)
		})
	}
}

func TestSourceOfGoStreamsIsNotReadAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	opened := 0
	open := func(ctx context.Context) (streams.Source, error) {
		mu.Lock()
		defer mu.Unlock()
		opened++
		return channelOf(opened*10, opened*10+1)(ctx)
	}
	failed := false
	out := &bag[int]{write: func(runnel.Batch[int]) error {
		if !failed {
			failed = true
			return errors.New("connection reset")
		}
		return nil
	}}
	p := runnel.New("test", runnel.Restart(1, 0))
	runnel.From(p, gostreams.Source[int](open)).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, []int{20, 21}, out.values(), "the second attempt reads a new source")
}

package runnel_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestStatusBeforeARunNamesEverything(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	same(runnel.From(p, &numbers{}), runnel.DeadLetter(&collect[runnel.Failed]{})).To(&collect[int]{})
	s := p.Status()
	require.Equal(t, "source-1", s.Sources[0].Name)
	require.Equal(t, "stage-1", s.Stages[0].Name)
	require.Equal(t, "sink-1", s.Sinks[0].Name)
	require.NotEmpty(t, s.Sinks[1].Name)
	require.Zero(t, s.Checkpoint)
}

func TestStatusSaysWhatAMarkerWaitsForAndWhatItHoldsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, slow, fast := paced(3), &collect[int]{}, &collect[int]{}
		src.endless = true
		slow.onCall = on("flush", func(ctx context.Context) error { return sleep(ctx, time.Hour) })
		p := runnel.New("p", every(checkpoint.Memory(), time.Second), runnel.StallAfter(10*time.Second), runnel.DrainTimeout(0))
		s := runnel.From(p, laggingNumbers{src})
		sum(s, runnel.Name("sum")).To(slow, runnel.Name("slow"))
		s.To(fast, runnel.Name("fast"))
		begin := time.Now()
		stop, _ := run(t, p)
		time.Sleep(9 * time.Second)
		st := p.Status()
		require.Len(t, st.Open, 3)
		require.Equal(t, []string{"sink slow"}, st.Open[0].Waiting)
		require.Equal(t, map[string]checkpoint.Position{"source-1": at(1)}, st.Open[0].Holds)
		require.Equal(t, begin.Add(2*time.Second), st.Open[0].Opened)
		require.Empty(t, st.Stalled)
		require.EqualValues(t, 3, st.Sources[0].Read)
		require.Zero(t, st.Sources[0].Committed)
		require.Equal(t, map[string]int64{"p": 7}, st.Sources[0].Lag)
		require.EqualValues(t, 1, st.Sinks[0].In)
		require.EqualValues(t, 3, st.Sinks[1].In)
		require.Positive(t, st.Sinks[0].Queued)
		require.Equal(t, 8, st.Sinks[0].Queue)
		time.Sleep(4 * time.Second)
		require.Equal(t, runnel.Stall{Kind: "sink", Name: "slow", Marker: 1, Since: begin.Add(2 * time.Second)}, p.Status().Stalled[0])
		require.ErrorIs(t, stop(), runnel.ErrDrainTimeout)
	})
}

// syncBuffer is a buffer for a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) lines(with string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.b.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

// labeled is a stage that holds one key, and can name it.
type labeled struct{ hold chan struct{} }

func (s labeled) Label(v int) string { return fmt.Sprint("key ", v) }

func (s labeled) Process(ctx context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	if in.Values()[0] == 2 {
		select {
		case <-s.hold:
		case <-ctx.Done():
		}
	}
	out.EmitBatch(in)
	return nil
}

// stoppedClock is a clock that a test moves by hand.
type stoppedClock struct {
	mu  sync.Mutex
	now time.Time
	due []wait
}

type wait struct {
	at time.Time
	c  chan time.Time
}

func (c *stoppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stoppedClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := wait{c.now.Add(d), make(chan time.Time, 1)}
	c.due = append(c.due, w)
	return w.c, func() {}
}

func (c *stoppedClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	var left []wait
	for _, w := range c.due {
		if w.at.After(c.now) {
			left = append(left, w)
		} else {
			w.c <- c.now
		}
	}
	c.due = left
}

// What is stalled is told by the pipeline's clock, whatever the machine's says; each thing is logged once.
func TestRecordThatIsHeldIsReportedWithItsKeyAndItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		clock, hold := &stoppedClock{now: begin}, make(chan struct{})
		var log syncBuffer
		out := &collect[int]{}
		p := runnel.New("p", runnel.WithClock(clock), runnel.StallAfter(time.Minute), runnel.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		runnel.Apply(runnel.From(p, &numbers{n: 9, endless: true}), "keyed", func(v int) uint64 { return uint64(v) },
			func(runnel.StageEnv) (runnel.Stage[int, int], error) { return labeled{hold}, nil },
			runnel.Name("enrich"), runnel.Parallel(2)).To(out)
		stop, _ := run(t, p)
		synctest.Wait()
		require.Len(t, out.got(), 8, "other keys go on")
		require.Empty(t, p.Status().Stalled)
		for range 4 {
			clock.move(time.Minute)
			synctest.Wait()
		}
		stalled := p.Status().Stalled
		stall := stalled[len(stalled)-1] // behind the marker that waits
		require.Equal(t, "source-1/p@2", stall.Origin.String())
		stall.Origin = runnel.Origin{}
		require.Equal(t, runnel.Stall{Kind: "stage", Name: "enrich", Key: "key 2", Since: begin}, stall)
		require.Len(t, log.lines(`"held for long" stage=enrich key="key 2" at=source-1/p@2`), 1)
		close(hold)
		synctest.Wait()
		for _, s := range p.Status().Stalled {
			require.NotZero(t, s.Marker, "no record is held any more")
		}
		require.NoError(t, stop())
	})
}

func TestStatusCountsOutcomesOfStages(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	s := runnel.From(p, &numbers{n: 10, size: 5})
	evens := through(s, stage[int, int](func(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
		var rows []int32
		for i, v := range in.Values() {
			if v%2 == 0 {
				rows = append(rows, int32(i))
			}
		}
		out.EmitRows(in, rows)
		out.Filtered(in.Len() - len(rows))
		return nil
	}))
	a, _ := runnel.Fork(evens, "fork", nil, func(runnel.StageEnv) (runnel.ForkStage[int, int, int], error) { return forked{}, nil })
	runnel.Merge(a, a).To(&collect[int]{})
	require.NoError(t, p.Run(t.Context()))
	st := p.Status()
	require.Equal(t, []int64{10, 5, 5}, []int64{st.Stages[0].In, st.Stages[0].Out, st.Stages[0].Filtered})
	require.Equal(t, []int64{5, 10}, []int64{st.Stages[1].In, st.Stages[1].Out}, "the second output is counted, although nobody reads it")
	require.Equal(t, []int64{10, 10}, []int64{st.Stages[2].In, st.Stages[2].Out})
	require.EqualValues(t, 10, st.Sinks[0].In)
}

// forked emits everything on both sides.
type forked struct{}

func (forked) Process(_ context.Context, in runnel.Batch[int], a, b *runnel.Out[int]) error {
	a.EmitBatch(in)
	b.EmitBatch(in)
	return nil
}

// touchyReader panics when it is asked how much there is to read, and touchyStage when it is asked for a key.
type (
	touchySource struct{ *numbers }
	touchyReader struct{ runnel.Reader[int] }
	touchyStage  struct{ labeled }
)

func (s touchySource) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r, err := s.numbers.Open(ctx, env, from)
	return touchyReader{r}, err
}

func (touchyReader) Lag() map[string]int64 { panic("a bug in lag") }
func (touchyStage) Label(int) string       { panic("a bug in label") }

func TestPanicOfWhoIsAskedForTheStatusIsNotTheAskers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock, hold := &stoppedClock{now: time.Unix(1, 0)}, make(chan struct{})
		p := runnel.New("p", runnel.WithClock(clock), runnel.StallAfter(time.Minute))
		runnel.Apply(runnel.From(p, touchySource{&numbers{n: 9, endless: true}}), "keyed", func(v int) uint64 { return uint64(v) },
			func(runnel.StageEnv) (runnel.Stage[int, int], error) { return touchyStage{labeled{hold}}, nil },
			runnel.Name("enrich"), runnel.Parallel(2)).To(&collect[int]{})
		stop, _ := run(t, p)
		synctest.Wait()
		clock.move(2 * time.Minute)
		st := p.Status()
		require.Nil(t, st.Sources[0].Lag)
		held := slices.IndexFunc(st.Stalled, func(s runnel.Stall) bool { return s.Name == "enrich" && s.Marker == 0 })
		require.GreaterOrEqual(t, held, 0)
		require.Empty(t, st.Stalled[held].Key)
		close(hold)
		require.NoError(t, stop())
	})
}

package source_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

// collect runs a source to its end and returns what came.
func collect[T any](t *testing.T, src runnel.Source[T], opts ...runnel.Option) ([]runnel.Record[T], error) {
	t.Helper()
	out := sink.NewSlice[T]()
	p := runnel.New("collect", opts...)
	runnel.From(p, src, runnel.Name("in")).To(out)
	err := p.Run(context.Background())
	return out.Records(), err
}

// openAt opens a source directly.
func openAt[T any](src runnel.Source[T], from checkpoint.Position) (runnel.Reader[T], error) {
	return src.Open(context.Background(), runnel.SourceEnv{
		Name: "in", MaxBatch: 4, Clock: runneltest.NewClock(time.Time{}),
	}, from)
}

func at(next int64) checkpoint.Position {
	return checkpoint.Position{"0": checkpoint.OffsetToken(next, nil)}
}

func TestRecordsKeepTheirMetadata(t *testing.T) {
	t.Parallel()
	record := runnel.Record[string]{Value: "v", Meta: runnel.Meta{
		Key: []byte("k"), Time: time.Unix(3, 0), Headers: runnel.Headers{{Name: "h"}},
	}}
	plain := runnel.Record[string]{Value: "w"}
	c := make(chan runnel.Record[string], 2)
	c <- plain
	c <- record
	close(c)
	cases := map[string]runnel.Source[string]{
		"slice":   source.SliceRecords([]runnel.Record[string]{plain, record}),
		"channel": source.ChannelRecords(c),
	}
	for name, src := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := collect(t, src)
			require.NoError(t, err)
			require.Len(t, got, 2)
			require.Equal(t, "w", got[0].Value)
			require.Nil(t, got[0].Key)
			require.Equal(t, "in/0@1", got[1].Origin.String())
			require.Equal(t, []byte("k"), got[1].Key)
			require.True(t, record.Time.Equal(got[1].Time))
			require.Equal(t, record.Headers, got[1].Headers)
		})
	}
}

func TestStartPositionIsChecked(t *testing.T) {
	t.Parallel()
	three := []int{1, 2, 3}
	sources := map[string]runnel.Source[int]{
		"slice": source.Slice(three), "seq": source.Seq(slices.Values(three)), "channel": source.Channel(make(chan int)),
		"func":     source.Func(func(context.Context) (int, error) { return 0, io.EOF }),
		"generate": source.Generate(3, func(i int64) int { return int(i) }), "push": source.NewPush[int](),
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openAt(src, checkpoint.Position{"0": []byte("x")})
			require.ErrorIs(t, err, checkpoint.ErrToken)
			_, err = openAt(src, at(-1))
			require.ErrorContains(t, err, "negative")
		})
	}
	_, err := openAt(source.Slice(three), at(4))
	require.ErrorContains(t, err, "the start position is record 4, but there are only 3")
	r, err := openAt(source.Seq(slices.Values(three)), at(4))
	require.NoError(t, err)
	_, err = r.Read(context.Background())
	require.ErrorContains(t, err, "the start position is record 4, but there are only 3")
	require.NoError(t, r.Close(context.Background()))
}

func TestMistakesAreFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		src  runnel.Source[int]
		want string
	}{
		"nil channel":       {source.Channel[int](nil), "the channel is nil"},
		"nil func":          {source.Func[int](nil), "the function is nil"},
		"nil batch func":    {source.FuncBatch[int](nil), "the function is nil"},
		"nil generator":     {source.Generate[int](1, nil), "the function is nil"},
		"nil iterator":      {source.Seq[int](nil), "the function is nil"},
		"nil fail iterator": {source.Seq2[int](nil), "the function is nil"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := collect(t, c.src)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := collect(t, source.Ticker(0))
	require.ErrorContains(t, err, "it must be above 0")
}

func TestErrorsOfTheUserEndTheRunBehindTheValuesBeforeThem(t *testing.T) {
	t.Parallel()
	failSeq := func(err error) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			_ = yield(1, nil) && yield(2, nil) && yield(0, err)
		}
	}
	failFunc := func(err error) func(context.Context) (int, error) {
		n := 0
		return func(context.Context) (int, error) {
			if n++; n == 3 {
				return 0, err
			}
			return n, nil
		}
	}
	failBatch := func(err error) func(context.Context, int) ([]int, error) {
		return func(context.Context, int) ([]int, error) { return []int{1, 2}, err }
	}
	wrapped := fmt.Errorf("header: %w", io.EOF)
	cases := map[string]struct {
		src  runnel.Source[int]
		want error
		text string
	}{
		"seq":                  {source.Seq2(failSeq(errTest)), errTest, "seq: record 2"},
		"seq, EOF":             {source.Seq2(failSeq(io.EOF)), io.ErrUnexpectedEOF, "seq: record 2"},
		"func":                 {source.Func(failFunc(errTest)), errTest, "func: record 2"},
		"func, wrapped EOF":    {source.Func(failFunc(wrapped)), io.ErrUnexpectedEOF, "header: EOF"},
		"func, EOF":            {source.Func(failFunc(io.EOF)), nil, ""},
		"func batch":           {source.FuncBatch(failBatch(errTest)), errTest, "func: record 2"},
		"func batch, with EOF": {source.FuncBatch(failBatch(io.EOF)), nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			probe := runneltest.NewProbe[int]()
			p := runnel.New("errors")
			runnel.From(p, c.src).To(probe)
			err := p.Run(context.Background())
			if c.want == nil {
				require.NoError(t, err)
				require.Equal(t, []int{1, 2}, probe.Values())
				return
			}
			require.ErrorIs(t, err, c.want)
			require.NotErrorIs(t, err, io.EOF)
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestPanicInIteratorEndsTheRunAndNotTheProcess(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	_, err := collect(t, source.Seq(func(func(int) bool) { panic("in the iterator") }))
	require.ErrorContains(t, err, "in the iterator")
}

func TestIteratorIsEndedWithTheRun(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	ended := make(chan struct{})
	endless := func(yield func(int) bool) {
		defer close(ended)
		for i := 0; yield(i); i++ {
		}
	}
	probe := runneltest.NewProbe[int]()
	p := runnel.New("endless", runnel.MaxBatch(4))
	runnel.From(p, source.Seq(endless)).To(probe)
	run := runneltest.Start(t, p)
	probe.Await(t, 10)
	require.NoError(t, run.Stop())
	<-ended
}

func TestIteratorIsEndedByTheReadThatIsAtWorkInIt(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	inside, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r, err := openAt(source.Seq(func(yield func(int) bool) {
		defer close(ended)
		_ = yield(1)
		close(inside)
		<-goOn
		_ = yield(2)
	}), nil)
	require.NoError(t, err)
	type result struct {
		values []int
		err    error
	}
	read := make(chan result, 1)
	go func() {
		f, err := r.Read(context.Background())
		read <- result{f.Values(), err}
	}()
	<-inside
	require.NoError(t, r.Close(context.Background()), "it does not wait for the iterator")
	close(goOn)
	require.Equal(t, result{[]int{1, 2}, nil}, <-read)
	<-ended
	_, err = r.Read(context.Background())
	require.ErrorIs(t, err, runnel.ErrClosed)
}

func TestStopInterruptsTheWayToTheStartPosition(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := openAt(source.Seq(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
			if i == 10 {
				cancel(errTest)
			}
		}
	}), at(1_000_000_000))
	require.NoError(t, err)
	_, err = r.Read(ctx)
	require.ErrorIs(t, err, errTest)
	require.NoError(t, r.Close(context.Background()))
}

func TestChannelHandsOnWhatIsWaitingAndNeverWaitsToFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, probe := make(chan int, 10), runneltest.NewProbe[int]()
		for i := range 3 {
			c <- i
		}
		p := runnel.New("channel", runnel.MaxBatch(2))
		runnel.From(p, source.Channel(c)).To(probe)
		run := runneltest.Start(t, p)
		synctest.Wait()
		require.Equal(t, []int{2, 1}, probe.Batches())
		c <- 3
		synctest.Wait()
		require.Equal(t, []int{2, 1, 1}, probe.Batches())
		close(c)
		require.NoError(t, run.Wait())
	})
}

func TestUnreplayableSourcesNumberOnFromTheirPosition(t *testing.T) {
	t.Parallel()
	c := make(chan int, 1)
	c <- 1
	for name, src := range map[string]runnel.Source[int]{
		"channel": source.Channel(c),
		"func":    source.Func(func(context.Context) (int, error) { return 1, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := openAt(src, at(41))
			require.NoError(t, err)
			f, err := r.Read(context.Background())
			require.NoError(t, err)
			require.Equal(t, int64(41), f.Meta(0).Origin.Offset)
			require.Equal(t, at(42), f.Position)
		})
	}
}

func TestTickerTicksByTheClockOfThePipeline(t *testing.T) {
	t.Parallel()
	clock, probe := runneltest.NewClock(time.Time{}), runneltest.NewProbe[time.Time]()
	start := clock.Now()
	p := runnel.New("ticks", runnel.WithClock(clock))
	runnel.From(p, source.Ticker(3*time.Second)).To(probe)
	run := runneltest.Start(t, p)
	clock.AwaitTimer(t, 3*time.Second)
	clock.Advance(3 * time.Second)
	probe.Await(t, 1)
	clock.AwaitTimer(t, 3*time.Second)
	clock.Advance(10 * time.Second) // ticks at 6, 9 and 12
	probe.Await(t, 2)               // the one that was waited for
	probe.Await(t, 3)               // the newest that has passed
	clock.AwaitTimer(t, 2*time.Second)
	clock.Advance(2 * time.Second)
	ticks := probe.Await(t, 4)
	require.NoError(t, run.Stop())
	var after []time.Duration
	for i, tick := range ticks {
		after = append(after, tick.Sub(start))
		require.Equal(t, tick, probe.Records()[i].Time)
	}
	require.Equal(t, []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second, 15 * time.Second}, after)
}

func TestTickerWakesForStop(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	p := runnel.New("ticks")
	runnel.From(p, source.Ticker(time.Hour)).To(sink.Discard[time.Time]())
	require.NoError(t, runneltest.Start(t, p).Stop())
	r, err := openAt(source.Ticker(time.Hour), nil)
	require.NoError(t, err)
	require.NoError(t, r.Close(context.Background()))
	_, err = r.Read(context.Background())
	require.ErrorIs(t, err, runnel.ErrClosed)
}

func TestFuncIsCalledWithAContextThatEndsWithClose(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	r, err := openAt(source.Func(func(ctx context.Context) (int, error) {
		close(entered)
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}), nil)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := r.Read(context.Background())
		result <- err
	}()
	<-entered
	require.NoError(t, r.Close(context.Background()))
	require.ErrorIs(t, <-result, runnel.ErrClosed)
	_, err = r.Read(context.Background())
	require.ErrorIs(t, err, runnel.ErrClosed)
}

func TestLagIsWhatIsStillToBeRead(t *testing.T) {
	t.Parallel()
	r, err := openAt(source.Slice(numbers(10)), at(3))
	require.NoError(t, err)
	_, err = r.Read(context.Background())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"0": 3}, r.(runnel.Lagger).Lag())
	endless, err := openAt(source.Generate(-1, func(i int64) int64 { return i }), nil)
	require.NoError(t, err)
	require.Nil(t, endless.(runnel.Lagger).Lag())
}

func TestFixedDataCostsNoAllocationForARecord(t *testing.T) {
	data := numbers(1 << 16)
	cases := map[string]runnel.Source[int]{
		"slice":    source.Slice(data),
		"generate": source.Generate(-1, func(i int64) int { return int(i) }),
	}
	for name, src := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := src.Open(context.Background(), runnel.SourceEnv{Name: "in", MaxBatch: 1024}, nil)
			require.NoError(t, err)
			perBatch := testing.AllocsPerRun(50, func() {
				if f, err := r.Read(context.Background()); err != nil || f.Len() != 1024 {
					t.Fatal(f.Len(), err)
				}
			})
			require.LessOrEqual(t, perBatch, 8.0, "allocations for a batch of 1,024")
		})
	}
}

func TestSliceGivesPartsOfTheDataItself(t *testing.T) {
	t.Parallel()
	data := numbers(10)
	r, err := openAt(source.Slice(data), at(2))
	require.NoError(t, err)
	f, err := r.Read(context.Background())
	require.NoError(t, err)
	require.Same(t, &data[2], &f.Values()[0])
	require.Equal(t, 4, cap(f.Values()), "appending cannot reach the rest")
}

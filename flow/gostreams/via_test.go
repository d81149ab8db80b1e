package gostreams_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	streams "github.com/reugn/go-streams"
	gsflow "github.com/reugn/go-streams/flow"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow/gostreams"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

func double() streams.Flow { return gsflow.NewMap(func(v int) int { return 2 * v }, 1) }

func repeated() streams.Flow {
	return gsflow.NewFlatMap(func(v int) []int { return slices.Repeat([]int{v}, 100) }, 1)
}

func batches() streams.Flow { return gsflow.NewBatch[int](1000, time.Hour) }

func TestViaPassesEveryElementThroughAFlow(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"nothing": 0, "one": 1, "many": 5000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := through(t, source.Slice(upTo(n)), func(s runnel.Stream[int]) runnel.Stream[int] {
				return gostreams.Via[int](s, double)
			})
			require.Len(t, got, n)
			for i, v := range got {
				require.Equal(t, 2*i, v)
			}
		})
	}
}

func TestViaTakesMoreThanComesIn(t *testing.T) {
	t.Parallel()
	got := through(t, source.Slice(upTo(200)), func(s runnel.Stream[int]) runnel.Stream[int] {
		return gostreams.Via[int](s, repeated)
	}, runnel.MaxBatch(10), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(30)))
	require.Len(t, got, 20_000)
	require.True(t, slices.IsSorted(got))
}

func TestChainGoesThroughAllFlowsInOrder(t *testing.T) {
	t.Parallel()
	chain := func() streams.Flow {
		return gostreams.Chain(double(), gsflow.NewFilter(func(v int) bool { return v%3 == 0 }, 1), batches(), gsflow.Flatten[int](1))
	}
	got := through(t, source.Slice(upTo(300)), func(s runnel.Stream[int]) runnel.Stream[int] {
		return gostreams.Via[int](s, chain)
	})
	require.Len(t, got, 100)
	for i, v := range got {
		require.Equal(t, 6*i, v)
	}
}

func TestCheckpointEmptiesTheFlowAndMakesItAnew(t *testing.T) {
	t.Parallel()
	made := 0
	open := func() streams.Flow { made++; return batches() }
	got := through(t, source.Slice(upTo(95)), func(s runnel.Stream[int]) runnel.Stream[[]int] {
		return gostreams.Via[[]int](s, open)
	}, runnel.MaxBatch(10), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(10)))
	require.Greater(t, made, 2)
	require.Len(t, got, made, "each checkpoint covers what was held")
	require.Equal(t, upTo(95), slices.Concat(got...))
}

func TestElementsThatComeOutLaterAreNotHeldUntilMoreComesIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		window := func() streams.Flow { return gsflow.NewTumblingWindow[int](time.Second) }
		start, at := time.Now(), time.Duration(0)
		out := &bag[[]int]{write: func(runnel.Batch[[]int]) error { at = time.Since(start); return nil }}
		values := make(chan int)
		p := runnel.New("test", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
		gostreams.Via[[]int](runnel.From(p, source.Channel(values)), window).To(out)
		done := make(chan error, 1)
		go func() { done <- p.Run(context.Background()) }()
		values <- 1
		time.Sleep(10 * time.Second)
		require.Equal(t, [][]int{{1}}, out.values())
		require.LessOrEqual(t, at, 1200*time.Millisecond)
		close(values)
		require.NoError(t, <-done)
	})
}

func TestWhatComesOutHasTheGreatestTimeThatWentIn(t *testing.T) {
	t.Parallel()
	var records []runnel.Record[int]
	for i, second := range []int64{5, 9, 7} {
		records = append(records, runnel.Record[int]{Value: i, Meta: runnel.Meta{Key: []byte("k"), Time: time.Unix(second, 0)}})
	}
	p, out := runnel.New("test"), &bag[[]int]{}
	gostreams.Via[[]int](runnel.From(p, source.SliceRecords(records)), batches).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Len(t, out.records, 1)
	require.Equal(t, runnel.Meta{Time: time.Unix(9, 0)}, out.records[0].Meta)
}

// brief is a flow whose outlet is closed from the start.
type brief struct{ streams.Flow }

func (brief) Out() <-chan any {
	c := make(chan any)
	close(c)
	return c
}

func (brief) In() chan<- any { return make(chan any) }

func TestFlowThatDoesNotFitEndsTheRun(t *testing.T) {
	t.Parallel()
	text := func() streams.Flow { return gsflow.NewMap(func(v int) string { return "s" }, 1) }
	for name, c := range map[string]struct {
		open func() streams.Flow
		want string
	}{
		"another type":     {text, "element has type string, want int"},
		"nil":              {func() streams.Flow { return gsflow.NewMap(func(int) any { return nil }, 1) }, "element has type <nil>, want int"},
		"ends too soon":    {func() streams.Flow { return brief{} }, "closed its outlet while its inlet was open"},
		"no flow":          {func() streams.Flow { return nil }, "open returned nil"},
		"open panics":      {func() streams.Flow { return gsflow.NewBatch[int](0, 0) }, "nonpositive maxBatchSize"},
		"no factory":       {nil, "the function that makes its part of go-streams is nil"},
		"type at a marker": {func() streams.Flow { return batches() }, "element has type []int, want int"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			gostreams.Via[int](runnel.From(p, source.Slice(upTo(100))), c.open).To(&bag[int]{})
			require.ErrorContains(t, p.Run(context.Background()), c.want)
		})
	}
}

func TestNilIsAnElementOfAnInterface(t *testing.T) {
	t.Parallel()
	none := func() streams.Flow { return gsflow.NewMap(func(int) any { return nil }, 1) }
	got := through(t, source.Slice(upTo(3)), func(s runnel.Stream[int]) runnel.Stream[error] {
		return gostreams.Via[error](s, none)
	})
	require.Equal(t, []error{nil, nil, nil}, got)
}

func TestFlowEndsWhenTheRunFails(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() streams.Flow{
		"map": double, "more out than in": repeated,
		"a chain": func() streams.Flow { return gostreams.Chain(double(), repeated(), double()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := &bag[int]{write: func(b runnel.Batch[int]) error { return errors.New("disk full") }}
			p := runnel.New("test", runnel.MaxBatch(10))
			gostreams.Via[int](runnel.From(p, source.Generate(-1, func(i int64) int { return int(i) })), open).To(broken)
			require.ErrorContains(t, p.Run(context.Background()), "disk full") // TestMain finds what stays
		})
	}
}

func TestFlowThatIsStuckDoesNotHoldTheRunUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func() streams.Flow { return gsflow.NewMap(func(v int) int { <-release; return v }, 1) }
		p := runnel.New("test", runnel.DrainTimeout(time.Second))
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		gostreams.Via[int](runnel.From(p, source.Slice(upTo(100))), stuck).To(&bag[int]{})
		require.ErrorIs(t, p.Run(ctx), runnel.ErrDrainTimeout)
		close(release) // its function returns at last, and the goroutines of the flow end
	})
}

func TestNothingIsLostWhenTheRunStartsAgain(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	out := &bag[[]int]{write: func(runnel.Batch[[]int]) error {
		if n := writes.Add(1); n%3 == 0 && n < 20 {
			return errors.New("connection reset")
		}
		return nil
	}}
	p := runnel.New("test", runnel.MaxBatch(5), runnel.Restart(100, 0),
		runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(20)))
	open := func() streams.Flow { return gsflow.NewBatch[int](7, time.Hour) }
	gostreams.Via[[]int](runnel.From(p, source.Slice(upTo(500))), open).To(out)
	require.NoError(t, p.Run(context.Background()))
	got := slices.Concat(out.values()...)
	slices.Sort(got)
	require.Equal(t, upTo(500), slices.Compact(got))
}

func TestViaRunsInOneCopy(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	gostreams.Via[int](runnel.From(p, source.Slice(upTo(1))), double, runnel.Parallel(2)).To(&bag[int]{})
	require.ErrorContains(t, p.Run(context.Background()), "leave Parallel out")
}

func BenchmarkVia(b *testing.B) {
	b.ReportAllocs()
	p := runnel.New("bench")
	s := runnel.From(p, source.Generate(int64(b.N), func(i int64) int { return int(i) }))
	gostreams.Via[int](s, double).To(&bag[int]{write: func(runnel.Batch[int]) error { return nil }})
	b.ResetTimer()
	if err := p.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

package gostreams_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ext "github.com/reugn/go-streams/extension"
	gsflow "github.com/reugn/go-streams/flow"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/flow/gostreams"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

func evenTimesTen(s runnel.Stream[int]) runnel.Stream[int] {
	return flow.Map(flow.Filter(s, func(v int) bool { return v%2 == 0 }), func(v int) int { return 10 * v })
}

// chanSource returns a source of go-streams of some elements.
func chanSource(elements ...any) *ext.ChanSource {
	src, _ := channelOf(elements...)(context.Background())
	return src.(*ext.ChanSource)
}

func TestOperatorsOfRunnelAreAFlowOfGoStreams(t *testing.T) {
	t.Parallel()
	var elements []any
	for i := range 1000 {
		elements = append(elements, i)
	}
	for name, build := range map[string]func(f *gostreams.Flow, to *gsSink){
		"alone": func(f *gostreams.Flow, to *gsSink) { chanSource(elements...).Via(f).To(to) },
		"before a map": func(f *gostreams.Flow, to *gsSink) {
			chanSource(elements...).Via(f).Via(gsflow.NewPassThrough()).To(to)
		},
		"behind a map": func(f *gostreams.Flow, to *gsSink) {
			chanSource(elements...).Via(gsflow.NewPassThrough()).Via(f).To(to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gostreams.NewFlow(context.Background(), "part", evenTimesTen)
			to := newGSSink(0)
			build(f, to)
			require.NoError(t, f.Err())
			require.Len(t, to.got, 500)
			for i, v := range to.got {
				require.Equal(t, 20*i, v)
			}
		})
	}
}

func TestFlowThatFailsEndsTheGoStreamsPipeline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		build    func(runnel.Stream[int]) runnel.Stream[int]
		elements []any
		want     string
	}{
		"another type": {evenTimesTen, []any{1, "two", 3, 4, 5}, "element has type string, want int"},
		"a failed record": {func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.Map(s, func(v int) int { return 1 / v })
		}, []any{0, 1, 2, 3}, "divide by zero"},
		"a wrong pipeline": {func(s runnel.Stream[int]) runnel.Stream[int] { return flow.Take(s, -1) }, []any{1, 2, 3}, "it must be at least 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, to := gostreams.NewFlow(context.Background(), "part", c.build), newGSSink(0)
			chanSource(c.elements...).Via(f).To(to) // returns, although the flow has failed
			require.ErrorContains(t, f.Err(), c.want)
		})
	}
}

func TestEndOfTheContextDrainsAFlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		hold := func(s runnel.Stream[int]) runnel.Stream[[]int] { return flow.Batch(s, 100, 0) }
		f, to := gostreams.NewFlow(ctx, "part", hold), newGSSink(0)
		in := make(chan any)
		done := make(chan struct{})
		go func() {
			defer close(done)
			ext.NewChanSource(in).Via(f).To(to)
		}()
		in <- 1
		in <- 2
		time.Sleep(time.Second)
		stop()
		require.NoError(t, f.Err())
		<-done
		require.Equal(t, []any{[]int{1, 2}}, to.got)
		in <- 3 // is taken and dropped
		close(in)
	})
}

func TestPipelineIsASourceOfGoStreams(t *testing.T) {
	t.Parallel()
	src := gostreams.NewSource(context.Background(), "part", func(p *runnel.Pipeline) runnel.Stream[int] {
		return evenTimesTen(runnel.From(p, source.Slice(upTo(1000))))
	})
	to := newGSSink(0)
	src.Via(gsflow.NewMap(func(v int) int { return v + 1 }, 1)).To(to)
	require.NoError(t, src.Err())
	require.Len(t, to.got, 500)
	for i, v := range to.got {
		require.Equal(t, 20*i+1, v)
	}
}

func TestSourceThatFailsClosesItsOutlet(t *testing.T) {
	t.Parallel()
	seq := func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, errors.New("torn page")) }
	src := gostreams.NewSource(context.Background(), "part", func(p *runnel.Pipeline) runnel.Stream[int] {
		return runnel.From(p, source.Seq2(seq))
	})
	to := newGSSink(0)
	src.Via(gsflow.NewPassThrough()).To(to)
	require.ErrorContains(t, src.Err(), "torn page")
}

func TestSinksOfRunnelAreASinkOfGoStreams(t *testing.T) {
	t.Parallel()
	var elements []any
	for i := range 1000 {
		elements = append(elements, i)
	}
	even, odd := sink.NewSlice[int](), sink.NewSlice[int]()
	end := gostreams.NewSink(context.Background(), "part", func(s runnel.Stream[int]) {
		yes, no := flow.Split(s, func(v int) bool { return v%2 == 0 })
		yes.To(even)
		no.To(odd)
	})
	chanSource(elements...).Via(gsflow.NewPassThrough()).To(end)
	require.NoError(t, end.Err())
	all := slices.Concat(even.Values(), odd.Values())
	slices.Sort(all)
	require.Equal(t, upTo(1000), all)
	require.Equal(t, 500, even.Len())
}

func TestSinkThatFailsCompletes(t *testing.T) {
	t.Parallel()
	end := gostreams.NewSink(context.Background(), "part", func(s runnel.Stream[int]) {
		s.To(sink.Func(func(context.Context, int) error { return errors.New("disk full") }))
	})
	chanSource(1, 2, 3).Via(gsflow.NewPassThrough()).To(end)
	require.ErrorContains(t, end.Err(), "disk full")
}

func TestPartThatIsNotConnectedStartsNothing(t *testing.T) {
	t.Parallel()
	gostreams.NewFlow(context.Background(), "part", evenTimesTen) // TestMain finds what stays
	gostreams.NewSink(context.Background(), "part", func(s runnel.Stream[int]) { s.To(sink.Discard[int]()) })
}

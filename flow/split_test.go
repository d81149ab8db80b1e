package flow_test

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestSplitSendsEveryRecordToOneOfTwo(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	src, even, odd := count(1001, 100), &bag[int]{}, &bag[int]{}
	src.meta = fullMeta
	yes, no := flow.Split(runnel.From(p, src), isEven, runnel.Name("op"))
	yes.To(even)
	no.To(odd)
	require.NoError(t, p.Run(context.Background()))
	require.Len(t, even.got(), 501)
	require.Len(t, odd.got(), 500)
	for i, r := range even.got() {
		require.Equal(t, 2*i, r.Value)
		require.Equal(t, fullMeta(r.Value).Key, r.Key)
	}
	for i, r := range odd.got() {
		require.Equal(t, 2*i+1, r.Value)
		require.EqualValues(t, r.Value, r.Origin.Offset)
	}
	st := stage(t, p.Status(), "op")
	require.EqualValues(t, 1001, st.Out)
	require.Zero(t, st.Filtered)
}

func TestSecondStreamOfSplitMayBeLeftUnread(t *testing.T) {
	t.Parallel()
	src := count(100, 10)
	records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[int] {
		yes, _ := flow.Split(s, isEven)
		return yes
	})
	require.Len(t, records, 50)
	require.Equal(t, 100, src.committedTo(), "what nobody reads is acknowledged")
}

func TestRouteSendsEveryRecordToItsStream(t *testing.T) {
	t.Parallel()
	indexes := map[string]struct {
		n int
		f func(int) int
	}{
		"one stream":       {1, func(int) int { return 0 }},
		"in turn":          {3, func(v int) int { return v % 3 }},
		"all to the last":  {4, func(int) int { return 3 }},
		"a batch for each": {10, func(v int) int { return v / 100 }},
	}
	for name, c := range indexes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			src := count(1000, 100)
			src.meta = fullMeta
			calls := 0
			streams := flow.Route(runnel.From(p, src), c.n, func(v int) int { calls++; return c.f(v) })
			require.Len(t, streams, c.n)
			var sinks []*bag[int]
			for _, s := range streams {
				sinks = append(sinks, &bag[int]{})
				s.To(sinks[len(sinks)-1])
			}
			require.NoError(t, p.Run(context.Background()))
			total := 0
			for i, sink := range sinks {
				last := -1
				for _, r := range sink.got() {
					require.Equal(t, i, c.f(r.Value))
					require.Less(t, last, r.Value, "order within a stream")
					require.Equal(t, fullMeta(r.Value).Key, r.Key)
					require.EqualValues(t, r.Value, r.Origin.Offset)
					last = r.Value
				}
				total += len(sink.got())
			}
			require.Equal(t, 1000, total)
			require.Equal(t, 1000, calls, "the function is called once for each record")
		})
	}
}

func TestRouteOutOfRangeFailsForItsRecord(t *testing.T) {
	t.Parallel()
	dead := &bag[runnel.Failed]{}
	records, _ := through(t, of(0, -1, 2, 1), func(s runnel.Stream[int]) runnel.Stream[int] {
		streams := flow.Route(s, 2, func(v int) int { return v }, runnel.DeadLetter(dead))
		return flow.Merge(streams[0], streams[1])
	})
	require.ElementsMatch(t, []int{0, 1}, valuesOf(records))
	require.Len(t, dead.got(), 2)
	require.Equal(t, -1, dead.got()[0].Value.Value)
	require.ErrorContains(t, dead.got()[1].Value.Err, "stream 2 of 2")
}

func TestRouteToNoStreamIsReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, -1} {
		p := runnel.New("test")
		require.Empty(t, flow.Route(runnel.From(p, of(1)), n, triple))
		require.ErrorContains(t, p.Validate(), "the number of streams is")
	}
}

func TestMergeHasEveryRecordOnceInTheOrderOfItsStream(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	a, b, c := count(1000, 10), count(500, 100), of[int]()
	out := &bag[int]{}
	flow.Merge(runnel.From(p, a), runnel.From(p, b), runnel.From(p, c)).To(out)
	require.NoError(t, p.Run(context.Background()))
	bySource := make(map[string][]int)
	for _, r := range out.got() {
		bySource[r.Origin.Source] = append(bySource[r.Origin.Source], r.Value)
	}
	require.Equal(t, map[string][]int{"list-source-1": without(1000), "list-source-2": without(500)}, bySource)
	require.Equal(t, 1000, a.committedTo())
	require.Equal(t, 500, b.committedTo())
}

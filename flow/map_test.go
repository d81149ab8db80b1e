package flow_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/stretchr/testify/require"
)

// fullMeta gives every value of a source a key, a time and headers.
func fullMeta(i int) runnel.Meta {
	return runnel.Meta{
		Key:     []byte{byte(i)},
		Time:    time.Unix(int64(i), 0).UTC(),
		Headers: runnel.Headers{{Name: "n", Value: []byte(strconv.Itoa(i))}, {Name: "n"}},
	}
}

func TestMappingsHandOnMetadata(t *testing.T) {
	t.Parallel()
	for _, op := range trying {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			src := count(25, 10)
			src.meta = fullMeta
			records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[int] { return op.apply(s, failing()) })
			require.Len(t, records, 25)
			for i, r := range records {
				require.Equal(t, i, r.Value)
				want := fullMeta(i)
				require.Equal(t, want.Key, r.Key)
				require.Equal(t, want.Time, r.Time)
				require.Equal(t, want.Headers, r.Headers)
				require.EqualValues(t, i, r.Origin.Offset)
				require.Equal(t, "list-source-1", r.Origin.Source)
			}
		})
	}
}

func TestMapChangesTheType(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"nothing": 0, "one": 1, "more than a batch": 2500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, status := through(t, count(n, 2000), func(s runnel.Stream[int]) runnel.Stream[string] {
				return flow.Map(s, strconv.Itoa, runnel.Name("op"))
			})
			require.Len(t, records, n)
			for i, r := range records {
				require.Equal(t, strconv.Itoa(i), r.Value)
			}
			require.EqualValues(t, n, stage(t, status, "op").In)
			require.EqualValues(t, n, stage(t, status, "op").Out)
		})
	}
}

func TestMapInParallelKeepsTheOrder(t *testing.T) {
	t.Parallel()
	records, _ := through(t, count(5000, 100), func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Map(s, triple, runnel.Parallel(4))
	})
	require.Len(t, records, 5000)
	for i, r := range records {
		require.Equal(t, 3*i, r.Value)
		require.EqualValues(t, i, r.Origin.Offset)
	}
}

func TestBranchesOfAStreamDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	s := runnel.From(p, count(3000, 100))
	tripled, even, all := &bag[int]{}, &bag[int]{}, &bag[int]{}
	flow.Map(flow.Map(s, triple), addOne).To(tripled)
	flow.Filter(s, isEven).To(even)
	s.To(all)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, without(3000), all.values())
	for i, v := range tripled.values() {
		require.Equal(t, 3*i+1, v)
	}
	for i, v := range even.values() {
		require.Equal(t, 2*i, v)
	}
}

func TestAbortDoesNotWaitForABatchOfSlowCalls(t *testing.T) {
	t.Parallel()
	slow := map[string]func(runnel.Stream[int], func()) runnel.Stream[int]{
		"Map": func(s runnel.Stream[int], f func()) runnel.Stream[int] {
			return flow.Map(s, func(v int) int { f(); return v })
		},
		"TryMap": func(s runnel.Stream[int], f func()) runnel.Stream[int] {
			return flow.TryMap(s, func(v int) (int, error) { f(); return v, nil }, runnel.Skip())
		},
		"Decode": func(s runnel.Stream[int], f func()) runnel.Stream[int] {
			return flow.Decode(s, func(v int, to *int) error { f(); *to = v; return nil })
		},
		"sink.Func": func(s runnel.Stream[int], f func()) runnel.Stream[int] {
			s.To(sink.Func(func(context.Context, int) error { f(); return nil }))
			return s
		},
	}
	for name, build := range slow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			calls := 0
			build(runnel.From(p, ints(benchBatch)), func() {
				if calls++; calls == 2 {
					p.Abort()
				}
			}).To(sink.Discard[int]())
			require.ErrorIs(t, p.Run(t.Context()), runnel.ErrAborted)
			require.LessOrEqual(t, calls, 128)
		})
	}
}

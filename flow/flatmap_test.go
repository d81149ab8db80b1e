package flow_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// times returns v%4 copies of v.
func times(v int) []int { return slices.Repeat([]int{v}, v%4) }

func TestFlatMapKeepsWhatComesOfARecordTogether(t *testing.T) {
	t.Parallel()
	type stream = runnel.Stream[int]
	for name, apply := range map[string]func(stream) stream{
		"FlatMap":     func(s stream) stream { return flow.FlatMap(s, times, runnel.Name("op")) },
		"in parallel": func(s stream) stream { return flow.FlatMap(s, times, runnel.Name("op"), runnel.Parallel(3)) },
		"TryFlatMap": func(s stream) stream {
			return flow.TryFlatMap(s, func(v int) ([]int, error) { return times(v), nil }, runnel.Name("op"))
		},
		"FlatMapSeq": func(s stream) stream {
			return flow.FlatMapSeq(s, func(v int) iter.Seq[int] { return slices.Values(times(v)) }, runnel.Name("op"))
		},
		"FlatMapRecord": func(s stream) stream {
			return flow.FlatMapRecord(s, func(r runnel.Record[int]) ([]runnel.Record[int], error) {
				return slices.Repeat([]runnel.Record[int]{r}, r.Value%4), nil
			}, runnel.Name("op"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := count(1000, 70)
			src.meta = fullMeta
			var want []int
			for v := range 1000 {
				want = append(want, times(v)...)
			}
			records, status := through(t, src, apply, runnel.MaxBatch(50))
			require.Equal(t, want, valuesOf(records))
			for _, r := range records {
				require.Equal(t, fullMeta(r.Value).Key, r.Key)
				require.Equal(t, fullMeta(r.Value).Headers, r.Headers)
				require.EqualValues(t, r.Value, r.Origin.Offset)
			}
			require.EqualValues(t, 250, stage(t, status, "op").Filtered)
			require.EqualValues(t, len(want), stage(t, status, "op").Out)
		})
	}
}

func TestFlatMapMayUseItsSliceAgain(t *testing.T) {
	t.Parallel()
	var mine [2]string
	records, _ := through(t, count(10, 10), func(s runnel.Stream[int]) runnel.Stream[string] {
		return flow.FlatMap(s, func(v int) []string {
			mine = [2]string{fmt.Sprint(v), "-"}
			return mine[:]
		})
	})
	require.Equal(t, []string{"0", "-", "1", "-"}, valuesOf(records)[:4])
	require.Len(t, records, 20)
}

func TestSequenceIsEmittedAsItIsYielded(t *testing.T) {
	t.Parallel()
	src, out := of(1), &bag[int]{}
	seen := make(chan struct{})
	out.write = func(context.Context, runnel.Batch[int]) error {
		select {
		case <-seen:
		default:
			close(seen)
		}
		return nil
	}
	p := runnel.New("test", runnel.MaxBatch(10))
	flow.FlatMapSeq(runnel.From(p, src), func(int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range 10 {
				yield(i)
			}
			<-seen // the sink has some before the sequence ends
			for i := range 5 {
				yield(i + 10)
			}
		}
	}).To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, without(15), out.values())
}

func TestSequenceThatPanicsKeepsWhatItHasYielded(t *testing.T) {
	t.Parallel()
	half := func(v int) iter.Seq[int] {
		return func(yield func(int) bool) {
			yield(v)
			if v == 1 {
				panic(errBad)
			}
			yield(v)
		}
	}
	for name, c := range map[string]struct {
		opts []runnel.StageOption
		want []int
	}{
		"skipped": {[]runnel.StageOption{runnel.Skip()}, []int{0, 0, 1, 2, 2}},
		"retried": {[]runnel.StageOption{runnel.Skip(), runnel.Retry(2, 0)}, []int{0, 0, 1, 1, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := through(t, count(3, 3), func(s runnel.Stream[int]) runnel.Stream[int] {
				return flow.FlatMapSeq(s, half, c.opts...)
			})
			require.Equal(t, c.want, valuesOf(records))
		})
	}
}

func TestEndlessSequenceEndsWithTheRun(t *testing.T) {
	t.Parallel()
	p := runnel.New("test", runnel.DrainTimeout(0))
	ctx, stop := context.WithCancel(context.Background())
	out := &bag[int]{write: func(context.Context, runnel.Batch[int]) error { stop(); return nil }}
	flow.FlatMapSeq(runnel.From(p, of(1)), func(int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for yield(1) {
			}
		}
	}).To(out)
	require.ErrorIs(t, p.Run(ctx), runnel.ErrDrainTimeout)
}

func TestUnbatchGivesBackWhatBatchTook(t *testing.T) {
	t.Parallel()
	records, status := through(t, of([]int{1, 2}, nil, []int{3}), func(s runnel.Stream[[]int]) runnel.Stream[int] {
		return flow.Unbatch(s, runnel.Name("op"))
	})
	require.Equal(t, []int{1, 2, 3}, valuesOf(records))
	require.EqualValues(t, 1, stage(t, status, "op").Filtered, "an empty slice is filtered")
	require.EqualValues(t, 2, records[2].Origin.Offset)
}

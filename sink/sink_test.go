package sink_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// from returns a pipeline with one source of numbers.
func from(n int, opts ...runnel.Option) (*runnel.Pipeline, runnel.Stream[int]) {
	p := runnel.New("sinks", opts...)
	return p, runnel.From(p, source.Slice(numbers(n)), runnel.Name("in"))
}

func TestSliceKeepsRecordsWithTheirMetadata(t *testing.T) {
	t.Parallel()
	out := sink.NewSlice[int]()
	p, s := from(3)
	s.To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, []int{0, 1, 2}, out.Values())
	require.Equal(t, 3, out.Len())
	require.Equal(t, "in/0@2", out.Records()[2].Origin.String())
	out.Values()[0] = 99
	require.Equal(t, []int{0, 1, 2}, out.Values(), "what was returned is a copy")
}

func TestDiscardCounts(t *testing.T) {
	t.Parallel()
	out := sink.Discard[int]()
	p, s := from(2500)
	s.To(out)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, int64(2500), out.Count())
}

func TestErrorOfFuncIsThatOfTheRecord(t *testing.T) {
	t.Parallel()
	odd := func(_ context.Context, v int) error {
		if v%2 == 1 {
			return fmt.Errorf("%d is odd: %w", v, errBad)
		}
		return nil
	}
	forms := map[string]runnel.Sink[int]{
		"func": sink.Func(odd),
		"record": sink.FuncRecord(func(ctx context.Context, r runnel.Record[int]) error {
			if r.Origin.Offset != int64(r.Value) {
				return errors.New("the metadata is that of another record")
			}
			return odd(ctx, r.Value)
		}),
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dead := sink.NewSlice[runnel.Failed]()
			p, s := from(5)
			s.To(form, runnel.DeadLetter(dead), runnel.Name("out"))
			require.NoError(t, p.Run(context.Background()))
			require.Equal(t, 2, dead.Len())
			require.Equal(t, "in/0@1", dead.Values()[0].Origin.String())
			require.Equal(t, 3, dead.Values()[1].Value)
			require.Equal(t, "out", dead.Values()[1].Stage)
			require.ErrorIs(t, dead.Values()[1].Err, errBad)
		})
	}
}

func TestErrorOfFuncEndsTheRunWithoutAPolicy(t *testing.T) {
	t.Parallel()
	p, s := from(5)
	s.To(sink.Func(func(_ context.Context, v int) error {
		if v == 3 {
			return errBad
		}
		return nil
	}), runnel.Name("out"))
	err := p.Run(context.Background())
	require.ErrorIs(t, err, errBad)
	require.EqualError(t, err, "runnel: out: at in/0@3: bad")
}

func TestFuncIsRepeatedOnlyWhereThatDoesNoHarm(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		opts []sink.FuncOption
		want int // calls
	}{
		"any error":             {errBad, nil, 1},
		"retryable error":       {runnel.AsRetryable(errBad), nil, 3},
		"any error, idempotent": {errBad, []sink.FuncOption{sink.Idempotent()}, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			p, s := from(1)
			s.To(sink.Func(func(context.Context, int) error {
				calls++
				return c.err
			}, c.opts...), runnel.Retry(3, 0), runnel.Skip())
			require.NoError(t, p.Run(context.Background()))
			require.Equal(t, c.want, calls)
		})
	}
}

func TestEndOfContextIsNoFailureOfARecord(t *testing.T) {
	t.Parallel()
	var calls int
	dead, entered := sink.NewSlice[runnel.Failed](), make(chan struct{})
	p, s := from(5, runnel.DrainTimeout(0))
	s.To(sink.Func(func(ctx context.Context, v int) error {
		if calls++; v == 1 {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}), runnel.DeadLetter(dead))
	run := runneltest.Start(t, p)
	<-entered
	require.ErrorIs(t, run.Stop(), runnel.ErrDrainTimeout)
	require.Empty(t, dead.Values())
	require.Equal(t, 2, calls, "no record behind it was tried")
}

func TestErrorOfFuncBatchConcernsTheBatchUnlessItNamesRecords(t *testing.T) {
	t.Parallel()
	p, s := from(4)
	s.To(sink.FuncBatch(func(context.Context, runnel.Batch[int]) error { return errBad }), runnel.Skip())
	require.ErrorIs(t, p.Run(context.Background()), errBad, "a policy is for records")

	p, s = from(4)
	s.To(sink.FuncBatch(func(_ context.Context, b runnel.Batch[int]) error {
		return &runnel.BatchError[int]{Failed: []runnel.Record[int]{b.Record(2)}, Errs: []error{errBad}}
	}), runnel.Skip())
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, int64(1), p.Status().Sinks[0].Skipped)
}

func TestNilFunctionsAreFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]runnel.Sink[int]{
		"func": sink.Func[int](nil), "record": sink.FuncRecord[int](nil), "batch": sink.FuncBatch[int](nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := from(1)
			s.To(out)
			require.ErrorContains(t, p.Validate(), "the function is nil")
		})
	}
}

func TestNilOptionsAreFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]runnel.Sink[int]{
		"func":   sink.Func(func(context.Context, int) error { return nil }, sink.Idempotent(), nil),
		"record": sink.FuncRecord(func(context.Context, runnel.Record[int]) error { return nil }, nil),
		"batch":  sink.FuncBatch(func(context.Context, runnel.Batch[int]) error { return nil }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := from(1)
			s.To(out)
			require.ErrorContains(t, p.Validate(), ": an option is nil")
		})
	}
	p, s := from(1)
	s.To(sink.Func[int](nil, nil))
	require.ErrorContains(t, p.Validate(), ": the function is nil\n")
	require.ErrorContains(t, p.Validate(), ": an option is nil")
}

func TestSeqGivesEveryRecordAndThenTheErrorOfTheRun(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	out := sink.NewSeq[int]()
	p, s := from(2000)
	s.To(out)
	var got []int
	for v, err := range out.Run(context.Background(), p) {
		require.NoError(t, err)
		got = append(got, v)
	}
	require.Equal(t, numbers(2000), got)

	out = sink.NewSeq[int]()
	p = runnel.New("fails")
	d := runneltest.NewDriver[int](t)
	runnel.From(p, d).To(out)
	d.Post(1, 2)
	d.Fail(errBad)
	got = nil
	var failure error
	for r, err := range out.RunRecords(context.Background(), p) {
		if err != nil {
			require.NoError(t, failure, "the error comes once")
			failure = err
			continue
		}
		got = append(got, r.Value)
	}
	require.ErrorIs(t, failure, errBad)
	for _, v := range got {
		require.Contains(t, []int{1, 2}, v)
	}
	for _, err := range out.Run(context.Background(), p) {
		require.ErrorIs(t, err, runnel.ErrClosed, "a pipeline runs once")
	}
}

func TestSeqCommitsNothingThatTheLoopWasLeftWith(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	store, d := runneltest.NewStore(), runneltest.NewDriver[int](t)
	var all []int
	read := func(most int) {
		out := sink.NewSeq[int]()
		p := runnel.New("seq", runnel.Checkpoint(store, checkpoint.EveryRecords(3)), runnel.MaxBatch(1))
		runnel.From(p, d).To(out)
		for v, err := range out.Run(context.Background(), p) {
			require.NoError(t, err)
			if all = append(all, v); v == 5 {
				d.AwaitCommitted(3) // the loop has left the first three behind
			}
			if most--; most == 0 {
				break
			}
		}
	}
	for i := range 8 {
		d.Post(i)
	}
	read(6)
	require.Equal(t, 3, d.Committed(), "the loop was left in the middle of record 5")
	d.End()
	read(-1)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7}, all)
	require.Equal(t, 8, d.Committed())
}

func TestSeqDrainsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	d, out := runneltest.NewDriver[int](t), sink.NewSeq[int]()
	p := runnel.New("stop")
	runnel.From(p, d).To(out)
	ctx, stop := context.WithCancel(context.Background())
	d.Post(1, 2, 3)
	var got []int
	for v, err := range out.Run(ctx, p) {
		require.NoError(t, err)
		if got = append(got, v); v == 1 {
			stop()
		}
	}
	stop()
	require.Equal(t, []int{1, 2, 3}, got)
	require.Equal(t, 3, d.Committed())
}

func TestSeqDoesNotRunAheadOfTheLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := sink.NewSeq[int]()
		p, s := from(1000, runnel.MaxBatch(1))
		s.To(out)
		taken := 0
		for _, err := range out.Run(context.Background(), p) {
			require.NoError(t, err)
			taken++
			synctest.Wait()
			require.Less(t, p.Status().Sources[0].Read, int64(taken+20))
			if taken == 100 {
				break
			}
		}
		require.Equal(t, 100, taken)
	})
}

func TestAbortDoesNotWaitForTheLoop(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	out := sink.NewSeq[int]()
	p, s := from(10)
	s.To(out)
	var last error
	for _, err := range out.Run(context.Background(), p) {
		if last = err; err == nil {
			p.Abort() // the loop is at work on a record
		}
	}
	require.ErrorIs(t, last, runnel.ErrAborted)
}

func TestPanicInTheLoopEndsTheRun(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	out := sink.NewSeq[int]()
	p, s := from(10)
	s.To(out)
	require.PanicsWithValue(t, "in the loop", func() {
		for _, err := range out.Run(context.Background(), p) {
			require.NoError(t, err)
			panic("in the loop")
		}
	})
}

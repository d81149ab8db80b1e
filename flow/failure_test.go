package flow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// identity is an operator that passes every value on for which f returns nil.
type identity struct {
	name  string
	apply func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int]
}

// trying are the operators whose functions return errors.
var trying = []identity{
	{"TryMap", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.TryMap(s, func(v int) (int, error) { return v, f(v) }, opts...)
	}},
	{"MapRecord", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.MapRecord(s, func(r runnel.Record[int]) (runnel.Record[int], error) { return r, f(r.Value) }, opts...)
	}},
	{"MapAsync", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.MapAsync(s, func(_ context.Context, v int) (int, error) { return v, f(v) }, opts...)
	}},
	{"MapAsync in parallel", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.MapAsync(s, func(_ context.Context, v int) (int, error) { return v, f(v) }, append(opts, runnel.Parallel(3))...)
	}},
	{"MapKeyed", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		keyed := flow.KeyBy(s, func(int) string { return "all" })
		return flow.MapKeyed(keyed, func(_ context.Context, _ string, v int) (int, error) { return v, f(v) }, append(opts, runnel.Parallel(3))...)
	}},
	{"TryFilter", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.TryFilter(s, func(v int) (bool, error) { return true, f(v) }, opts...)
	}},
	{"FilterRecord", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.FilterRecord(s, func(r runnel.Record[int]) (bool, error) { return true, f(r.Value) }, opts...)
	}},
	{"TryFlatMap", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.TryFlatMap(s, func(v int) ([]int, error) { return []int{v}, f(v) }, opts...)
	}},
	{"FlatMapRecord", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.FlatMapRecord(s, func(r runnel.Record[int]) ([]runnel.Record[int], error) {
			return []runnel.Record[int]{r}, f(r.Value)
		}, opts...)
	}},
	{"TryTap", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.TryTap(s, f, opts...)
	}},
	{"TapRecord", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.TapRecord(s, func(r runnel.Record[int]) error { return f(r.Value) }, opts...)
	}},
}

// panicking are the operators whose functions return no error and so can only panic.
var panicking = []identity{
	{"Map", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.Map(s, func(v int) int { must(f(v)); return v }, opts...)
	}},
	{"Filter", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.Filter(s, func(v int) bool { must(f(v)); return true }, opts...)
	}},
	{"FlatMap", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.FlatMap(s, func(v int) []int { must(f(v)); return []int{v} }, opts...)
	}},
	{"FlatMapSeq", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.FlatMapSeq(s, func(v int) iter.Seq[int] { must(f(v)); return func(yield func(int) bool) { yield(v) } }, opts...)
	}},
	{"Tap", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.Tap(s, func(v int) { must(f(v)) }, opts...)
	}},
	{"Split", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		yes, _ := flow.Split(s, func(v int) bool { must(f(v)); return true }, opts...)
		return yes
	}},
	{"Route", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.Route(s, 1, func(v int) int { must(f(v)); return 0 }, opts...)[0]
	}},
	{"Dedup", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		return flow.Dedup(s, func(v int) int { must(f(v)); return v }, 1000, 0, opts...)
	}},
	{"Batch", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		size := func(v int) int { must(f(v)); return 1 }
		return flow.Unbatch(flow.BatchOf(s, flow.BatchSpec[int]{Bytes: 1, Size: size}, opts...))
	}},
	{"key of MapKeyed", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
		routed := make(map[int]bool) // Route calls the key function first, the stage again
		var mu sync.Mutex
		key := func(v int) string {
			mu.Lock()
			again := routed[v]
			routed[v] = true
			mu.Unlock()
			if again {
				must(f(v))
			}
			return "all"
		}
		return flow.MapKeyed(flow.KeyBy(s, key), func(_ context.Context, _ string, v int) (int, error) { return v, nil },
			append(opts, runnel.Parallel(2))...)
	}},
}

// must panics with an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// withPanics are all operators, those with errors once more with panics.
func withPanics() []identity {
	all := append([]identity(nil), trying...)
	for _, op := range trying {
		apply := op.apply
		all = append(all, identity{op.name + ", panic", func(s runnel.Stream[int], f func(int) error, opts ...runnel.StageOption) runnel.Stream[int] {
			return apply(s, func(v int) error { must(f(v)); return nil }, opts...)
		}})
	}
	for _, op := range panicking {
		all = append(all, identity{op.name + ", panic", op.apply})
	}
	return all
}

// failing returns a function that fails for some values.
func failing(values ...int) func(int) error {
	bad := make(map[int]bool)
	for _, v := range values {
		bad[v] = true
	}
	return func(v int) error {
		if bad[v] {
			return errBad
		}
		return nil
	}
}

// without returns 0 … n-1 but for some values.
func without(n int, values ...int) []int {
	f, rest := failing(values...), []int{}
	for v := range n {
		if f(v) == nil {
			rest = append(rest, v)
		}
	}
	return rest
}

// keyOf gives every value of a source a key.
func keyOf(i int) runnel.Meta { return runnel.Meta{Key: fmt.Append(nil, "k", i)} }

func TestRecordThatFailsIsSkippedAlone(t *testing.T) {
	t.Parallel()
	sets := map[string][]int{
		"first": {0}, "last": {19}, "one of many": {7}, "neighbours": {7, 8, 9}, "across a batch": {9, 10},
		"every other": {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, "all of a batch": {10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
	}
	for _, op := range withPanics() {
		for name, bad := range sets {
			t.Run(op.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				src := count(20, 10)
				src.meta = keyOf
				records, status := through(t, src, func(s runnel.Stream[int]) runnel.Stream[int] {
					return op.apply(s, failing(bad...), runnel.Name("op"), runnel.Skip())
				})
				require.Equal(t, without(20, bad...), valuesOf(records))
				for _, r := range records {
					require.EqualValues(t, r.Value, r.Origin.Offset, "the origin stays with its value")
					if op.name != "Batch, panic" {
						require.Equal(t, keyOf(r.Value).Key, r.Key, "the key stays with its value")
					}
				}
				require.EqualValues(t, len(bad), stage(t, status, "op").Skipped)
				require.EqualValues(t, len(bad), stage(t, status, "op").Failed)
				require.Equal(t, 20, src.committedTo(), "skipped records are covered by the commit")
			})
		}
	}
}

func TestRecordThatFailsGoesToDeadLettersAsItWas(t *testing.T) {
	t.Parallel()
	for _, op := range withPanics() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			src, dead := count(20, 10), &bag[runnel.Failed]{}
			src.meta = keyOf
			records, status := through(t, src, func(s runnel.Stream[int]) runnel.Stream[int] {
				return op.apply(s, failing(3, 4, 19), runnel.Name("op"), runnel.Retry(2, 0), runnel.DeadLetter(dead))
			})
			require.Equal(t, without(20, 3, 4, 19), valuesOf(records))
			require.EqualValues(t, 3, stage(t, status, "op").DeadLettered)
			require.Len(t, dead.got(), 3)
			for i, v := range []int{3, 4, 19} {
				f := dead.got()[i].Value
				require.Equal(t, v, f.Value)
				require.Equal(t, "op", f.Stage)
				require.Equal(t, 2, f.Attempts)
				require.ErrorIs(t, f.Err, errBad)
				require.EqualValues(t, v, f.Origin.Offset)
				require.Equal(t, keyOf(v).Key, f.Key)
			}
			require.Equal(t, 20, src.committedTo())
		})
	}
}

func TestRecordThatFailsEndsTheRunWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, op := range withPanics() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			src, out := count(20, 10), &bag[int]{}
			p := runnel.New("test")
			op.apply(runnel.From(p, src), failing(13), runnel.Name("op")).To(out)
			err := p.Run(context.Background())
			require.ErrorIs(t, err, errBad)
			var place *runnel.StageError
			require.ErrorAs(t, err, &place)
			require.Equal(t, "op", place.Stage)
			require.EqualValues(t, 13, place.Origin.Offset)
			require.Zero(t, src.committedTo(), "nothing is committed behind the last checkpoint")
			require.NotContains(t, out.values(), 13)
		})
	}
}

func TestPanicArrivesWithItsStack(t *testing.T) {
	t.Parallel()
	p := runnel.New("test")
	flow.Map(runnel.From(p, count(3, 3)), func(v int) int { return 1 / (v - 1) }).To(&bag[int]{})
	err := p.Run(context.Background())
	var caught *runnel.PanicError
	require.ErrorAs(t, err, &caught)
	require.Contains(t, string(caught.Stack), "failure_test.go", "the stack names the user's function")
	require.ErrorContains(t, err, "divide by zero")
}

func TestRetriedRecordKeepsItsPlace(t *testing.T) {
	t.Parallel()
	for _, op := range withPanics() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			calls := make(map[int]int)
			f := func(v int) error {
				mu.Lock()
				defer mu.Unlock()
				calls[v]++
				if v%7 == 3 && calls[v] < 3 {
					return errBad
				}
				return nil
			}
			records, status := through(t, count(20, 10), func(s runnel.Stream[int]) runnel.Stream[int] {
				return op.apply(s, f, runnel.Name("op"), runnel.Retry(3, 0))
			})
			require.Equal(t, without(20), valuesOf(records))
			require.EqualValues(t, 6, stage(t, status, "op").Failed, "each attempt that failed is counted")
			require.Equal(t, 3, calls[3])
			require.Equal(t, 1, calls[4], "its neighbours are not called again")
		})
	}
}

func TestRetryWaitsWithAPauseThatDoubles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		f := func(int) (int, error) {
			at = append(at, time.Since(start))
			return 0, errBad
		}
		records, _ := through(t, of(1), func(s runnel.Stream[int]) runnel.Stream[int] {
			return flow.TryMap(s, f, runnel.Retry(4, time.Second), runnel.Skip())
		})
		require.Empty(t, records)
		require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, at)
	})
}

func TestCancellationIsNoFailureOfARecord(t *testing.T) {
	t.Parallel()
	for _, op := range trying {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			f := func(v int) error {
				if v == 5 {
					return fmt.Errorf("ask: %w", context.Canceled)
				}
				return nil
			}
			src, dead := count(10, 10), &bag[runnel.Failed]{}
			p := runnel.New("test")
			op.apply(runnel.From(p, src), f, runnel.Retry(3, 0), runnel.DeadLetter(dead)).To(&bag[int]{})
			require.ErrorIs(t, p.Run(context.Background()), context.Canceled)
			require.Empty(t, dead.got())
			require.Zero(t, src.committedTo())
		})
	}
}

func TestMissingFunctionIsReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	type stream = runnel.Stream[int]
	for name, build := range map[string]func(stream) stream{
		"Map":           func(s stream) stream { return flow.Map[int, int](s, nil) },
		"TryMap":        func(s stream) stream { return flow.TryMap[int, int](s, nil) },
		"MapAsync":      func(s stream) stream { return flow.MapAsync[int, int](s, nil) },
		"MapKeyed":      func(s stream) stream { return flow.MapKeyed[int, int, int](flow.KeyBy(s, triple), nil) },
		"MapRecord":     func(s stream) stream { return flow.MapRecord[int, int](s, nil) },
		"Filter":        func(s stream) stream { return flow.Filter(s, nil) },
		"TryFilter":     func(s stream) stream { return flow.TryFilter(s, nil) },
		"FilterRecord":  func(s stream) stream { return flow.FilterRecord(s, nil) },
		"FlatMap":       func(s stream) stream { return flow.FlatMap[int, int](s, nil) },
		"TryFlatMap":    func(s stream) stream { return flow.TryFlatMap[int, int](s, nil) },
		"FlatMapSeq":    func(s stream) stream { return flow.FlatMapSeq[int, int](s, nil) },
		"FlatMapRecord": func(s stream) stream { return flow.FlatMapRecord[int, int](s, nil) },
		"Tap":           func(s stream) stream { return flow.Tap(s, nil) },
		"TryTap":        func(s stream) stream { return flow.TryTap(s, nil) },
		"TapRecord":     func(s stream) stream { return flow.TapRecord(s, nil) },
		"Split":         func(s stream) stream { yes, _ := flow.Split(s, nil); return yes },
		"Route":         func(s stream) stream { return flow.Route(s, 1, nil)[0] },
		"Dedup":         func(s stream) stream { return flow.Dedup[int](s, nil, 1, 0) },
		"KeyBy": func(s stream) stream {
			return flow.MapKeyed(flow.KeyBy[int](s, nil), func(context.Context, int, int) (int, error) { return 0, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("test")
			build(runnel.From(p, of(1))).To(&bag[int]{})
			require.ErrorContains(t, p.Validate(), "function is nil")
			require.Equal(t, p.Validate().Error(), p.Run(context.Background()).Error())
		})
	}
}

func TestFailureBehindAnOperatorIsNotItsFailure(t *testing.T) {
	t.Parallel()
	broken := &bag[int]{write: func(context.Context, runnel.Batch[int]) error { return errors.New("disk full") }}
	p := runnel.New("test")
	flow.FlatMap(runnel.From(p, count(5000, 100)), func(v int) []int { return []int{v, v} }, runnel.Skip()).
		To(broken, runnel.Name("out"))
	err := p.Run(context.Background())
	var place *runnel.StageError
	require.ErrorAs(t, err, &place)
	require.Equal(t, "out", place.Stage)
}

package flow_test

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// TestCoreOperatorsDoNotAllocateForARecord compares a short run with a long one, so that what a run costs once does not
// count. It is not parallel, because allocations of other tests would count.
func TestCoreOperatorsDoNotAllocateForARecord(t *testing.T) {
	type stream = runnel.Stream[int]
	const short, long = 10 * benchBatch, 500 * benchBatch
	for name, build := range map[string]func(stream) stream{
		"Map":        func(s stream) stream { return flow.Map(s, addOne) },
		"TryMap":     func(s stream) stream { return flow.TryMap(s, func(v int) (int, error) { return v, nil }) },
		"Filter":     func(s stream) stream { return flow.Filter(s, isEven) },
		"Filter all": func(s stream) stream { return flow.Filter(s, func(int) bool { return true }) },
		"Tap":        func(s stream) stream { return flow.Tap(s, func(int) {}) },
		"a chain":    func(s stream) stream { return flow.Map(flow.Filter(flow.Map(s, addOne), isEven), triple) },
		"Split":      func(s stream) stream { return flow.Merge(flow.Split(s, isEven)) },
		"Take, Drop": func(s stream) stream { return flow.Drop(flow.Take(s, long), 10) },
		"Dedup":      func(s stream) stream { return flow.Dedup(s, addOne, 100, 0) },
		"FlatMap": func(s stream) stream {
			var a [1]int
			return flow.FlatMap(s, func(v int) []int { a[0] = v; return a[:] })
		},
		"Route": func(s stream) stream {
			all := flow.Route(s, 3, func(v int) int { return v % 3 })
			return flow.Merge(all[0], all[1:]...)
		},
		"MapRecord": func(s stream) stream {
			return flow.MapRecord(s, func(r runnel.Record[int]) (runnel.Record[int], error) { return r, nil })
		},
		"Batch of 1k": func(s stream) stream { return flow.Unbatch(flow.Batch(s, 1000, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			allocs := func(n int) float64 {
				return testing.AllocsPerRun(2, func() {
					p := runnel.New("test")
					build(runnel.From(p, ints(n))).To(&drain[int]{})
					if err := p.Run(context.Background()); err != nil {
						panic(err)
					}
				})
			}
			perRecord := (allocs(long) - allocs(short)) / (long - short)
			require.Less(t, perRecord, 0.03, "a batch of %d records may cost a few, a record none", benchBatch)
		})
	}
}

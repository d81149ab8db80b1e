package flow_test

import (
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestFilterKeepsWhatItIsToldAndCountsTheRest(t *testing.T) {
	t.Parallel()
	keeps := map[string]func(int) bool{
		"all":         func(int) bool { return true },
		"none":        func(int) bool { return false },
		"every other": isEven,
		"first half":  func(v int) bool { return v < 50 },
		"the last":    func(v int) bool { return v == 99 },
	}
	type stream = runnel.Stream[int]
	filters := map[string]func(s stream, keep func(int) bool) stream{
		"Filter": func(s stream, keep func(int) bool) stream { return flow.Filter(s, keep, runnel.Name("op")) },
		"TryFilter": func(s stream, keep func(int) bool) stream {
			return flow.TryFilter(s, func(v int) (bool, error) { return keep(v), nil }, runnel.Name("op"))
		},
		"FilterRecord": func(s stream, keep func(int) bool) stream {
			return flow.FilterRecord(s, func(r runnel.Record[int]) (bool, error) { return keep(r.Value), nil }, runnel.Name("op"))
		},
		"in parallel": func(s stream, keep func(int) bool) stream {
			return flow.Filter(s, keep, runnel.Name("op"), runnel.Parallel(2))
		},
	}
	for filter, apply := range filters {
		for name, keep := range keeps {
			t.Run(filter+"/"+name, func(t *testing.T) {
				t.Parallel()
				var want []int
				for v := range 100 {
					if keep(v) {
						want = append(want, v)
					}
				}
				src := count(100, 30)
				src.meta = fullMeta
				records, status := through(t, src, func(s stream) stream { return apply(s, keep) })
				require.Equal(t, want, valuesOf(records))
				for _, r := range records {
					require.Equal(t, fullMeta(r.Value).Key, r.Key)
					require.Equal(t, fullMeta(r.Value).Time, r.Time)
					require.EqualValues(t, r.Value, r.Origin.Offset)
				}
				st := stage(t, status, "op")
				require.EqualValues(t, 100-len(want), st.Filtered)
				require.EqualValues(t, len(want), st.Out)
				require.Equal(t, 100, src.committedTo())
			})
		}
	}
}

package flow_test

import (
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestTapSeesEveryRecordOnceInOrder(t *testing.T) {
	t.Parallel()
	type stream = runnel.Stream[int]
	for name, apply := range map[string]func(s stream, see func(int)) stream{
		"Tap":    func(s stream, see func(int)) stream { return flow.Tap(s, see) },
		"TryTap": func(s stream, see func(int)) stream { return flow.TryTap(s, func(v int) error { see(v); return nil }) },
		"TapRecord": func(s stream, see func(int)) stream {
			return flow.TapRecord(s, func(r runnel.Record[int]) error { see(int(r.Origin.Offset)); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []int
			records, _ := through(t, count(1500, 100), func(s stream) stream {
				return apply(s, func(v int) { seen = append(seen, v) })
			})
			require.Equal(t, without(1500), seen)
			require.Equal(t, without(1500), valuesOf(records))
		})
	}
}

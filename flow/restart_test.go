package flow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// TestNothingIsLostWhenTheRunStartsAgain has a sink that fails now and then. Records may be repeated; none is missing,
// and none is there that does not belong.
func TestNothingIsLostWhenTheRunStartsAgain(t *testing.T) {
	t.Parallel()
	type stream = runnel.Stream[int]
	same := func(_ context.Context, v int) (int, error) { return v, nil }
	all := without(2000)
	for name, c := range map[string]struct {
		build func(stream) stream
		want  []int
	}{
		"map":    {func(s stream) stream { return flow.Map(s, func(v int) int { return v }) }, all},
		"filter": {func(s stream) stream { return flow.Filter(s, func(v int) bool { return v >= 1000 }) }, all[1000:]},
		"batch":  {func(s stream) stream { return flow.Unbatch(flow.Batch(s, 33, time.Millisecond)) }, all},
		"async":  {func(s stream) stream { return flow.MapAsync(s, same, runnel.Parallel(4), runnel.Unordered()) }, all},
		"keyed": {func(s stream) stream {
			keyed := flow.KeyBy(s, func(v int) int { return v % 17 })
			return flow.MapKeyed(keyed, func(_ context.Context, _, v int) (int, error) { return v, nil }, runnel.Parallel(4))
		}, all},
		"split": {func(s stream) stream { return flow.Merge(flow.Split(s, isEven)) }, all},
		"route": {func(s stream) stream {
			r := flow.Route(s, 3, func(v int) int { return v % 3 })
			return flow.Merge(r[0], r[1:]...)
		}, all},
		"drop": {func(s stream) stream { return flow.Drop(s, 700) }, all[700:]},
		"take": {func(s stream) stream { return flow.Take(s, 700) }, all[:700]},
		"take/drop": {func(s stream) stream {
			return flow.Drop(flow.Take(flow.Map(s, func(v int) int { return v }), 1500), 300)
		}, all[300:1500]},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 7))
				var left atomic.Int64
				left.Store(int64(3 + r.IntN(10)))
				odds := 2 + r.IntN(10)
				out := &bag[int]{write: func(context.Context, runnel.Batch[int]) error {
					if r.IntN(odds) == 0 && left.Add(-1) >= 0 {
						return errors.New("connection reset")
					}
					return nil
				}}
				p := runnel.New("test", runnel.MaxBatch(1+r.IntN(50)), runnel.Restart(100, 0),
					runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1+r.IntN(200))))
				c.build(runnel.From(p, count(2000, 1+r.IntN(100)))).To(out)
				require.NoError(t, p.Run(context.Background()))
				got := out.values()
				slices.Sort(got)
				require.Equal(t, c.want, slices.Compact(got))
			})
		}
	}
}

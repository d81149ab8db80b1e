package cases_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

// outputs are the sinks of a graph that has something of everything.
type outputs struct {
	even, odd, batched runnel.Sink[string]
	dead               runnel.Sink[runnel.Failed]
}

const (
	fromA = 90 // records of the one source
	fromB = 70 // and of the other
)

// everything builds the graph: two sources, workers with and without keys, a merge, a split, batches, dead letters that
// two stages send.
func everything(p *runneltest.Process, store checkpoint.Store, out outputs) *runnel.Pipeline {
	pipe := runnel.New("everything", runnel.MaxBatch(7),
		runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(25)))
	dead := runneltest.HookSink(out.dead, p.Hook)
	number := func(prefix string) func(context.Context, int) (string, error) {
		return func(ctx context.Context, v int) (string, error) {
			if v%10 == 9 {
				return "", fmt.Errorf("%d: %w", v, errTest)
			}
			return fmt.Sprint(prefix, v), p.Step(ctx)
		}
	}
	a := runnel.From(pipe, runneltest.HookSource(source.Slice(numbers(fromA)), p.Hook), runnel.Name("a"))
	b := runnel.From(pipe, runneltest.HookSource(source.Slice(numbers(fromB)), p.Hook), runnel.Name("b"))
	as := flow.MapAsync(a, number("a"), runnel.Parallel(3), runnel.DeadLetter(dead))
	keyed := flow.KeyBy(b, func(v int) int { return v % 4 })
	bs := flow.MapKeyed(keyed, func(ctx context.Context, _ int, v int) (string, error) { return number("b")(ctx, v) },
		runnel.Parallel(3), runnel.DeadLetter(dead))
	all := flow.Merge(as, bs)
	even, odd := flow.Split(all, func(v string) bool { return (v[len(v)-1]-'0')%2 == 0 })
	even.To(runneltest.HookSink(out.even, p.Hook), runnel.Name("even"))
	odd.To(runneltest.HookSink(out.odd, p.Hook), runnel.Name("odd"))
	batches := flow.Batch(all, 5, 0)
	flow.FlatMap(batches, func(v []string) []string { return v }).
		To(runneltest.HookSink(out.batched, p.Hook), runnel.Name("batched"))
	return pipe
}

// requireEverything fails the test unless each record has come where it belongs, once.
func requireEverything(t *testing.T, even, odd, batched []string, dead []runnel.Failed) {
	t.Helper()
	var wantEven, wantOdd, wantAll []string
	wantDead := 0
	for prefix, n := range map[string]int{"a": fromA, "b": fromB} {
		for i := range n {
			v := fmt.Sprint(prefix, i)
			switch {
			case i%10 == 9:
				wantDead++
				continue
			case i%2 == 0:
				wantEven = append(wantEven, v)
			default:
				wantOdd = append(wantOdd, v)
			}
			wantAll = append(wantAll, v)
		}
	}
	runneltest.ExactlyOnce(t, wantEven, even)
	runneltest.ExactlyOnce(t, wantOdd, odd)
	runneltest.ExactlyOnce(t, wantAll, batched)
	require.Len(t, dead, wantDead)
}

func TestKilledAnywhereAPipelineLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store := runneltest.NewStore()
		even, odd, batched := runneltest.NewTxSink[string](), runneltest.NewTxSink[string](), runneltest.NewTxSink[string]()
		dead := runneltest.NewTxSink[runnel.Failed]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			return everything(p, store, outputs{even, odd, batched, dead})
		})
		requireEverything(t, even.Committed(), odd.Committed(), batched.Committed(), dead.Committed())
	})
}

func TestStoppedAnywhereAPipelineLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store := runneltest.NewStore()
		even, odd := runneltest.NewProbe[string](), runneltest.NewDecidingSink[string]()
		batched, dead := runneltest.NewLateSink[string](), runneltest.NewProbe[runnel.Failed]()
		batched.AckAll()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			return everything(p, store, outputs{even, odd, batched, dead})
		})
		requireEverything(t, even.Values(), odd.Committed(), batched.Durable(), dead.Values())
	}, runneltest.ByStop())
}

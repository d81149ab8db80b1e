package runneltest_test

import (
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
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

func TestCrashLosesAndRepeatsNothingWithTransactionalSink(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewTxSink[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			pipe := runnel.New("copy", runnel.MaxBatch(7),
				runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(20)))
			runnel.From(pipe, runneltest.HookSource(source.Slice(data), p.Hook)).To(runneltest.HookSink(out, p.Hook))
			return pipe
		})
		require.Equal(t, data, out.Committed())
		require.Empty(t, out.Prepared())
	}, runneltest.Most(0))
}

func TestCrashLosesAndRepeatsNothingWithDecidingSink(t *testing.T) {
	t.Parallel()
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out, other := runneltest.NewStore(), runneltest.NewDecidingSink[int](), runneltest.NewTxSink[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			pipe := runnel.New("copy", runnel.MaxBatch(7),
				runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(20)))
			numbers := runnel.From(pipe, runneltest.HookSource(source.Slice(data), p.Hook))
			numbers.To(runneltest.HookSink(out, p.Hook))
			numbers.To(runneltest.HookSink(other, p.Hook))
			return pipe
		})
		require.Equal(t, data, out.Committed())
		require.Equal(t, data, other.Committed())
	}, runneltest.Most(0))
}

func TestCrashLosesNothingWithLateSink(t *testing.T) {
	t.Parallel()
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewLateSink[int]()
		out.AckAll()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			pipe := runnel.New("copy", runnel.MaxBatch(7),
				runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(20)))
			runnel.From(pipe, runneltest.HookSource(source.Slice(data), p.Hook)).To(runneltest.HookSink(out, p.Hook))
			return pipe
		})
		runneltest.AtLeastOnce(t, data, out.Durable())
	}, runneltest.Most(0))
}

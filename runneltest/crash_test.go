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

// copying is a pipeline from a source to sinks, with checkpoints every 20 records.
func copying(p *runneltest.Process, store *runneltest.Store, data []int, sinks ...runnel.Sink[int]) *runnel.Pipeline {
	pipe := runnel.New("copy", runnel.MaxBatch(7),
		runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(20)))
	s := runnel.From(pipe, runneltest.HookSource(source.Slice(data), p.Hook))
	for i, out := range sinks {
		s.To(runneltest.HookSink(out, p.Hook), runnel.Name(string(rune('a'+i))))
	}
	return pipe
}

func TestCrashFindsNothingLostOrRepeatedWithTransactionalSink(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewTxSink[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline { return copying(p, store, data, out) })
		require.Equal(t, data, out.Committed())
		require.Empty(t, out.Prepared())
	}, runneltest.Most(0))
}

func TestCrashFindsNothingLostOrRepeatedWithDecidingSink(t *testing.T) {
	t.Parallel()
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out, other := runneltest.NewStore(), runneltest.NewDecidingSink[int](), runneltest.NewTxSink[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline { return copying(p, store, data, out, other) })
		require.Equal(t, data, out.Committed())
		require.Equal(t, data, other.Committed())
	}, runneltest.Most(0))
}

func TestCrashFindsNothingLostWithLateSink(t *testing.T) {
	t.Parallel()
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewLateSink[int]()
		out.AckAll()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline { return copying(p, store, data, out) })
		runneltest.AtLeastOnce(t, data, out.Durable())
	}, runneltest.Most(0))
}

func TestStopRepeatsNothingWhateverTheSink(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, late, plain := runneltest.NewStore(), runneltest.NewLateSink[int](), runneltest.NewProbe[int]()
		tx := runneltest.NewTxSink[int]()
		late.AckAll()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline { return copying(p, store, data, late, plain, tx) })
		require.Equal(t, data, late.Durable())
		require.Equal(t, data, plain.Values())
		require.Equal(t, data, tx.Committed())
	}, runneltest.Most(0), runneltest.ByStop())
}

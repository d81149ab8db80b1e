package runneltest_test

import (
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/source"
)

// squaresSurviveKills is what a test calls with its t.
func squaresSurviveKills(t *testing.T) {
	data, want := []int{1, 2, 3, 4, 5, 6, 7}, []int{1, 4, 9, 16, 25, 36, 49}
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewTxSink[int]() // they outlive the process
		m.Run(func(proc *runneltest.Process) *runnel.Pipeline {
			p := runnel.New("squares", runnel.MaxBatch(2),
				runnel.Checkpoint(runneltest.HookStore(store, proc.Hook), checkpoint.EveryRecords(3)))
			numbers := runnel.From(p, runneltest.HookSource(source.Slice(data), proc.Hook))
			squares := flow.Map(numbers, func(v int) int { return v * v })
			squares.To(runneltest.HookSink(out, proc.Hook))
			return p
		})
		runneltest.ExactlyOnce(t, want, out.Committed())
	})
}

// Crash kills a pipeline at each call that it makes to its source, sink and store, and the test finds every record once.
// It runs subtests, so it needs the *testing.T of a test, which an example has not.
func ExampleCrash() {
	_ = squaresSurviveKills // see there
}

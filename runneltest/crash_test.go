package runneltest_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
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

// TestCrashRunsOnSinkThatRepeats is run by the test below in a process of its own, where it fails.
func TestCrashRunsOnSinkThatRepeats(t *testing.T) {
	if os.Getenv("RUNNEL_TEST_REPEATS") == "" {
		t.Skip("runs in the process of TestCrashFindsWhatIsRepeated")
	}
	data := numbers(100)
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewProbe[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline { return copying(p, store, data, out) })
		runneltest.ExactlyOnce(t, data, out.Values())
	}, runneltest.Most(20), runneltest.Seed(7))
}

func TestExampleOfCrashFindsNothingLostOrRepeated(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	squaresSurviveKills(t)
}

func TestCrashFindsWhatIsRepeated(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashRunsOnSinkThatRepeats$")
	cmd.Env = append(os.Environ(), "RUNNEL_TEST_REPEATS=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "a sink that is not transactional gets nothing twice")
	require.Contains(t, string(out), "seed_7")
	require.Contains(t, string(out), "0 are missing () and")
	require.NotContains(t, string(out), "undisturbed", "without a kill nothing is repeated")
}

func TestProcessIsKilledInUserCodeToo(t *testing.T) {
	t.Parallel()
	data := numbers(40)
	steps := 0
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		store, out := runneltest.NewStore(), runneltest.NewTxSink[int]()
		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
			pipe := runnel.New("steps", runnel.Checkpoint(store, checkpoint.EveryRecords(10)), runnel.MaxBatch(10),
				runnel.OnCheckpoint(func(checkpoint.Checkpoint) {
					if len(out.Committed()) == len(data) {
						p.Stop()
					}
				}))
			endless := runnel.From(pipe, source.Generate(-1, func(i int64) int { return int(i) }))
			few := flow.Filter(endless, func(v int) bool { return v < len(data) })
			flow.MapAsync(few, func(ctx context.Context, v int) (int, error) {
				err := p.Step(ctx)
				if p.Killed() {
					steps++
					require.ErrorIs(t, err, runneltest.ErrKilled)
				}
				return v, err
			}).To(out)
			return pipe
		})
		require.Equal(t, data, out.Committed())
	}, runneltest.Most(20))
	require.NotZero(t, steps)
}

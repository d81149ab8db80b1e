package runneltest_test

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/stretchr/testify/require"
)

func TestRevokeCommitsWhatWasReadBeforeItGivesUp(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	g := runneltest.NewGroup[string](t, "a", "b")
	first, second := g.Member(), g.Member()
	first.Assign("a", "b")
	g.Append("a", "a0", "a1")
	g.Append("b", "b0")
	probe := runneltest.NewProbe[string]()
	run := startMember(t, first, probe)
	probe.Await(t, 3)
	require.NoError(t, first.Revoke(context.Background(), "a"))
	require.Equal(t, 2, g.Committed("a"), "committed before it was given up")
	second.Assign("a")
	g.Append("a", "a2")
	g.Append("b", "b1")
	other := runneltest.NewProbe[string]()
	otherRun := startMember(t, second, other)
	require.Equal(t, []string{"a2"}, other.Await(t, 1))
	require.ElementsMatch(t, []string{"a0", "a1", "b0", "b1"}, probe.Await(t, 4))
	g.End()
	require.NoError(t, run.Wait())
	require.NoError(t, otherRun.Wait())
	require.Equal(t, []int{3, 2}, []int{g.Committed("a"), g.Committed("b")})
	require.Zero(t, g.Refused("a"))
}

func startMember(t *testing.T, m *runneltest.Member[string], to runnel.Sink[string]) *runneltest.Run {
	t.Helper()
	p := runnel.New("member")
	runnel.From(p, m).To(to)
	return runneltest.Start(t, p)
}

func TestLostPartitionIsReadAgainByItsNextOwner(t *testing.T) {
	t.Parallel()
	g := runneltest.NewGroup[string](t, "a")
	first, second := g.Member(), g.Member()
	first.Assign("a")
	g.Append("a", "a0", "a1")
	late := runneltest.NewLateSink[string]()
	run := startMember(t, first, late)
	late.AwaitReceived(t, 2)
	run.RequestStop() // the last marker waits for the sink
	late.AwaitMarkers(t, 1)
	first.Lose("a")
	require.True(t, late.Ack(nil))
	require.NoError(t, run.Wait(), "the commit came too late, and its next owner reads again")
	require.Zero(t, g.Committed("a"))
	require.Equal(t, 1, g.Refused("a"))
	second.Assign("a")
	g.End()
	probe := runneltest.NewProbe[string]()
	require.NoError(t, startMember(t, second, probe).Wait())
	require.Equal(t, []string{"a0", "a1"}, probe.Values())
}

func TestRevokeGivesUpWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	g := runneltest.NewGroup[string](t, "a")
	m := g.Member()
	m.Assign("a")
	g.Append("a", "a0")
	late := runneltest.NewLateSink[string]()
	run := startMember(t, m, late)
	late.AwaitReceived(t, 1)
	ctx, cancel := context.WithCancelCause(context.Background())
	outcome := make(chan error, 1)
	go func() { outcome <- m.Revoke(ctx, "a") }()
	late.AwaitMarkers(t, 1)
	cancel(errTest)
	require.ErrorIs(t, <-outcome, errTest)
	require.Zero(t, g.Committed("a"))
	late.AckAll()
	g.End()
	require.NoError(t, run.Wait(), "the partition was dropped from the position before the last marker")
	require.Zero(t, g.Committed("a"))
}

// A partition that is lost at the moment of the stop does not fail the run: what was not committed is its next owner's.
func TestLossOfAPartitionAtTheStopIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, stopFirst := range []bool{true, false} {
		g := runneltest.NewGroup[string](t, "a", "b")
		m := g.Member()
		m.Assign("a", "b")
		probe := runneltest.NewProbe[string]()
		run := startMember(t, m, probe)
		g.Append("a", "a0", "a1")
		g.Append("b", "b0")
		probe.Await(t, 3)
		if stopFirst {
			run.RequestStop()
		}
		m.Lose("a")
		run.RequestStop()
		require.NoError(t, run.Wait())
		require.Equal(t, 1, g.Committed("b"), "what is owned is committed")
	}
}

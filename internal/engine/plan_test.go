package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlanFusesAChainAndGivesTasksToTheRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes []Node
		fused []bool
	}{
		"source, two stages, sink": {
			[]Node{
				{Role: RoleSource, Consumers: 1},
				{Role: RoleStage, Inputs: []int{0}, Consumers: 1},
				{Role: RoleStage, Inputs: []int{1}, Consumers: 1},
				{Role: RoleSink, Inputs: []int{2}},
			},
			[]bool{false, false, true, false},
		},
		"a stage with workers is fed by the source": {
			[]Node{{Role: RoleSource, Consumers: 1}, {Role: RoleStage, Inputs: []int{0}, Consumers: 1, Workers: 4}, {Role: RoleSink, Inputs: []int{1}}},
			[]bool{false, true, false},
		},
		"branches of a fan-out": {
			[]Node{
				{Role: RoleSource, Consumers: 1},
				{Role: RoleStage, Inputs: []int{0}, Consumers: 2},
				{Role: RoleStage, Inputs: []int{1}, Consumers: 1},
				{Role: RoleStage, Inputs: []int{1}, Consumers: 1},
				{Role: RoleSink, Inputs: []int{2, 3}},
			},
			[]bool{false, false, false, false, false},
		},
		"behind a merge, and behind shards": {
			[]Node{
				{Role: RoleSource, Consumers: 2},
				{Role: RoleMerge, Inputs: []int{0, 0}, Consumers: 1},
				{Role: RoleStage, Inputs: []int{1}, Consumers: 1, Workers: 2, Copies: 2},
				{Role: RoleStage, Inputs: []int{2}, Consumers: 1},
			},
			[]bool{false, false, true, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.fused, Plan(c.nodes))
		})
	}
}

func TestDemandStopsASourceThatNobodyReads(t *testing.T) {
	t.Parallel()
	// Sources 0 and 1; stage 2 reads 0; stage 3 reads both by a merge; sinks 4 and 5.
	d := NewDemand([]Node{
		{Role: RoleSource}, {Role: RoleSource},
		{Role: RoleStage, Inputs: []int{0}},
		{Role: RoleMerge, Inputs: []int{0, 1}},
		{Role: RoleSink, Inputs: []int{2}},
		{Role: RoleSink, Inputs: []int{3}},
	})
	require.Empty(t, d.Finish(2), "0 is still read by 3")
	require.ElementsMatch(t, []int{0, 1}, d.Finish(3))
	require.Empty(t, d.Finish(3), "a source is stopped once")
}

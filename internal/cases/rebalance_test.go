package cases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/stretchr/testify/require"
)

// cluster is a group with several running members, whose outputs come together.
type cluster struct {
	group   *runneltest.Group[int]
	members []*runneltest.Member[int]
	probes  []*runneltest.Probe[int]
	runs    []*runneltest.Run
	owner   map[string]int // the member of each partition
}

const (
	clusterPartitions = 4
	clusterMembers    = 3
	clusterRecords    = 200 // of each partition
)

func newCluster(t *testing.T, random *rand.Rand) *cluster {
	t.Helper()
	var names []string
	for i := range clusterPartitions {
		names = append(names, fmt.Sprint("p", i))
	}
	c := &cluster{group: runneltest.NewGroup[int](t, names...), owner: make(map[string]int)}
	for range clusterMembers {
		c.members = append(c.members, c.group.Member())
	}
	for i, name := range names {
		c.owner[name] = i % clusterMembers
		c.members[c.owner[name]].Assign(name)
	}
	for _, m := range c.members {
		probe := runneltest.NewProbe[int]()
		p := runnel.New("member", runnel.MaxBatch(1+random.IntN(8)),
			runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1+random.IntN(30))))
		wait := time.Duration(random.IntN(3)) * time.Millisecond
		worked := flow.MapAsync(runnel.From(p, m), func(_ context.Context, v int) (int, error) {
			time.Sleep(wait)
			return v, nil
		}, runnel.Parallel(1+random.IntN(3)))
		flow.FlatMap(flow.Batch(worked, 5, 3*time.Millisecond), func(v []int) []int { return v }).To(probe)
		c.probes, c.runs = append(c.probes, probe), append(c.runs, runneltest.Start(t, p))
	}
	return c
}

func (c *cluster) values() []int {
	var all []int
	for _, p := range c.probes {
		all = append(all, p.Values()...)
	}
	return all
}

func TestPartitionsThatMoveLoseNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		for _, lose := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d, lost without notice: %t", seed, lose), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { moveAround(t, seed, lose) })
			})
		}
	}
}

// moveAround moves partitions between members while these work.
func moveAround(t *testing.T, seed uint64, lose bool) {
	random := rand.New(rand.NewPCG(seed, 7))
	c := newCluster(t, random)
	var want []int
	for i := range clusterRecords {
		for p := range clusterPartitions {
			v := p*clusterRecords + i
			c.group.Append(fmt.Sprint("p", p), v)
			want = append(want, v)
		}
		if random.IntN(10) > 0 {
			continue
		}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		name := fmt.Sprint("p", random.IntN(clusterPartitions))
		former := c.members[c.owner[name]]
		if lose && random.IntN(2) == 0 {
			former.Lose(name)
		} else if err := former.Revoke(context.Background(), name); !lose {
			require.NoError(t, err) // a partition lost before can make the commit of this one fail
		}
		c.owner[name] = random.IntN(clusterMembers)
		c.members[c.owner[name]].Assign(name)
	}
	c.group.End()
	for i, run := range c.runs {
		require.NoError(t, run.Wait(), "member %d", i)
	}
	for p := range clusterPartitions {
		require.Equal(t, clusterRecords, c.group.Committed(fmt.Sprint("p", p)))
	}
	if lose {
		runneltest.AtLeastOnce(t, want, c.values())
		return
	}
	runneltest.ExactlyOnce(t, want, c.values())
}

package broker

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crowd is a group that members join and leave at random.
type crowd struct {
	t      *testing.T
	random *rand.Rand
	group  *group
	op     uint64
	now    time.Time
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{t: t, random: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(0, 0)}
	c.group = &group{topic: topicOf{&stream{}, &topic{}}, owned: map[uint32]*owning{}}
	c.resize(c.random.IntN(8))
	return c
}

func (c *crowd) resize(n int) {
	topic := c.group.topic
	for len(topic.partitions) < n {
		topic.partitions = append(topic.partitions, &partition{id: uint32(len(topic.partitions)), offsets: map[offsetKey]uint64{}})
	}
	topic.partitions = topic.partitions[:n]
}

// step does one thing that may happen.
func (c *crowd) step() {
	g := c.group
	c.op++
	c.now = c.now.Add(time.Second)
	switch p := c.random.IntN(6); {
	case p == 0 || len(g.members) == 0:
		g.join(&session{members: map[*group]*member{}})
		g.rebalance(c.op, c.now.Add(10*time.Second))
	case p == 1:
		g.leave(g.members[c.random.IntN(len(g.members))])
		g.rebalance(c.op, c.now.Add(10*time.Second))
	case p == 2:
		c.resize(c.random.IntN(8))
		g.rebalance(c.op, c.now.Add(10*time.Second))
	case p == 3:
		g.settle(c.op, c.now)
	default:
		c.read(p == 4)
	}
}

// read lets an owner read, and commit as well or not.
func (c *crowd) read(commit bool) {
	for _, p := range c.group.topic.partitions {
		o := c.group.owned[p.id]
		if c.random.IntN(2) == 0 || o == nil || o.owner == nil {
			continue
		}
		if _, ok := c.group.reads(o.owner, p, o.generation); ok {
			o.served++
		}
		if commit && o.served > 0 {
			p.offsets[c.group.key()] = o.served - 1
		}
	}
}

// check holds the assignment against its rules.
func (c *crowd) check() {
	g := c.group
	will := map[*member]int{}
	for _, p := range g.topic.partitions {
		o := g.owned[p.id]
		require.NotNil(c.t, o)
		if len(g.members) == 0 {
			require.Nil(c.t, o.owner, "nobody is there")
			continue
		}
		require.Contains(c.t, g.members, o.owner, "a partition has an owner")
		holder := g.holder(p)
		require.Contains(c.t, g.members, holder)
		require.NotSame(c.t, o.owner, o.heir)
		will[holder]++
	}
	for _, m := range g.members {
		least := len(g.topic.partitions) / len(g.members)
		require.GreaterOrEqual(c.t, will[m], least, "all have as many")
		require.LessOrEqual(c.t, will[m], least+1)
	}
}

func TestAnAssignmentIsFairWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		c := newCrowd(t, seed)
		for range 40 {
			c.step()
			c.group.rebalance(c.op, c.now.Add(10*time.Second))
			c.check()
			before := c.generations()
			c.group.rebalance(c.op+1, c.now)
			require.Equal(t, before, c.generations(), "seed %d: a fair assignment stays as it is", seed)
		}
		c.group.settle(c.op, c.now.Add(time.Hour))
		for _, o := range c.group.owned {
			require.Nil(t, o.heir, "seed %d: at last all are handed over", seed)
		}
	}
}

func (c *crowd) generations() map[uint32]uint64 {
	all := map[uint32]uint64{}
	for id, o := range c.group.owned {
		all[id] = o.generation
	}
	return all
}

func TestIGG06AMemberThatComesMovesNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1)
	c.resize(7)
	for n := range 9 {
		before := map[uint32]*member{}
		for id, o := range c.group.owned {
			before[id] = o.owner
		}
		c.group.join(&session{members: map[*group]*member{}})
		c.op++
		c.group.rebalance(c.op, c.now)
		moved := 0
		for id, o := range c.group.owned {
			if n > 0 && before[id] != o.owner {
				moved++
			}
		}
		require.LessOrEqual(t, moved, 7/(n+1)+1, "member %d", n)
	}
}

package engine

// Role says what a node of the graph does.
type Role uint8

const (
	// RoleSource reads records.
	RoleSource Role = iota + 1
	// RoleStage has one input.
	RoleStage
	// RoleMerge has several inputs.
	RoleMerge
	// RoleSink writes records.
	RoleSink
)

// Node is a node of the graph as the planner sees it.
type Node struct {
	// Role is what it does.
	Role Role
	// Inputs are the nodes it reads from, one entry for each input. Dead letters are left out.
	Inputs []int
	// Consumers is the number of inputs that read from it, dead letters left out.
	Consumers int
	// Workers is the number of goroutines of its own that a stage has besides the one that feeds it; 0 means none.
	Workers int
	// Copies is the number of tasks that emit its output.
	Copies int
}

// Plan says for each node whether it runs in the task of the node that it reads from. Otherwise it starts a task, and
// a channel leads to it. A source, a sink, a merge and each branch of a fan-out have tasks of their own. A stage that
// has workers is fed by the task before it, also by a source.
func Plan(nodes []Node) []bool {
	fused := make([]bool, len(nodes))
	for i, n := range nodes {
		if n.Role != RoleStage || len(n.Inputs) != 1 {
			continue
		}
		from := nodes[n.Inputs[0]]
		alone := from.Consumers == 1 && from.Copies <= 1
		fused[i] = alone && (from.Role != RoleSource || n.Workers > 0)
	}
	return fused
}

// Demand follows which sources somebody still reads. It has no lock.
type Demand struct {
	readers [][]int // by node: who reads from it
	done    []bool
	sources []int
}

// NewDemand returns the demand of a graph in which nothing has finished.
func NewDemand(nodes []Node) *Demand {
	d := &Demand{readers: make([][]int, len(nodes)), done: make([]bool, len(nodes))}
	for i, n := range nodes {
		for _, from := range n.Inputs {
			d.readers[from] = append(d.readers[from], i)
		}
		if n.Role == RoleSource {
			d.sources = append(d.sources, i)
		}
	}
	return d
}

// Finish notes that a node wants no more records, and returns the sources that nobody reads any more with that.
func (d *Demand) Finish(node int) []int {
	d.done[node] = true
	var idle []int
	for _, s := range d.sources {
		if !d.done[s] && !d.wanted(s) {
			d.done[s] = true
			idle = append(idle, s)
		}
	}
	return idle
}

// wanted says whether what a node emits still reaches a sink. Nodes are few and the graph has no cycle.
func (d *Demand) wanted(node int) bool {
	if len(d.readers[node]) == 0 {
		return !d.done[node]
	}
	for _, r := range d.readers[node] {
		if !d.done[r] && d.wanted(r) {
			return true
		}
	}
	return false
}

package runnel

import (
	"fmt"
	"strings"

	"github.com/runnel-go/runnel/internal/engine"
)

// Graph is the shape of a pipeline, with the guarantee of each path.
type Graph struct {
	// Nodes are in the order they were added.
	Nodes []GraphNode
	// Edges lead from node to node.
	Edges []GraphEdge
	// Paths has an entry for each source and sink that are connected.
	Paths []GraphPath
}

// GraphNode is a source, stage or sink.
type GraphNode struct {
	// Name is its name in the pipeline; Kind is the stem of the name that it gets by itself.
	Name, Kind string
	// Role is "source", "stage" or "sink".
	Role string
	// Workers is how many copies of it run.
	Workers int
	// Fused says that it runs in the goroutine of the node before it.
	Fused bool
}

// GraphEdge is a stream from one node to another.
type GraphEdge struct {
	// From and To are names of nodes.
	From, To string
	// DeadLetters says that only records that failed take it.
	DeadLetters bool
}

// GraphPath is what a pipeline promises for the records of a source at a sink.
type GraphPath struct {
	// Source and Sink are names of nodes.
	Source, Sink string
	// Guarantee says how often a record arrives, whatever crashes.
	Guarantee Guarantee
	// Because says what that rests on, in words.
	Because string
}

// Guarantee says how often a record arrives at a sink, whatever crashes.
type Guarantee uint8

const (
	// AtMostOnce: a record that was read and not committed is lost in a crash, unless its sender repeats it.
	AtMostOnce Guarantee = iota + 1
	// AtLeastOnce: no record is lost; those after the last checkpoint may arrive twice.
	AtLeastOnce
	// EffectivelyOnce: as AtLeastOnce, and the sink takes a repeated record with the effect of one.
	EffectivelyOnce
	// ExactlyOnce: no record is lost, none arrives twice.
	ExactlyOnce
)

// String returns the guarantee in words.
func (g Guarantee) String() string {
	switch g {
	case AtMostOnce:
		return "at most once"
	case AtLeastOnce:
		return "at least once"
	case EffectivelyOnce:
		return "effectively once"
	case ExactlyOnce:
		return "exactly once"
	}
	return "unknown"
}

// Graph returns the shape of the pipeline. It may be called at any time, also for a pipeline with mistakes.
func (p *Pipeline) Graph() Graph {
	defer p.whole()()
	_, fused := p.plan()
	var g Graph
	for i, n := range p.nodes {
		node := GraphNode{Name: n.name, Kind: n.kind, Role: "stage", Workers: max(n.workers(), 1), Fused: fused[i]}
		switch n.role {
		case engine.RoleSource:
			node.Role = "source"
		case engine.RoleSink:
			node.Role = "sink"
		}
		g.Nodes = append(g.Nodes, node)
		for _, in := range n.inputs {
			g.Edges = append(g.Edges, GraphEdge{From: in.name, To: n.name})
		}
		for _, from := range n.failing {
			g.Edges = append(g.Edges, GraphEdge{From: from.name, To: n.name, DeadLetters: true})
		}
		if n.role == engine.RoleSink {
			for _, s := range n.sourcesAbove() {
				path := GraphPath{Source: s.name, Sink: n.name}
				path.Guarantee, path.Because = p.guarantee(s.traits, n.traits)
				g.Paths = append(g.Paths, path)
			}
		}
	}
	return g
}

// guarantee says what holds for records of a source at a sink.
func (p *Pipeline) guarantee(source, sink Traits) (Guarantee, string) {
	switch durable := p.durable(); {
	case !source.Replay:
		return AtMostOnce, "the source cannot be read again; at least once if its sender repeats what was not acknowledged"
	case !source.Moving && !durable:
		return AtLeastOnce, "within a run; nothing keeps the position, so a restart of the program begins anew"
	case sink.Decides:
		return ExactlyOnce, "the sink's own transaction carries the checkpoint"
	case sink.Transactional && !source.Moving:
		return ExactlyOnce, "the sink commits what it prepared once the store has the checkpoint"
	case sink.Idempotent:
		return EffectivelyOnce, "what comes after the last checkpoint is repeated, and the sink is idempotent"
	}
	return AtLeastOnce, "what comes after the last checkpoint is repeated after a crash"
}

// String returns the paths with their guarantees, a line each.
func (g Graph) String() string {
	var b strings.Builder
	for _, p := range g.Paths {
		fmt.Fprintf(&b, "%s -> %s: %s (%s)\n", p.Source, p.Sink, p.Guarantee, p.Because)
	}
	return b.String()
}

// DOT returns the graph in the language of Graphviz.
func (g Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph pipeline {\n\trankdir=LR;\n")
	for _, n := range g.Nodes {
		shape := "box"
		if n.Role != "stage" {
			shape = "ellipse"
		}
		fmt.Fprintf(&b, "\t%q [shape=%s, label=%q];\n", n.Name, shape, n.title())
	}
	for _, e := range g.Edges {
		style := ""
		if e.DeadLetters {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "\t%q -> %q%s;\n", e.From, e.To, style)
	}
	b.WriteString("}\n")
	return b.String()
}

// Mermaid returns the graph as a Mermaid flowchart.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := make(map[string]int)
	for i, n := range g.Nodes {
		ids[n.Name] = i
		open, end := "[", "]"
		if n.Role != "stage" {
			open, end = "([", "])"
		}
		fmt.Fprintf(&b, "\tn%d%s\"%s\"%s\n", i, open, strings.ReplaceAll(n.title(), `"`, "#quot;"), end)
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.DeadLetters {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "\tn%d %s n%d\n", ids[e.From], arrow, ids[e.To])
	}
	return b.String()
}

// title returns the name with the number of copies.
func (n GraphNode) title() string {
	if n.Workers > 1 {
		return fmt.Sprintf("%s ×%d", n.Name, n.Workers)
	}
	return n.Name
}

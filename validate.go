package runnel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// Validate returns every mistake in the options and the graph, joined, and nil if there is none. It opens nothing.
// Run calls it first.
func (p *Pipeline) Validate() error {
	defer p.whole()()
	return p.validate()
}

// whole locks the pipeline with a graph that is complete: dead letters connected and everything named. It returns what
// unlocks it.
func (p *Pipeline) whole() (unlock func()) {
	p.checking.Lock()
	p.connectDeadLetters()
	p.mu.Lock()
	p.nameNodes()
	return func() {
		p.mu.Unlock()
		p.checking.Unlock()
	}
}

// validate does so for a pipeline that is whole.
func (p *Pipeline) validate() error {
	var errs []error
	for _, e := range slices.Concat(p.mistakes, p.checkConfig()) {
		errs = append(errs, fmt.Errorf("pipeline %q: %w", p.name, e))
	}
	for _, n := range p.nodes {
		for _, e := range n.check() {
			errs = append(errs, fmt.Errorf("pipeline %q: %s: %w", p.name, n.shown(), e))
		}
	}
	errs = append(errs, p.checkGraph()...)
	return errors.Join(errs...)
}

// connectDeadLetters gives every node with a dead-letter sink its way there. Only one goroutine does so at a time.
func (p *Pipeline) connectDeadLetters() {
	for i := 0; ; i++ { // sinks that nothing else writes to join the list on the way
		p.mu.Lock()
		done := i == len(p.nodes)
		var n *node
		if !done {
			n = p.nodes[i]
		}
		p.mu.Unlock()
		if done {
			return
		}
		if n.cfg.dead != nil && n.dead == nil {
			p.connectDeadLetter(n, sinkFor(p, n.cfg.dead, n.cfg.deadOpts).node)
		}
	}
}

func (p *Pipeline) connectDeadLetter(n, sink *node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n.dead = sink
	sink.failing = append(sink.failing, n)
}

// nameNodes names what was not named: a sink of nothing but dead letters after the first node that they come from,
// everything else by its kind, and a number among those of the kind that have no name. It begins anew until the
// pipeline runs, so that who looks at a pipeline while it is built changes no name.
func (p *Pipeline) nameNodes() {
	if p.started {
		return
	}
	for _, n := range p.nodes {
		n.name, n.named = n.cfg.name, n.cfg.name != ""
	}
	count := make(map[string]int)
	for _, onlyDead := range []bool{false, true} {
		for _, n := range p.nodes {
			if n.name != "" || onlyDead != (len(n.inputs) == 0 && len(n.failing) > 0) {
				continue
			}
			if onlyDead && n.failing[0].name != "" {
				n.name, n.named = n.failing[0].name+"-dead-letters", n.failing[0].named
				continue
			}
			count[n.kind]++
			n.name = fmt.Sprintf("%s-%d", n.kind, count[n.kind])
		}
	}
}

func (p *Pipeline) checkConfig() []error {
	var errs []error
	if p.name == "" {
		errs = append(errs, errors.New("has no name"))
	}
	c := p.cfg
	_, err := checkpoint.NewCadence(c.cadence...)
	errs = append(errs, parts(err)...)
	if c.maxBatch < 1 || c.maxBatch > mostBatch {
		errs = append(errs, fmt.Errorf("MaxBatch is %d; it must be at least 1 and at most %d", c.maxBatch, mostBatch))
	}
	if c.maxInFlight < 0 {
		errs = append(errs, fmt.Errorf("MaxInFlight is %d; it must be 0 (no limit) or more", c.maxInFlight))
	} else if c.maxInFlight > 0 && c.maxInFlight < c.maxBatch {
		errs = append(errs, fmt.Errorf("MaxInFlight is %d, below MaxBatch (%d): a batch would never be let in", c.maxInFlight, c.maxBatch))
	}
	if c.drainTimeout < 0 {
		errs = append(errs, fmt.Errorf("DrainTimeout is %v; it must not be negative", c.drainTimeout))
	}
	if c.restarts < 0 || c.backoff < 0 {
		errs = append(errs, fmt.Errorf("Restart(%d, %v) has a negative argument", c.restarts, c.backoff))
	}
	if c.log == nil {
		errs = append(errs, errors.New("Logger is nil"))
	}
	if c.clock == nil {
		errs = append(errs, errors.New("WithClock is nil"))
	}
	if c.storeSet && c.store == nil {
		errs = append(errs, errors.New("Checkpoint has a nil store"))
	}
	if v, ok := c.store.(checkpoint.Validator); ok {
		errs = append(errs, parts(v.Validate())...)
	}
	return errs
}

// check returns the mistakes of one node.
func (n *node) check() []error {
	var errs []error
	c := n.cfg
	errs = append(errs, parts(n.invalid)...)
	errs = append(errs, c.invalid...)
	errs = append(errs, n.checkName()...)
	errs = append(errs, n.checkEffect()...)
	if c.attempts < 0 || c.backoff < 0 || (c.retrySet && c.attempts < 1) {
		errs = append(errs, fmt.Errorf("Retry(%d, %v): attempts must be at least 1, the pause not negative", c.attempts, c.backoff))
	}
	if n.traits.Transactional && n.traits.Decides {
		errs = append(errs, errors.New("is described as transactional and as deciding; a sink that decides needs no other transaction"))
	}
	if c.deadSet && isNil(c.dead) {
		errs = append(errs, errors.New("DeadLetter has no sink"))
	}
	if c.deadSet && c.skip {
		errs = append(errs, errors.New("Skip and DeadLetter exclude each other"))
	}
	for _, o := range n.outlets {
		if o.consumers == 0 && !o.optional {
			errs = append(errs, errors.New("nobody reads its stream; end it with To(sink)"))
			break
		}
	}
	return errs
}

// longestName is how long a name may be, in bytes.
const longestName = 200

// checkName refuses what could not be told apart, or not be printed, where the name is shown.
func (n *node) checkName() []error {
	switch name := n.cfg.name; {
	case len(name) > longestName:
		return []error{fmt.Errorf("Name is %d bytes long; it must be at most %d", len(name), longestName)}
	case n.shown() != n.name:
		return []error{fmt.Errorf("Name(%q) has characters that cannot be printed, or a space at an end", name)}
	}
	return nil
}

// shown returns the name as it can be shown: quoted, or cut, if it is not fit to be one.
func (n *node) shown() string {
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	switch name := n.name; {
	case len(name) > longestName:
		return fmt.Sprintf("%.20q…", name)
	case strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name:
		return strconv.Quote(name)
	default:
		return name
	}
}

// checkEffect returns the options that are out of range or would have no effect.
func (n *node) checkEffect() []error {
	var errs []error
	c := n.cfg
	end := n.role == engine.RoleSource || n.role == engine.RoleSink
	refuse := func(mistake bool, format string, args ...any) {
		if mistake {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(c.workers < 1, "Parallel is %d; it must be at least 1", c.workers)
	refuse(c.workers > 1 && end, "Parallel is for stages; a source or sink has options of its own")
	refuse(c.workers > 1 && n.role == engine.RoleMerge, "Parallel does not apply to a stage with two inputs")
	refuse(c.workers > 1 && c.single, "Parallel does not apply: it cannot run in copies; leave Parallel out")
	refuse(c.workers > 1 && n.stateful && !n.keyed,
		"Parallel needs a key for a stage with state; use KeyBy, or leave Parallel out")
	refuse(c.unordered && !c.parallel, "Unordered has no effect without Parallel; leave it out, or give both")
	refuse(c.timeout < 0, "Timeout is %v; it must not be negative", c.timeout)
	refuse(c.timeout > 0 && (end || c.noTimeout),
		"Timeout has no effect: it calls no function that takes a context; leave it out, or use an operator such as MapAsync")
	refuse(c.retrySet && n.role == engine.RoleSource,
		"Retry is for stages and sinks; Restart starts a pipeline again whose source failed")
	return errs
}

// checkGraph returns the mistakes that concern several nodes.
func (p *Pipeline) checkGraph() []error {
	g := graphCheck{p: p}
	g.sources()
	g.names()
	g.deciders()
	g.owners()
	g.cycles()
	g.timeouts()
	g.moving()
	return g.errs
}

type graphCheck struct {
	p    *Pipeline
	errs []error
}

func (g *graphCheck) fail(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf("pipeline %q: "+format, append([]any{g.p.name}, args...)...))
}

func (g *graphCheck) sources() {
	for _, n := range g.p.nodes {
		if n.role == engine.RoleSource {
			return
		}
	}
	g.fail("has no source; add one with From")
}

// names finds names used twice and, where checkpoints outlive the process, names that a change of the program could
// give to something else.
func (g *graphCheck) names() {
	seen := make(map[string]bool)
	unnamed := make(map[string]int)
	for _, n := range g.p.nodes {
		if seen[n.name] {
			g.fail("two nodes are named %q", n.name)
		}
		seen[n.name] = true
		if n.bound() && !n.named {
			unnamed[n.kind]++
		}
	}
	if g.p.cfg.store == nil || !g.p.cfg.store.Durable() {
		return
	}
	for _, n := range g.p.nodes {
		if unnamed[n.kind] > 1 {
			g.fail("checkpoints are bound to names, and %d nodes of kind %q have none; name them with Name", unnamed[n.kind], n.kind)
			unnamed[n.kind] = 0
		}
	}
}

// bound says whether a checkpoint holds something under the node's name.
func (n *node) bound() bool {
	return n.role == engine.RoleSource || n.stateful || n.traits.Transactional || n.traits.Decides
}

func (g *graphCheck) deciders() {
	var first *node
	for _, n := range g.p.nodes {
		if !n.traits.Decides {
			continue
		}
		if first != nil {
			g.fail("%s and %s both decide checkpoints; one sink can", first.name, n.name)
		}
		first = n
	}
}

// owners finds sinks that would write over each other, or over what is read.
func (g *graphCheck) owners() {
	first := make(map[string]*node)
	for _, n := range g.p.nodes {
		owns := n.traits.Owns
		if owns == "" {
			continue
		}
		if other := first[owns]; other != nil {
			g.fail("%s and %s both write %s; use one sink for both streams", other.name, n.name, owns)
			continue
		}
		first[owns] = n
		for _, s := range g.p.nodes {
			if s.wouldRead(owns) {
				g.fail("%s would read what %s writes, %s", s.name, n.name, owns)
			}
		}
	}
}

// wouldRead says whether a source says that it would read what a sink owns.
func (n *node) wouldRead(owned string) (yes bool) {
	if n.overlaps == nil {
		return false
	}
	err := protect(n.name, Origin{}, func() error {
		yes = n.overlaps(owned)
		return nil
	})
	return yes && err == nil
}

// cycles finds dead letters that lead back to where they come from.
func (g *graphCheck) cycles() {
	for _, n := range g.p.nodes {
		seen := make(map[*node]bool)
		for at := n.dead; at != nil && !seen[at]; at = at.dead {
			seen[at] = true
			if at == n {
				g.fail("%s sends its dead letters to itself", n.name)
			}
		}
	}
}

// timeouts finds settings under which a healthy pipeline would be taken for a dead one.
func (g *graphCheck) timeouts() {
	cadence, err := checkpoint.NewCadence(g.p.cfg.cadence...)
	if err != nil {
		return
	}
	for _, n := range g.p.nodes {
		t := n.traits
		if t.RebalanceTimeout > 0 && g.p.cfg.drainTimeout > t.RebalanceTimeout {
			g.fail("%s: DrainTimeout (%v) is longer than the source's rebalance time-out (%v)", n.name, g.p.cfg.drainTimeout, t.RebalanceTimeout)
		}
		if least := cadence.Interval + g.p.cfg.drainTimeout; t.TransactionTimeout > 0 && t.TransactionTimeout < least {
			g.fail("%s: transaction time-out (%v) is shorter than checkpoint interval plus DrainTimeout (%v)", n.name, t.TransactionTimeout, least)
		}
		if t.AckWindow > 0 && cadence.Interval >= t.AckWindow {
			g.fail("%s: the checkpoint interval (%v) is not below the source's ack window (%v)", n.name, cadence.Interval, t.AckWindow)
		}
		if n.cfg.linger > 0 {
			g.linger(n)
		}
	}
}

// linger compares a linger with the ack window of every source above.
func (g *graphCheck) linger(n *node) {
	for _, s := range n.sourcesAbove() {
		if w := s.traits.AckWindow; w > 0 && n.cfg.linger >= w {
			g.fail("%s: its linger (%v) is not below the ack window of %s (%v): records would be delivered again", n.name, n.cfg.linger, s.name, w)
		}
	}
}

// moving refuses state below a source whose partitions, and so whose keys, can move to another process.
func (g *graphCheck) moving() {
	for _, n := range g.p.nodes {
		if !n.stateful {
			continue
		}
		for _, s := range n.sourcesAbove() {
			if s.traits.Moving {
				g.fail("%s has state, and the partitions of %s can move to another process; read fixed partitions", n.name, s.name)
			}
		}
	}
}

// sourcesAbove returns the sources that the node reads from, each once.
func (n *node) sourcesAbove() []*node {
	var found []*node
	for _, m := range n.pipeline.nodes {
		if m.role == engine.RoleSource && n.above()[m] {
			found = append(found, m)
		}
	}
	return found
}

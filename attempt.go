package runnel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// inboxBatches is how many batches wait in front of a task: enough that neither side stops for the other's hiccups.
const inboxBatches = 8

// closeTimeout bounds how long writers and readers may take to close after a run was aborted.
const closeTimeout = 10 * time.Second

// attempt is one try of a run: everything that is opened anew after a failure.
type attempt struct {
	p           *Pipeline
	ctx         context.Context //nolint:containedctx // ends at the hard stop; an attempt is the scope of its context
	group       *engine.Group
	coordinator *engine.Coordinator
	from        *checkpoint.Checkpoint // nil: the beginning
	tasks       []*engine.Task
	loops       []loop
	reads       sync.WaitGroup // of the goroutines that call Read
	writers     []closer
	readers     []closer
	watches     []func(now time.Time, after time.Duration) []Stall

	tries   int         // which attempt of the run it is, from 1
	running atomic.Bool // everything is open

	mu      sync.Mutex
	demand  *engine.Demand // guarded by mu
	sources map[int]*engine.Source

	unwanted []int // sources to finish as soon as they run
}

type loop struct {
	name string
	run  func(ctx context.Context) error
}

// closer is an open reader or writer.
type closer struct {
	name    string
	close   func(ctx context.Context) error
	abandon func(ctx context.Context, cause error) error // before close, if the attempt failed; nil if there is nothing to do
}

// task adds a task for a node, to be run when the graph is complete.
func (a *attempt) task(n *node) *engine.Task { return a.taskOfSize(n, a.p.cfg.inbox) }

func (a *attempt) taskOfSize(n *node, size int) *engine.Task {
	t := engine.NewTask(n.name, size, a.p.cfg.clock, n.tally)
	a.tasks = append(a.tasks, t)
	var all []*engine.Task
	if former := n.tasks.Load(); former != nil {
		all = append(all, *former...)
	}
	all = append(all, t)
	n.tasks.Store(&all)
	return t
}

// spawn adds a goroutine, to be run when the graph is complete.
func (a *attempt) spawn(name string, run func(ctx context.Context) error) {
	a.loops = append(a.loops, loop{name, run})
}

// watch adds a function that knows what is stalled.
func (a *attempt) watch(f func(now time.Time, after time.Duration) []Stall) {
	a.watches = append(a.watches, f)
}

func (a *attempt) stageEnv(n *node, worker int) StageEnv {
	return StageEnv{
		Name: n.name, Worker: worker, Workers: max(n.workers(), 1),
		Log: a.p.cfg.log.With("stage", n.name), Clock: a.p.cfg.clock,
		MaxBatch: a.p.cfg.maxBatch, Timeout: n.cfg.timeout,
	}
}

// deadLetters returns the way to the dead-letter sink of a node; nil if it has none.
func (a *attempt) deadLetters(n *node, in *engine.Task) (receiver[Failed], error) {
	if n.dead == nil {
		return nil, nil
	}
	return n.dead.typed.(consumer[Failed]).receiver(a, in, n.tally)
}

func (a *attempt) policy(n *node, dead receiver[Failed]) *policy {
	p := &policy{
		stage: n.name, attempts: max(n.cfg.attempts, 1), backoff: n.cfg.backoff, skip: n.cfg.skip,
		clock: a.p.cfg.clock, tally: n.tally,
	}
	if dead != nil {
		p.dead = newOut(dead, a.p.cfg.maxBatch, &engine.Tally{}, nil)
	}
	return p
}

// finished stops the sources that nobody reads any more with the end of a node.
func (a *attempt) finished(n *node) {
	a.mu.Lock()
	idle := a.demand.Finish(n.id)
	a.mu.Unlock()
	for _, id := range idle {
		if s := a.sources[id]; s != nil {
			s.Finish()
		} else {
			a.unwanted = append(a.unwanted, id) // the node had finished at the checkpoint, and the source opens after it
		}
	}
}

// run opens everything, runs it until it ends, stops or fails, and closes everything.
func (a *attempt) run(ctx context.Context, hard context.Context, log checkpoint.Log) error {
	a.group, a.ctx = engine.NewGroup(hard)
	err := engine.Protect(a.p.name, func() error { return a.open(ctx, log) })
	if err != nil {
		a.group.Cancel(err)
	} else {
		a.start(ctx)
	}
	if waitErr := a.group.Wait(); waitErr != nil {
		err = waitErr
	}
	if err != nil {
		err = a.explain(err)
	}
	return a.close(hard, err)
}

// open connects to everything, in the order store, decider, other sinks, stages, sources.
func (a *attempt) open(ctx context.Context, log checkpoint.Log) error {
	openCtx, cancel := context.WithCancelCause(a.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()

	start, err := a.p.load(openCtx, log)
	if err != nil {
		return err
	}
	a.from = start.from
	a.configure(log, start.first)
	for _, n := range a.p.nodes {
		n.typed.reset()
		n.tasks.Store(nil)
		n.tally.Held.Store(0)
	}
	if err := a.openSinks(openCtx, log); err != nil {
		return err
	}
	nodes, fused := a.p.plan()
	for i, n := range a.p.nodes {
		n.fused = fused[i]
	}
	a.demand = engine.NewDemand(nodes)
	a.sources = make(map[int]*engine.Source)
	for _, n := range a.p.nodes {
		if n.role != engine.RoleSource {
			continue
		}
		if err := n.typed.(opener).open(openCtx, a); err != nil {
			return err
		}
	}
	for _, t := range a.tasks {
		t.Seal()
	}
	return nil
}

// openSinks opens the sink that decides, if there is one, goes to the checkpoint that it decided, and opens the others.
func (a *attempt) openSinks(ctx context.Context, log checkpoint.Log) error {
	for _, n := range a.p.sinkNodes() {
		if err := n.typed.(opener).open(ctx, a); err != nil {
			return err
		}
		if !n.traits.Decides {
			continue
		}
		if err := a.goToDecided(ctx, log, n); err != nil {
			return stageError(n.name, Origin{}, err)
		}
	}
	return nil
}

// sinkNodes returns the sinks, first the one that decides.
func (p *Pipeline) sinkNodes() []*node {
	var deciding, others []*node
	for _, n := range p.nodes {
		switch {
		case n.role != engine.RoleSink:
		case n.traits.Decides:
			deciding = append(deciding, n)
		default:
			others = append(others, n)
		}
	}
	return append(deciding, others...)
}

// configure makes the coordinator, which everything that is opened reports to.
func (a *attempt) configure(log checkpoint.Log, first bool) {
	p := a.p
	cadence, _ := checkpoint.NewCadence(p.cfg.cadence...) // Validate has looked at it
	cfg := engine.Config{
		Pipeline: p.name, Shape: p.shape(), First: first, Cadence: cadence, MaxInFlight: p.cfg.maxInFlight,
		Clock: p.cfg.clock, Save: log.Save, Completed: p.completed, Warn: p.cfg.log.Warn,
	}
	if a.from != nil {
		cfg.From = a.from.Number
	}
	a.coordinator = engine.NewCoordinator(cfg)
}

// start runs what was opened.
func (a *attempt) start(ctx context.Context) {
	a.running.Store(true)
	a.coordinator.Start()
	for _, id := range a.unwanted {
		a.sources[id].Finish()
	}
	for _, t := range a.tasks {
		a.group.Go(t.Name, t.Run)
	}
	for _, l := range a.loops {
		a.group.Go(l.name, l.run)
	}
	a.group.Go("checkpoints", a.coordinator.CompleteMarkers)
	a.group.Go("checkpoint timer", a.coordinator.Tick)
	a.group.Go("stall watch", a.watchStalls)
	a.group.Go("stop", func(hard context.Context) error { return a.stopWith(ctx, hard) })
}

// stopWith drains the graph when ctx ends, within the drain time-out.
func (a *attempt) stopWith(ctx, hard context.Context) error {
	finished := a.coordinator.Finished()
	select {
	case <-finished:
		return nil
	case <-hard.Done():
		return context.Cause(hard)
	case <-ctx.Done():
	}
	if a.p.cfg.drainTimeout == 0 {
		select {
		case <-finished:
			return nil // at the same moment
		default:
			return a.late()
		}
	}
	a.coordinator.Stop()
	late, stop := a.p.cfg.clock.After(a.p.cfg.drainTimeout)
	defer stop()
	select {
	case <-finished:
		return nil
	case <-hard.Done():
		return context.Cause(hard)
	case <-late:
		return a.late()
	}
}

// late returns the error of a drain that took too long, with the nodes that were at work. Those that only wait for one
// of them, because it runs in their task or does not take what they emit, are left out, and so are those that a marker
// has overtaken and that wait for others.
func (a *attempt) late() error {
	at := make(map[*node]bool)
	for _, n := range a.p.nodes {
		at[n] = n.calls.Load() > 0
	}
	var names []string
	for _, n := range a.p.nodes {
		if !at[n] {
			continue
		}
		for above := range n.above() {
			at[above] = false
		}
	}
	for _, n := range a.p.nodes {
		if at[n] && n.tally.Aligning.Load() == 0 {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return ErrDrainTimeout
	}
	return fmt.Errorf("%w: still at work: %s", ErrDrainTimeout, strings.Join(names, ", "))
}

// explain adds to an error that stopped the run what was not acknowledged.
func (a *attempt) explain(err error) error {
	if a.coordinator == nil || (!errors.Is(err, ErrDrainTimeout) && !errors.Is(err, ErrAborted)) {
		return err
	}
	if open := a.coordinator.Open(); len(open) > 0 {
		err = fmt.Errorf("%w: checkpoint %d was %s", err, open[0].Number, outcome(open[0]))
	}
	if n := a.coordinator.InFlight(); n > 0 {
		err = fmt.Errorf("%w; records read and not committed: %d", err, n)
	}
	return err
}

// outcome says what became of a marker that is not complete.
func outcome(m engine.OpenMarker) string {
	if len(m.Waiting) == 0 {
		return "acknowledged and not yet complete"
	}
	var names []string
	for _, w := range m.Waiting {
		if name := w.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "not acknowledged by " + strings.Join(names, ", ")
}

// close closes writers, then readers, and waits for the last goroutine.
func (a *attempt) close(hard context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(hard), closeTimeout)
	defer cancel()
	for _, all := range [][]closer{a.writers, a.readers} {
		for _, c := range all {
			if closeErr := c.end(ctx, err); err == nil && closeErr != nil {
				err = closeErr
			}
		}
	}
	a.reads.Wait()
	return err
}

func (c closer) end(ctx context.Context, cause error) error {
	if cause != nil && c.abandon != nil {
		// The attempt has failed already; its cause is what the user gets.
		_ = protect(c.name, Origin{}, func() error { return c.abandon(ctx, cause) })
	}
	if err := protect(c.name, Origin{}, func() error { return c.close(ctx) }); err != nil {
		return stageError(c.name, Origin{}, fmt.Errorf("close: %w", err))
	}
	return nil
}

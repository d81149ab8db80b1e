package runnel

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/runnel-go/runnel/internal/engine"
)

const (
	// jobsPerWorker is how many jobs may wait or be done out of turn for each worker: enough that one slow record does
	// not starve the others, few enough that memory stays small.
	jobsPerWorker = 4
	// jobTime is what a job should take, so that handing it over costs little beside it.
	jobTime = 100 * time.Microsecond
)

// workers runs copies of a stage beside each other. It is the receiver in the task before them; a collector task emits
// the results. For every job it first puts a place into the collector's inbox and then hands the job to the workers,
// so that markers keep their place among the results.
type workers[I any] struct {
	a      *attempt
	node   *node
	route  func(I) uint64 // nil: any worker takes any job
	link   *engine.Link   // to the collector
	queue  *jobQueue[I]
	places *places[I] // nil: results come in order
	size   jobSize
	all    []*worker[I]
}

// startWorkers opens the copies of a stage and the collector of their results.
func startWorkers[I, O, P any](
	a *attempt, n *node, route func(I) uint64,
	outs func(*attempt, *engine.Task) (outputs[O, P], error),
	runner func(*attempt, int, outputs[O, P]) (receiver[I], *stageCore, error),
) (receiver[I], error) {
	limit := n.workers() * jobsPerWorker
	if route != nil {
		limit = max(limit, a.p.cfg.maxBatch)
	}
	collector := a.taskOfSize(n, limit)
	to, err := outs(a, collector)
	if err != nil {
		return nil, err
	}
	w := &workers[I]{
		a: a, node: n, route: route, link: collector.Link(n.tally),
		queue: newJobQueue[I](2*limit + 2), size: jobSize{max: a.p.cfg.maxBatch},
	}
	if n.cfg.unordered || route != nil {
		w.places = newPlaces[I](2*limit + 2)
	}
	for i := range n.workers() {
		rec := &recording{}
		r, core, err := runner(a, i, to.recorded(rec))
		if err == nil && core.holdsBack() {
			err = stageError(n.name, Origin{}, fmt.Errorf("it holds records back, or ends its stream, and cannot run in %d copies; leave Parallel out", n.workers()))
		}
		if err != nil {
			return nil, err
		}
		one := &worker[I]{node: n, run: r, rec: rec, queue: w.queue, size: &w.size}
		w.all = append(w.all, one)
		a.spawn(n.name, one.loop)
	}
	controls := to.controls()
	collector.SetHead(taskHead(func(ctx context.Context, c engine.Control) error {
		err := controls.control(ctx, c)
		if c.Last {
			w.queue.close() // every job before it was collected
		}
		return err
	}))
	a.watch(w.stalled)
	return w, nil
}

// process cuts a batch into jobs; where keys count, each record is one.
func (w *workers[I]) process(ctx context.Context, in Batch[I]) error {
	size := 1
	if w.route == nil {
		size = w.size.next(in.Len(), len(w.all))
	}
	for lo := 0; lo < in.Len(); lo += size {
		part := in.Slice(lo, min(lo+size, in.Len()))
		var key uint64
		if w.route != nil {
			err := protect(w.node.name, part.first(), func() error { key = w.route(part.values[0]); return nil })
			if err != nil {
				return err
			}
		}
		if err := w.submit(ctx, part, key); err != nil {
			return err
		}
	}
	return nil
}

func (w *workers[I]) submit(ctx context.Context, in Batch[I], key uint64) error {
	in.retain()
	j := &job[I]{in: in, key: key, done: make(chan struct{}, 1)}
	var place engine.Packet = j
	if w.places != nil {
		j.places = w.places
		place = w.places
	}
	if err := w.link.Send(ctx, place); err != nil {
		return err
	}
	if w.route == nil {
		w.queue.add(j)
	} else {
		w.queue.addKeyed(j)
	}
	return nil
}

// control gives a marker its place among the results: work behind it starts, results behind it wait.
func (w *workers[I]) control(ctx context.Context, c engine.Control) error {
	if err := w.link.Control(ctx, c); err != nil {
		return err
	}
	if w.places != nil {
		w.places = newPlaces[I](cap(w.places.ready))
	}
	return nil
}

// stalled returns what the workers have been at for longer than after.
func (w *workers[I]) stalled(now time.Time, after time.Duration) []Stall {
	var all []Stall
	for _, one := range w.all {
		if s, ok := one.stalled(now, after); ok {
			all = append(all, s)
		}
	}
	return all
}

// worker is one copy of a stage with its goroutine.
type worker[I any] struct {
	node  *node
	run   receiver[I]
	rec   *recording
	queue *jobQueue[I]
	size  *jobSize

	mu    sync.Mutex
	at    *job[I]   // guarded by mu
	since time.Time // guarded by mu
}

// loop does jobs until there will be none.
func (o *worker[I]) loop(ctx context.Context) error {
	for {
		j, err := o.queue.take(ctx)
		if err != nil || j == nil {
			return err
		}
		start := time.Now()
		o.set(j, o.node.pipeline.cfg.clock.Now())
		dropped, err := passOwned(ctx, j.in, o.run)
		o.set(nil, time.Time{})
		took := time.Since(start)
		o.node.tally.Revoked.Add(int64(dropped))
		o.node.tally.Busy.Add(int64(took))
		o.size.measured(took, j.in.Len())
		if err != nil {
			return err
		}
		j.emitted, o.rec.emitted = o.rec.emitted, nil
		j.tally = o.node.tally
		j.finish()
		o.queue.done(j) // only now, so that the results of a key come in order
	}
}

func (o *worker[I]) set(j *job[I], since time.Time) {
	o.mu.Lock()
	o.at, o.since = j, since
	o.mu.Unlock()
}

func (o *worker[I]) stalled(now time.Time, after time.Duration) (Stall, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at == nil || now.Sub(o.since) < after {
		return Stall{}, false
	}
	s := Stall{Kind: "stage", Name: o.node.name, Since: o.since, Origin: o.at.in.first()}
	if r, ok := o.run.(interface{ label(I) string }); ok {
		s.Key = r.label(o.at.in.values[0])
	}
	return s, true
}

// jobSize chooses how many records a job has, by how long records take.
type jobSize struct {
	max int

	mu  sync.Mutex
	per time.Duration // for one record, smoothed; guarded by mu
}

func (s *jobSize) measured(took time.Duration, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	per := took / time.Duration(records)
	if s.per == 0 {
		s.per = max(per, 1)
	}
	s.per = max((7*s.per+per)/8, 1)
}

// next returns the size of the jobs of a batch: every worker gets some of it.
func (s *jobSize) next(records, workers int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.per == 0 {
		return 1
	}
	share := (records + workers - 1) / workers
	return max(1, min(int(jobTime/s.per), share, s.max))
}

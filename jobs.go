package runnel

import (
	"context"
	"sync"

	"github.com/runnel-go/runnel/internal/engine"
)

// job is a part of a batch on its way through a worker. As a packet it is its own place among the results.
type job[I any] struct {
	in      Batch[I]
	key     uint64
	emitted []emission
	tally   *engine.Tally // of the stage
	done    chan struct{} // receives once the worker is through
	places  *places[I]    // where its result goes; nil: the job itself
}

// finish makes the result known.
func (j *job[I]) finish() {
	j.in.release()
	if j.places != nil {
		j.places.add(j)
		return
	}
	j.done <- struct{}{}
}

// Deliver emits the result in the collector's goroutine once it is there.
func (j *job[I]) Deliver(ctx context.Context, t *engine.Task) error {
	if err := t.Await(ctx, j.done); err != nil {
		return err
	}
	return j.emit(ctx)
}

func (j *job[I]) emit(ctx context.Context) error {
	for _, e := range j.emitted {
		dropped, err := e.emit(ctx)
		j.tally.Revoked.Add(int64(dropped))
		if err != nil {
			return err
		}
	}
	return nil
}

// places are the places of the jobs between two markers whose results come in any order: each takes the next result
// that is there. As there are as many as jobs, all results come before the marker behind them.
type places[I any] struct {
	ready chan struct{} // one value for each result; it never blocks a worker

	mu      sync.Mutex
	results []*job[I] // guarded by mu
}

func newPlaces[I any](size int) *places[I] { return &places[I]{ready: make(chan struct{}, size)} }

func (p *places[I]) add(j *job[I]) {
	p.mu.Lock()
	p.results = append(p.results, j)
	p.mu.Unlock()
	p.ready <- struct{}{}
}

// Deliver emits the next result.
func (p *places[I]) Deliver(ctx context.Context, t *engine.Task) error {
	if err := t.Await(ctx, p.ready); err != nil {
		return err
	}
	p.mu.Lock()
	j := p.results[0]
	p.results = p.results[1:]
	p.mu.Unlock()
	return j.emit(ctx)
}

// jobQueue hands jobs to workers, those of one key one after the other. It holds as many as the collector's inbox has
// places for, so adding to it never blocks.
type jobQueue[I any] struct {
	ready  chan *job[I]
	closed chan struct{}

	mu      sync.Mutex
	waiting map[uint64][]*job[I] // behind the job of their key that is ready or running; guarded by mu
}

func newJobQueue[I any](size int) *jobQueue[I] {
	return &jobQueue[I]{
		ready: make(chan *job[I], size), closed: make(chan struct{}), waiting: make(map[uint64][]*job[I]),
	}
}

func (q *jobQueue[I]) add(j *job[I]) { q.ready <- j }

// addKeyed adds a job that waits for those of its key.
func (q *jobQueue[I]) addKeyed(j *job[I]) {
	q.mu.Lock()
	behind, busy := q.waiting[j.key]
	if busy {
		q.waiting[j.key] = append(behind, j)
	} else {
		q.waiting[j.key] = nil
	}
	q.mu.Unlock()
	if !busy {
		q.ready <- j
	}
}

// done lets the next job of the key go. A key takes a place only while a job of it is there.
func (q *jobQueue[I]) done(j *job[I]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	behind, busy := q.waiting[j.key]
	switch {
	case !busy:
	case len(behind) == 0:
		delete(q.waiting, j.key)
	default:
		q.waiting[j.key] = behind[1:]
		q.ready <- behind[0]
	}
}

// take waits for a job. It returns nil when there will be no more.
func (q *jobQueue[I]) take(ctx context.Context) (*job[I], error) {
	select {
	case j := <-q.ready:
		return j, nil
	case <-q.closed:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (q *jobQueue[I]) close() { close(q.closed) }

// recording keeps what a worker's stage emits until its turn has come.
type recording struct{ emitted []emission }

// emission is a batch that was emitted and waits for its turn.
type emission interface {
	// emit hands it on, and returns how many records it dropped because their partition was given up meanwhile.
	emit(ctx context.Context) (dropped int, err error)
}

// recorder is a way out of a stage into a recording.
type recorder[T any] struct {
	rec *recording
	to  receiver[T]
}

func (r recorder[T]) process(_ context.Context, in Batch[T]) error {
	in.retain()
	r.rec.emitted = append(r.rec.emitted, recorded[T]{in, r.to})
	return nil
}

func (r recorder[T]) control(context.Context, engine.Control) error { return nil }

type recorded[T any] struct {
	batch Batch[T]
	to    receiver[T]
}

func (r recorded[T]) emit(ctx context.Context) (dropped int, err error) {
	dropped, err = passOwned(ctx, r.batch, r.to)
	r.batch.release()
	return dropped, err
}

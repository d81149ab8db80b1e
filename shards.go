package runnel

import (
	"context"

	"github.com/runnel-go/runnel/internal/engine"
)

// shards sends each record to the worker that owns its key. It is the receiver in the task before the workers, which
// are tasks of their own.
type shards[I any] struct {
	name  string
	route func(I) uint64
	to    []receiver[I]
	rows  [][]int32 // of the batch at hand, by worker
	outs  []*Out[I]
}

// startShards starts a task for each worker.
func startShards[I any](a *attempt, n *node, route func(I) uint64, start func(in *engine.Task, worker int) (receiver[I], error)) (receiver[I], error) {
	s := &shards[I]{name: n.name, route: route, rows: make([][]int32, n.workers())}
	for i := range n.workers() {
		var p port[I]
		e, err := p.edge(a, n, n.tally, func(_ *attempt, in *engine.Task) (receiver[I], error) { return start(in, i) })
		if err != nil {
			return nil, err
		}
		s.to = append(s.to, e)
		s.outs = append(s.outs, newOut(e, a.p.cfg.maxBatch, &engine.Tally{}, nil))
	}
	return s, nil
}

func (s *shards[I]) process(ctx context.Context, in Batch[I]) error {
	if err := s.deal(in); err != nil {
		return err
	}
	for w, rows := range s.rows {
		s.outs[w].begin(ctx)
		s.outs[w].EmitRows(in, rows)
		if err := s.outs[w].end(); err != nil {
			return err
		}
	}
	return nil
}

// deal notes which rows go to which worker.
func (s *shards[I]) deal(in Batch[I]) error {
	for i := range s.rows {
		s.rows[i] = s.rows[i][:0]
	}
	at := 0
	err := protect(s.name, Origin{}, func() error {
		for i, v := range in.values {
			at = i
			w := s.route(v) % uint64(len(s.to))
			s.rows[w] = append(s.rows[w], int32(i))
		}
		return nil
	})
	if failed, ok := err.(*StageError); ok {
		failed.Origin = in.Meta(at).Origin
	}
	return err
}

func (s *shards[I]) control(ctx context.Context, c engine.Control) error {
	return controlAll(ctx, s.to, c)
}

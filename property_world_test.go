package runnel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

var errCrash = errors.New("the process has crashed")

// world is what outlives a crash: a store, what sinks have, and the moment of the next crash. Whatever touches the
// outside goes through step; after the crash nothing has an effect any more.
type world struct {
	mu      sync.Mutex
	rng     *rand.Rand
	left    int // steps until the crash; negative: none
	crashed bool
	abort   func()
	faults  int // transient failures still to come
}

// begin begins a life that crashes after so many steps, or not if left is negative.
func (w *world) begin(left int, abort func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crashed, w.left, w.abort = false, left, abort
}

// step passes one effect on the outside; f is its effect.
func (w *world) step(f func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 && !w.crashed {
		w.crashed = true
		go w.abort()
	}
	if w.crashed {
		return errCrash
	}
	w.left--
	f()
	return nil
}

// fault says, now and then, that something fails that would work another time.
func (w *world) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults > 0 && w.rng.IntN(150) == 0 {
		w.faults--
		return errors.New("a transient failure")
	}
	return nil
}

// pause waits for a short while, now and then.
func (w *world) pause(ctx context.Context) {
	w.mu.Lock()
	d := time.Duration(0)
	if w.rng.IntN(20) == 0 {
		d = time.Duration(w.rng.IntN(50)) * time.Millisecond
	}
	w.mu.Unlock()
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
}

func (w *world) intn(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

// worldStore is a store whose saves are steps.
type worldStore struct {
	w *world
	checkpoint.Store
}

func (s worldStore) Durable() bool { return true }

func (s worldStore) Open(ctx context.Context, pipeline string) (checkpoint.Log, error) {
	log, err := s.Store.Open(ctx, pipeline)
	return worldLog{s.w, log}, err
}

type worldLog struct {
	w *world
	checkpoint.Log
}

func (l worldLog) Save(ctx context.Context, c *checkpoint.Checkpoint) error {
	var err error
	if crash := l.w.step(func() { err = l.Log.Save(ctx, c) }); crash != nil {
		return crash
	}
	return err
}

// worldSource emits n records: record i of source s is s<<32|i. Partition p has those with i%partitions == p.
type worldSource struct {
	w             *world
	id, n, shards int
	commits       *commits
}

// commits is what a source's own system knows.
type commits struct {
	mu sync.Mutex
	at map[string]uint64
}

func (s *worldSource) Describe() runnel.Traits { return runnel.Traits{Replay: true} }

func (s *worldSource) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int64], error) {
	r := &worldReader{worldSource: s, next: make([]int, s.shards), max: env.MaxBatch}
	for p := range s.shards {
		r.next[p] = p
		r.owner = append(r.owner, runnel.NewAssignment(env.Name, fmt.Sprint(p)))
		if token := from[fmt.Sprint(p)]; token != nil {
			r.next[p] = int(binary.BigEndian.Uint64(token))
		}
	}
	return r, nil
}

type worldReader struct {
	*worldSource
	max   int
	next  []int
	owner []*runnel.Assignment
}

func (r *worldReader) Read(ctx context.Context) (runnel.Fetch[int64], error) {
	r.w.pause(ctx)
	if err := r.w.fault(); err != nil {
		return runnel.Fetch[int64]{}, err
	}
	var open []int
	for p, at := range r.next {
		if at < r.n {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return runnel.Fetch[int64]{}, io.EOF
	}
	p := open[r.w.intn(len(open))]
	var values, offsets []int64
	for size := 1 + r.w.intn(2*r.max); size > 0 && r.next[p] < r.n; size-- {
		values = append(values, int64(r.id)<<32|int64(r.next[p]))
		offsets = append(offsets, int64(r.next[p]))
		r.next[p] += r.shards
	}
	return runnel.Fetch[int64]{
		Batch:    runnel.NewBatch(values, nil).WithOffsets(r.owner[p], offsets),
		Position: checkpoint.Position{fmt.Sprint(p): binary.BigEndian.AppendUint64(nil, uint64(r.next[p]))},
	}, nil
}

func (r *worldReader) ComparePosition(_ string, a, b []byte) int {
	return int(int64(binary.BigEndian.Uint64(a)) - int64(binary.BigEndian.Uint64(b)))
}

func (r *worldReader) Commit(_ context.Context, pos checkpoint.Position) error {
	return r.w.step(func() {
		r.commits.mu.Lock()
		defer r.commits.mu.Unlock()
		for p, token := range pos {
			at := binary.BigEndian.Uint64(token)
			if at < r.commits.at[p] {
				panic("a commit goes back")
			}
			r.commits.at[p] = at
		}
	})
}

func (r *worldReader) Close(context.Context) error { return nil }

// sinkKind says how a worldSink acknowledges.
type sinkKind int

const (
	plainSink sinkKind = iota
	lateSink
	txSink
	decidingSink
	sinkKinds
)

// worldSink keeps what it was given outside.
type worldSink struct {
	w    *world
	kind sinkKind

	mu       sync.Mutex
	durable  []int64
	prepared map[checkpoint.Number][]int64
	decided  checkpoint.Number
}

func newWorldSink(w *world, kind sinkKind) *worldSink {
	return &worldSink{w: w, kind: kind, prepared: make(map[checkpoint.Number][]int64)}
}

func (s *worldSink) Describe() runnel.Traits {
	return runnel.Traits{Transactional: s.kind == txSink, Decides: s.kind == decidingSink}
}

func (s *worldSink) Open(_ context.Context, env runnel.SinkEnv) (runnel.Writer[int64], error) {
	base := &worldWriter{worldSink: s}
	switch s.kind {
	case lateSink:
		return &lateWriter{worldWriter: base}, nil
	case decidingSink:
		return &decidingWriter{base}, nil
	case txSink:
		err := s.w.step(func() {
			if env.Prepared != nil {
				s.publish(checkpoint.Number(binary.BigEndian.Uint64(env.Prepared)))
			}
			clear(s.prepared)
		})
		return &txWriter{base}, err
	}
	return base, nil
}

// publish makes visible what was prepared; a second time it has no effect.
func (s *worldSink) publish(n checkpoint.Number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durable = append(s.durable, s.prepared[n]...)
	delete(s.prepared, n)
}

func (s *worldSink) got() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.durable)
}

// worldWriter buffers, and makes durable at a flush; parts of a buffer may become durable before.
type worldWriter struct {
	*worldSink
	buffer []int64
}

func (w *worldWriter) Write(ctx context.Context, b runnel.Batch[int64]) error {
	w.w.pause(ctx)
	if err := w.w.fault(); err != nil {
		return err
	}
	w.buffer = append(w.buffer, b.Values()...)
	if w.kind == plainSink && len(w.buffer) > 20 {
		return w.Flush(ctx)
	}
	return nil
}

func (w *worldWriter) Flush(ctx context.Context) error {
	if w.kind == decidingSink {
		return nil
	}
	w.w.pause(ctx)
	return w.w.step(func() { w.toDurable(w.buffer); w.buffer = nil })
}

func (w *worldWriter) toDurable(values []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.durable = append(w.durable, values...)
}

func (w *worldWriter) Close(context.Context) error { return nil }

type lateWriter struct {
	*worldWriter
	acks sync.WaitGroup // under way
}

func (w *lateWriter) Barrier(ctx context.Context, done func(error)) {
	values := w.buffer
	w.buffer = nil
	w.acks.Go(func() {
		w.w.pause(ctx)
		done(w.w.step(func() { w.toDurable(values) }))
	})
}

func (w *lateWriter) Close(context.Context) error {
	w.acks.Wait()
	return nil
}

type txWriter struct{ *worldWriter }

func (w *txWriter) Prepare(ctx context.Context, n checkpoint.Number) ([]byte, error) {
	w.w.pause(ctx)
	err := w.w.step(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.prepared[n] = w.buffer
		w.buffer = nil
	})
	return binary.BigEndian.AppendUint64(nil, uint64(n)), err
}

func (w *txWriter) Commit(ctx context.Context, n checkpoint.Number, _ []byte) error {
	w.w.pause(ctx)
	return w.w.step(func() { w.publish(n) })
}

func (w *txWriter) Abort(context.Context) error { return nil }

type decidingWriter struct{ *worldWriter }

func (w *decidingWriter) Decide(ctx context.Context, c *checkpoint.Checkpoint) error {
	w.w.pause(ctx)
	lost := w.w.intn(10) == 0
	err := w.w.step(func() {
		w.toDurable(w.buffer)
		w.buffer = nil
		w.decided = c.Number
	})
	if err == nil && lost {
		return errors.New("the answer was lost")
	}
	return err
}

func (w *decidingWriter) Decided(context.Context) (checkpoint.Number, error) { return w.decided, nil }

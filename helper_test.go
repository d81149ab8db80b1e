package runnel_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// journal notes what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

// numbers is a source of the numbers from 0 on. Its position is the next number, as text. A test may put itself into
// each of its calls.
type numbers struct {
	journal
	n       int  // how many; then it ends
	size    int  // of a fetch; 0 means 1
	endless bool // it waits where it would end
	traits  runnel.Traits

	onOpen   func(ctx context.Context, from checkpoint.Position) error
	onRead   func(ctx context.Context, at int) error // before numbers from at on
	onFetch  func(f *runnel.Fetch[int])
	onCommit func(ctx context.Context, next string) error
	onClose  func(ctx context.Context) error
}

func (s *numbers) Describe() runnel.Traits {
	if s.traits == (runnel.Traits{}) {
		return runnel.Traits{Replay: true}
	}
	return s.traits
}

func (s *numbers) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	if s.onOpen != nil {
		if err := s.onOpen(ctx, from); err != nil {
			return nil, err
		}
	}
	next, _ := strconv.Atoi(string(from["p"]))
	s.add("open at %d", next)
	return &numbersReader{s, runnel.NewAssignment(env.Name, "p"), next}, nil
}

type numbersReader struct {
	*numbers
	part *runnel.Assignment
	next int
}

func (r *numbersReader) Read(ctx context.Context) (runnel.Fetch[int], error) {
	if r.onRead != nil {
		if err := r.onRead(ctx, r.next); err != nil {
			return runnel.Fetch[int]{}, err
		}
	}
	if r.next >= r.n {
		if r.endless {
			<-ctx.Done()
			return runnel.Fetch[int]{}, ctx.Err()
		}
		return runnel.Fetch[int]{}, io.EOF
	}
	first := r.next
	var values []int
	for ; r.next < min(first+max(r.size, 1), r.n); r.next++ {
		values = append(values, r.next)
	}
	f := runnel.Fetch[int]{Batch: runnel.NewBatch(values, nil).WithOrigin(r.part, int64(first)), Position: at(r.next)}
	if r.onFetch != nil {
		r.onFetch(&f)
	}
	return f, nil
}

func at(next int) checkpoint.Position { return checkpoint.Position{"p": []byte(strconv.Itoa(next))} }

func (r *numbersReader) Commit(ctx context.Context, pos checkpoint.Position) error {
	if r.onCommit != nil {
		if err := r.onCommit(ctx, string(pos["p"])); err != nil {
			return err
		}
	}
	r.add("commit %s", pos["p"])
	return nil
}

func (r *numbersReader) Abandon(cause error) { r.add("abandon: %v", cause) }

func (r *numbersReader) Close(ctx context.Context) error {
	r.add("close")
	if r.onClose != nil {
		return r.onClose(ctx)
	}
	return nil
}

// collect is a sink that keeps what it is given. A test may put itself into each of its calls.
type collect[T any] struct {
	journal
	kind   sinkKind
	traits runnel.Traits

	onOpen  func(ctx context.Context, env runnel.SinkEnv) error
	onWrite func(ctx context.Context, b runnel.Batch[T]) error
	onCall  func(ctx context.Context, call string) error // flush, prepare 1, commit 1, decide 1, abort, close
	onDone  func(n int, done func(error))                // the n-th barrier, from 1

	barriers int
	decided  checkpoint.Number

	valuesMu sync.Mutex
	values   []T // guarded by valuesMu
	prepared int // how many of them Abort leaves; guarded by valuesMu
}

func (s *collect[T]) Describe() runnel.Traits {
	t := s.traits
	t.Transactional, t.Decides = s.kind == txSink, s.kind == decidingSink
	return t
}

func (s *collect[T]) got() []T {
	s.valuesMu.Lock()
	defer s.valuesMu.Unlock()
	return append([]T(nil), s.values...)
}

func (s *collect[T]) Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	if s.onOpen != nil {
		if err := s.onOpen(ctx, env); err != nil {
			return nil, err
		}
	}
	w := &collectWriter[T]{s}
	switch s.kind {
	case lateSink:
		return collectLate[T]{w}, nil
	case txSink:
		return collectTx[T]{w}, nil
	case decidingSink:
		return collectDecider[T]{w}, nil
	}
	return w, nil
}

type collectWriter[T any] struct{ *collect[T] }

func (w *collectWriter[T]) Write(ctx context.Context, b runnel.Batch[T]) error {
	w.add("write %v", b.Values())
	if w.onWrite != nil {
		if err := w.onWrite(ctx, b); err != nil {
			return err
		}
	}
	w.valuesMu.Lock()
	defer w.valuesMu.Unlock()
	w.values = append(w.values, b.Values()...)
	return nil
}

func (w *collectWriter[T]) call(ctx context.Context, call string) error {
	w.add("%s", call)
	if w.onCall != nil {
		return w.onCall(ctx, call)
	}
	return nil
}

func (w *collectWriter[T]) Flush(ctx context.Context) error { return w.call(ctx, "flush") }
func (w *collectWriter[T]) Close(ctx context.Context) error { return w.call(ctx, "close") }

type collectLate[T any] struct{ *collectWriter[T] }

func (w collectLate[T]) Barrier(_ context.Context, done func(error)) {
	w.barriers++
	w.add("barrier %d", w.barriers)
	if w.onDone == nil {
		done(nil)
		return
	}
	w.onDone(w.barriers, done)
}

type collectTx[T any] struct{ *collectWriter[T] }

func (w collectTx[T]) Prepare(ctx context.Context, n checkpoint.Number) ([]byte, error) {
	if err := w.call(ctx, fmt.Sprint("prepare ", n)); err != nil {
		return nil, err
	}
	w.valuesMu.Lock()
	defer w.valuesMu.Unlock()
	w.prepared = len(w.values)
	return fmt.Append(nil, "token ", n), nil
}

func (w collectTx[T]) Commit(ctx context.Context, n checkpoint.Number, token []byte) error {
	return w.call(ctx, fmt.Sprintf("commit %d with %s", n, token))
}

func (w collectTx[T]) Abort(ctx context.Context) error {
	w.valuesMu.Lock()
	w.values = w.values[:w.prepared]
	w.valuesMu.Unlock()
	return w.call(ctx, "abort")
}

type collectDecider[T any] struct{ *collectWriter[T] }

func (w collectDecider[T]) Decide(ctx context.Context, c *checkpoint.Checkpoint) error {
	if err := w.call(ctx, fmt.Sprint("decide ", c.Number)); err != nil {
		return err
	}
	w.decided = c.Number
	return nil
}

func (w collectDecider[T]) Decided(ctx context.Context) (checkpoint.Number, error) {
	return w.decided, w.call(ctx, "decided?")
}

// run starts a pipeline. stop ends its context and returns what Run does.
func run(t *testing.T, p *runnel.Pipeline) (stop func() error, done <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() error { cancel(); return <-ended }, ended
}

// every takes checkpoints, kept in a store, at that interval.
func every(store checkpoint.Store, d time.Duration) runnel.Option {
	return runnel.Checkpoint(store, checkpoint.Every(d))
}

// durably is a store that says that it outlives the process, and does for the test.
type durably struct{ checkpoint.Store }

func (durably) Durable() bool { return true }

// refusal is a BatchError for the records that are to fail.
func refusal[T comparable](b runnel.Batch[T], cause error, values ...T) error {
	failed := &runnel.BatchError[T]{}
	for i, v := range b.Values() {
		for _, refused := range values {
			if v == refused {
				failed.Failed, failed.Errs = append(failed.Failed, b.Record(i)), append(failed.Errs, cause)
			}
		}
	}
	if len(failed.Failed) == 0 {
		return nil
	}
	return failed
}

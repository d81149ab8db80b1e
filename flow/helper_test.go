package flow_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBad = errors.New("bad")

// list is a source of values that can be read again. Its zero settings give one fetch of all values.
type list[T any] struct {
	values  []T
	size    int                           // of a fetch; 0 is all
	endless bool                          // values come again and again
	wait    func(fetch int) time.Duration // before a fetch; nil is none
	meta    func(i int) runnel.Meta       // key, time and headers of a value; nil is none

	mu        sync.Mutex
	committed int   // what to read next; guarded by mu
	starts    []int // where Open began; guarded by mu
}

func of[T any](values ...T) *list[T] { return &list[T]{values: values} }

// count returns a source of 0 … n-1 in fetches of size.
func count(n, size int) *list[int] {
	l := &list[int]{size: size}
	for i := range n {
		l.values = append(l.values, i)
	}
	return l
}

func (l *list[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "list", Replay: true} }

func (l *list[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	r := &listReader[T]{list: l, part: runnel.NewAssignment(env.Name, "0")}
	if token := from["0"]; token != nil {
		r.at = int(binary.BigEndian.Uint64(token))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts = append(l.starts, r.at)
	return r, nil
}

func (l *list[T]) committedTo() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.committed
}

type listReader[T any] struct {
	*list[T]
	at, fetch int
	part      *runnel.Assignment
}

func (r *listReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	if err := r.pause(ctx); err != nil {
		return runnel.Fetch[T]{}, err
	}
	n, first := r.length(), r.at
	if n == 0 {
		return runnel.Fetch[T]{}, io.EOF
	}
	values, meta := make([]T, n), make([]runnel.Meta, n)
	for i := range values {
		values[i] = r.values[(first+i)%len(r.values)]
		if r.list.meta != nil {
			meta[i] = r.list.meta(first + i)
		}
	}
	r.at += n
	return runnel.Fetch[T]{
		Batch:    runnel.NewBatch(values, meta).WithOrigin(r.part, int64(first)),
		Position: checkpoint.Position{"0": binary.BigEndian.AppendUint64(nil, uint64(r.at))},
	}, nil
}

// length returns how many values the next fetch has.
func (r *listReader[T]) length() int {
	size := r.size
	if size == 0 {
		size = len(r.values)
	}
	if r.endless {
		return size
	}
	return min(size, len(r.values)-r.at)
}

func (r *listReader[T]) pause(ctx context.Context) error {
	r.fetch++
	if r.wait == nil {
		return ctx.Err()
	}
	select {
	case <-time.After(r.wait(r.fetch - 1)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *listReader[T]) Commit(_ context.Context, pos checkpoint.Position) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = int(binary.BigEndian.Uint64(pos["0"]))
	return nil
}

func (r *listReader[T]) Close(context.Context) error { return nil }

// bag is a sink that keeps what it is given.
type bag[T any] struct {
	write func(ctx context.Context, b runnel.Batch[T]) error // called first; nil does nothing

	mu      sync.Mutex
	records []runnel.Record[T] // guarded by mu
	batches []int              // lengths; guarded by mu
}

func (b *bag[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) { return b, nil }

func (b *bag[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	if b.write != nil {
		if err := b.write(ctx, batch); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, batch.Len())
	for i := range batch.Len() {
		b.records = append(b.records, batch.Record(i))
	}
	return nil
}

func (b *bag[T]) Flush(context.Context) error { return nil }
func (b *bag[T]) Close(context.Context) error { return nil }

func (b *bag[T]) got() []runnel.Record[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.records[:len(b.records):len(b.records)]
}

func (b *bag[T]) values() []T {
	var vals []T
	for _, r := range b.got() {
		vals = append(vals, r.Value)
	}
	return vals
}

// through runs src through a transform and returns what comes out.
func through[I, O any](t *testing.T, src runnel.Source[I], f func(runnel.Stream[I]) runnel.Stream[O], opts ...runnel.Option) ([]runnel.Record[O], runnel.Status) {
	t.Helper()
	p := runnel.New("test", opts...)
	out := &bag[O]{}
	f(runnel.From(p, src)).To(out)
	require.NoError(t, p.Run(context.Background()))
	return out.got(), p.Status()
}

// valuesOf returns the values of records.
func valuesOf[T any](records []runnel.Record[T]) []T {
	var vals []T
	for _, r := range records {
		vals = append(vals, r.Value)
	}
	return vals
}

// stage returns the status of a stage.
func stage(t *testing.T, s runnel.Status, name string) runnel.StageStatus {
	t.Helper()
	for _, st := range s.Stages {
		if st.Name == name {
			return st
		}
	}
	require.Fail(t, "no stage", name)
	return runnel.StageStatus{}
}

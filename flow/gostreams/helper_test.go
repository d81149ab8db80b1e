package gostreams_test

import (
	"context"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bag is a sink that keeps records.
type bag[T any] struct {
	write func(runnel.Batch[T]) error // called first; nil does nothing

	mu      sync.Mutex
	records []runnel.Record[T] // guarded by mu
}

func (b *bag[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) { return b, nil }

func (b *bag[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	if b.write != nil {
		if err := b.write(batch); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range batch.Len() {
		b.records = append(b.records, batch.Record(i))
	}
	return nil
}

func (b *bag[T]) Flush(context.Context) error { return nil }
func (b *bag[T]) Close(context.Context) error { return nil }

func (b *bag[T]) values() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	var vals []T
	for _, r := range b.records {
		vals = append(vals, r.Value)
	}
	return vals
}

// through runs a source through a transform and returns what comes out.
func through[I, O any](t *testing.T, src runnel.Source[I], f func(runnel.Stream[I]) runnel.Stream[O], opts ...runnel.Option) []O {
	t.Helper()
	p, out := runnel.New("test", opts...), &bag[O]{}
	f(runnel.From(p, src)).To(out)
	require.NoError(t, p.Run(context.Background()))
	return out.values()
}

// upTo returns 0 … n-1.
func upTo(n int) []int {
	vals := make([]int, n)
	for i := range vals {
		vals[i] = i
	}
	return vals
}

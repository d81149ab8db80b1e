package sinktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// says: the abilities of the writer are those that the sink declares.
func (s *suite[T]) says(t *testing.T) {
	p := s.open(t, s.setup(t), 0, nil)
	declared := traits(p.sys.Sink())
	if got := p.tx != nil; got != declared.Transactional {
		t.Errorf("the writer is transactional: %t, and the sink says: %t", got, declared.Transactional)
	}
	if got := p.decider != nil; got != declared.Decides {
		t.Errorf("the writer decides: %t, and the sink says: %t", got, declared.Decides)
	}
}

// writes: what was written before a marker is durable behind it, whatever the sizes of the batches.
func (s *suite[T]) writes(t *testing.T) {
	p := s.start(t)
	n := 0
	for _, size := range []int{1, 2, 500, 0, 1, 64} {
		if size == 0 {
			p.marker()
			p.requireVisible(n)
			continue
		}
		p.write(n, n+size)
		n += size
	}
	p.marker()
	p.requireVisible(n)
	p.close()
	p.requireVisible(n)
}

// keepsNothing: a batch is valid until Write returns, so its memory may hold other records by the time of the flush.
func (s *suite[T]) keepsNothing(t *testing.T) {
	p := s.start(t)
	const size = 5
	values := make([]T, size)
	keys, headers, times := make([][]byte, size), make([]runnel.Headers, size), make([]time.Time, size)
	a := runnel.NewAssignment("source", "0")
	for lo := 0; lo < 4*size; lo += size {
		copy(values, p.values(lo, lo+size))
		for i := range size {
			keys[i], times[i] = []byte{byte(lo + i)}, time.Unix(int64(lo+i), 0)
			headers[i] = runnel.Headers{{Name: "n", Value: []byte{byte(lo + i)}}}
		}
		batch := runnel.NewBatch(values, nil).WithKeys(keys).WithTimes(times).WithHeaders(headers).WithOrigin(a, int64(lo))
		p.do("Write", func(ctx context.Context) error { return p.w.Write(ctx, batch) })
		for i := range size {
			values[i] = p.sys.Value(1_000_000 + i)
		}
		clear(keys)
		clear(headers)
		clear(times)
	}
	p.marker()
	p.requireVisible(4 * size)
}

// nothing: markers may come with no record between, or at all.
func (s *suite[T]) nothing(t *testing.T) {
	p := s.start(t)
	p.marker()
	p.marker()
	p.requireVisible(0)
	p.write(0, 3)
	p.marker()
	p.marker()
	p.requireVisible(3)
}

// closes: Close may be called twice, also where something was written and not flushed.
func (s *suite[T]) closes(t *testing.T) {
	early := s.open(t, s.setup(t), 0, nil)
	early.close()
	early.closeAgain()
	p := s.start(t)
	p.write(0, 3)
	p.marker()
	p.write(3, 6)
	p.close()
	p.closeAgain()
}

// closeAgain closes a writer that is closed.
func (p *process[T]) closeAgain() {
	if err := p.w.Close(context.Background()); err != nil && !errors.Is(err, runnel.ErrClosed) {
		p.t.Errorf("Close, the second time: %v, want nil or ErrClosed", err)
	}
}

// ends: with a context that has ended, no method waits; the writer can be closed then.
func (s *suite[T]) ends(t *testing.T) {
	p := s.start(t)
	p.write(0, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_ = p.w.Write(ctx, runnel.NewBatch(p.values(3, 6), nil)) // whether it fails is the writer's
		_ = p.w.Flush(ctx)
		if p.tx != nil {
			_ = p.tx.Abort(ctx)
		}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-returned:
	case <-late.C:
		t.Fatal("a method does not return although its context has ended")
	}
	p.close()
}

// refuses: the records that cannot be written are named, from Write or at the marker, and the others are kept.
func (s *suite[T]) refuses(t *testing.T) {
	p := s.start(t)
	if p.sys.Bad == nil {
		t.Skip("the sink refuses no single records")
	}
	values := p.values(0, 2)
	values = append(values, p.sys.Bad())
	values = append(values, p.values(2, 4)...)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := p.w.Write(ctx, runnel.NewBatch(values, nil))
	if err == nil {
		err = p.flush(ctx)
	}
	var batch *runnel.BatchError[T]
	if !errors.As(err, &batch) {
		t.Fatalf("a record that is refused gave %v, want a *BatchError", err)
	}
	if len(batch.Failed) != 1 || len(batch.Errs) != 1 || batch.Errs[0] == nil {
		t.Fatalf("%d records failed with %d errors, want 1 with 1", len(batch.Failed), len(batch.Errs))
	}
	if want, got := p.sys.show([]T{p.sys.Bad()}), p.sys.show([]T{batch.Failed[0].Value}); want[0] != got[0] {
		t.Fatalf("%s failed, want %s", got[0], want[0])
	}
	p.marker()
	p.requireVisible(4)
}

// flush makes what was written durable, by whatever method the writer has for it.
func (p *process[T]) flush(ctx context.Context) error {
	if b, ok := p.w.(runnel.Barrier); ok && p.tx == nil && p.decider == nil {
		done := make(chan error, 1)
		b.Barrier(ctx, func(err error) { done <- err })
		return <-done
	}
	if p.tx == nil {
		return p.w.Flush(ctx)
	}
	p.n++
	token, err := p.tx.Prepare(ctx, p.n)
	if err != nil {
		p.n-- // the same marker is prepared again
		return err
	}
	p.token = token
	return p.tx.Commit(ctx, p.n, token)
}

// acknowledgesOnce: a writer that acknowledges later does so once for each marker, and what is acknowledged is durable.
func (s *suite[T]) acknowledgesOnce(t *testing.T) {
	p := s.start(t)
	b, ok := p.w.(runnel.Barrier)
	if !ok || p.tx != nil || p.decider != nil {
		t.Skip("the writer does not acknowledge later")
	}
	const markers = 5
	var mu sync.Mutex
	calls := make([]int, markers)
	outcomes := make(chan error, 2*markers)
	for i := range markers {
		p.write(i, i+1)
		p.do("Barrier", func(ctx context.Context) error {
			b.Barrier(ctx, func(err error) {
				mu.Lock()
				calls[i]++
				mu.Unlock()
				outcomes <- err
			})
			return nil
		})
	}
	for range markers {
		p.do("the outcome of a marker", func(ctx context.Context) error {
			select {
			case err := <-outcomes:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}
	p.requireVisible(markers)
	p.close()
	mu.Lock()
	defer mu.Unlock()
	for i, n := range calls {
		if n != 1 {
			t.Errorf("marker %d was acknowledged %d times", i+1, n)
		}
	}
}

// decides: rows and number become durable together, and nothing of them before.
func (s *suite[T]) decides(t *testing.T) {
	p := s.start(t)
	if p.decider == nil {
		t.Skip("the sink does not decide")
	}
	p.write(0, 3)
	p.marker()
	p.requireDecided(p.n)
	p.write(3, 6)
	p.do("Flush", p.w.Flush)
	p.requireVisible(3)
	p.requireDecided(p.n)
	p.kill()
	next := s.open(t, p.sys, p.n, nil)
	next.requireVisible(3)
	next.requireDecided(p.n)
	next.write(3, 4)
	next.marker()
	next.requireVisible(4)
	next.requireDecided(next.n)
}

func (p *process[T]) requireDecided(want checkpoint.Number) {
	p.t.Helper()
	p.do("Decided", func(ctx context.Context) error {
		got, err := p.decider.Decided(ctx)
		if err == nil && got != want {
			p.t.Fatalf("checkpoint %d is decided, want %d", got, want)
		}
		return err
	})
}

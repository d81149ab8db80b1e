package runnel_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// group is a source whose partitions move: what its system has as committed, and a reader that a test rebalances.
type group struct {
	mu        sync.Mutex
	committed map[string]string
	queue     chan runnel.Fetch[string]
	owned     map[string]*runnel.Assignment // guarded by mu
}

func newGroup(partitions ...string) *group {
	g := &group{committed: map[string]string{}, queue: make(chan runnel.Fetch[string], 100), owned: map[string]*runnel.Assignment{}}
	for _, p := range partitions {
		g.owned[p] = runnel.NewAssignment("group", p)
	}
	return g
}

func (g *group) Describe() runnel.Traits { return runnel.Traits{Replay: true, Moving: true} }

func (g *group) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[string], error) {
	return g, nil
}

func (g *group) Read(ctx context.Context) (runnel.Fetch[string], error) {
	select {
	case f, ok := <-g.queue:
		if !ok {
			return f, io.EOF
		}
		return f, nil
	case <-ctx.Done():
		return runnel.Fetch[string]{}, ctx.Err()
	}
}

// Commit commits what is still owned.
func (g *group) Commit(_ context.Context, pos checkpoint.Position) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, token := range pos {
		if a := g.owned[p]; a != nil && !a.Revoked() {
			g.committed[p] = string(token)
		}
	}
	return nil
}

func (g *group) Close(context.Context) error { return nil }

// send queues records of a partition; next is the position behind them.
func (g *group) send(p, next string, values ...string) {
	g.queue <- runnel.Fetch[string]{
		Batch:    runnel.NewBatch(values, nil).WithOrigin(g.owned[p], 0),
		Position: checkpoint.Position{p: []byte(next)},
	}
}

// revoke gives a partition up as a rebalance does: it asks for a drain, waits for it up to the limit, and ends the
// assignment.
func (g *group) revoke(p string, limit time.Duration) error {
	drained := make(chan error, 1)
	g.queue <- runnel.Fetch[string]{Drain: func(err error) { drained <- err }}
	var err error
	select {
	case err = <-drained:
	case <-time.After(limit):
		err = context.DeadlineExceeded
	}
	g.mu.Lock()
	g.owned[p].Revoke()
	g.mu.Unlock()
	g.queue <- runnel.Fetch[string]{Position: checkpoint.Position{p: nil}}
	return err
}

// slowSink takes a while for each batch, and notes what it got.
type slowSink struct {
	delay time.Duration
	mu    sync.Mutex
	got   []string
}

func (s *slowSink) Open(context.Context, runnel.SinkEnv) (runnel.Writer[string], error) {
	return s, nil
}

func (s *slowSink) Write(ctx context.Context, b runnel.Batch[string]) error {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, b.Values()...)
	return nil
}

func (s *slowSink) Flush(context.Context) error { return nil }
func (s *slowSink) Close(context.Context) error { return nil }

func (s *slowSink) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

func runGroup(t *testing.T, g *group, s *slowSink) (stop func() error) {
	p := runnel.New("group", runnel.MaxBatch(1), runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
	runnel.From(p, g).To(s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func TestRevokedPartitionIsDrainedAndCommittedWhileItIsOwned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, s := newGroup("a", "b"), &slowSink{delay: 100 * time.Millisecond}
		stop := runGroup(t, g, s)
		g.send("a", "2", "a0", "a1")
		g.send("b", "1", "b0")
		require.NoError(t, g.revoke("a", time.Minute))
		require.Equal(t, map[string]string{"a": "2", "b": "1"}, g.committed)
		g.send("b", "2", "b1")
		synctest.Wait()
		require.NoError(t, stop())
		require.Equal(t, []string{"a0", "a1", "b0", "b1"}, s.all())
		require.Equal(t, map[string]string{"a": "2", "b": "2"}, g.committed)
	})
}

// Invariant 4: after a partition was given up, its old owner commits nothing for it, and no stage receives a further
// record of it.
func TestNoRecordOfAPartitionThatWasGivenUpGoesFurther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, s := newGroup("a", "b"), &slowSink{delay: time.Second}
		stop := runGroup(t, g, s)
		g.send("a", "6", "a0", "a1", "a2", "a3", "a4", "a5")
		g.send("b", "1", "b0")
		require.ErrorIs(t, g.revoke("a", 1500*time.Millisecond), context.DeadlineExceeded)
		before := s.all()
		require.Equal(t, []string{"a0"}, before, "a1 is being written")
		require.NoError(t, stop())
		require.Equal(t, []string{"a0", "a1", "b0"}, s.all(), "what a writer had taken may be written")
		require.Equal(t, map[string]string{"b": "1"}, g.committed)
	})
}

func TestDrainOfARunThatFailsIsAnsweredWithTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, s := newGroup("a"), &slowSink{delay: time.Hour}
		p := runnel.New("group", runnel.Checkpoint(checkpoint.Memory()))
		runnel.From(p, g).To(s)
		done := make(chan error, 1)
		go func() { done <- p.Run(t.Context()) }()
		g.send("a", "1", "a0")
		answer := make(chan error, 1)
		go func() { answer <- g.revoke("a", time.Minute) }()
		synctest.Wait()
		p.Abort()
		require.ErrorIs(t, <-done, runnel.ErrAborted)
		require.ErrorIs(t, <-answer, runnel.ErrAborted)
		require.Empty(t, g.committed)
	})
}

func TestStateBelowAMovingSourceIsRefused(t *testing.T) {
	t.Parallel()
	p := runnel.New("group")
	counted := runnel.Apply(runnel.From(p, newGroup("a")), "count", nil, func(runnel.StageEnv) (runnel.Stage[string, string], error) {
		return nil, errors.New("is not opened")
	}, runnel.Stateful())
	counted.To(&slowSink{})
	require.ErrorContains(t, p.Validate(), "partitions of source-1 can move")
}

// copied emits each record, and another whose origin only says where it comes from.
func copied(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
	for i := range in.Len() {
		r := in.Record(i)
		out.Emit(r.Value, r.Meta)
		from := r.Origin
		out.Emit("by hand", runnel.Meta{Origin: runnel.Origin{Source: from.Source, Partition: from.Partition}})
	}
	return nil
}

// A record whose origin was written by hand is of no assignment, also beside records of one: it may stand for records of
// other partitions, which are still owned.
func TestOriginWrittenByHandIsNotRevokedWithItsPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, out := newGroup("a"), &slowSink{}
		p := runnel.New("p")
		s := through(runnel.From(p, g), stage[string, string](copied))
		through(s, stage[string, string](func(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
			g.owned["a"].Revoke()
			out.EmitBatch(in)
			return nil
		})).To(out)
		g.send("a", "1", "a0")
		close(g.queue)
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, []string{"by hand"}, out.all())
	})
}

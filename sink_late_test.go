package runnel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// lateRun is a run of a sink that acknowledges later: a test says when, by the number of the barrier.
type lateRun struct {
	src  *numbers
	out  *collect[int]
	dead *collect[runnel.Failed]
	mu   sync.Mutex
	done map[int]func(error) // guarded by mu
	p    *runnel.Pipeline
	stop func() error
	end  <-chan error
}

// newLateRun starts a run in which each record is followed by a checkpoint, one a second.
func newLateRun(t *testing.T, records int, opts ...runnel.StageOption) *lateRun {
	return newLateRunOf(t, records, nil, opts...)
}

// newLateRunOf does so with a sink that refuses records when they are written.
func newLateRunOf(t *testing.T, records int, onWrite func(context.Context, runnel.Batch[int]) error, opts ...runnel.StageOption) *lateRun {
	r := &lateRun{src: paced(records), out: &collect[int]{kind: lateSink}, dead: &collect[runnel.Failed]{}, done: map[int]func(error){}}
	r.src.endless, r.out.onWrite = true, onWrite
	r.out.onDone = func(n int, done func(error)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done[n] = done
	}
	r.p = runnel.New("p", every(checkpoint.Memory(), time.Second))
	runnel.From(r.p, r.src).To(r.out, append(opts, runnel.DeadLetter(r.dead))...)
	r.stop, r.end = run(t, r.p)
	return r
}

// say has the writer say something of a barrier.
func (r *lateRun) say(barrier int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[barrier](err)
}

func (r *lateRun) commits() []string {
	return slices.DeleteFunc(r.src.all(), func(line string) bool { return !strings.HasPrefix(line, "commit") })
}

func TestLateAcknowledgementsCompleteMarkersInOrderWhicheverComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRun(t, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Len(t, r.done, 3)
		require.Equal(t, []int{0, 1, 2}, r.out.got(), "writing goes on meanwhile")
		r.say(2, nil)
		synctest.Wait()
		require.Empty(t, r.commits())
		r.say(1, nil)
		synctest.Wait()
		require.Equal(t, []string{"commit 1", "commit 2"}, r.commits())
		r.say(1, errBroken) // only the first word counts
		r.say(3, nil)
		r.say(3, errBroken)
		synctest.Wait()
		require.Equal(t, []string{"commit 1", "commit 2", "commit 3"}, r.commits())
		go func() {
			time.Sleep(time.Second)
			r.say(4, nil) // the last marker is waited for
		}()
		require.NoError(t, r.stop())
	})
}

func TestLateFailureEndsTheRunAndCommitsNothingBehindIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRun(t, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.say(1, nil)
		r.say(3, nil)
		synctest.Wait()
		r.say(2, errBroken)
		require.ErrorContains(t, <-r.end, "runnel: sink-1: flush: the connection broke")
		require.Equal(t, []string{"commit 1"}, r.commits())
	})
}

func TestStopWaitsForLateAcknowledgementsUntilTheDrainTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRun(t, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		err := r.stop()
		require.ErrorIs(t, err, runnel.ErrDrainTimeout)
		require.ErrorContains(t, err, "checkpoint 1 was not acknowledged by sink sink-1, sink sink-1-dead-letters")
		r.say(1, nil) // too late, and harmless
		require.Empty(t, r.commits())
	})
}

// A record that is refused late was written in front of the marker that the writer speaks of: its dead letter is
// acknowledged before that marker completes.
func TestDeadLetterOfALateRefusalComesBeforeItsMarker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRun(t, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.dead.onCall = func(context.Context, string) error {
			r.dead.add("%d letters, %v", len(r.dead.got()), r.commits())
			return nil
		}
		r.say(1, nil)
		synctest.Wait()
		r.say(2, lost(errRefused, 1))
		synctest.Wait()
		require.Equal(t, []string{"commit 1", "commit 2"}, r.commits())
		require.Equal(t, []string{
			"flush", "0 letters, []", "write [" + fmt.Sprint(r.dead.got()[0]) + "]", "flush", "1 letters, [commit 1]",
		}, r.dead.all())
		require.Contains(t, r.out.all(), "flush", "what the writer kept is made durable")
		r.say(3, nil)
		go func() { time.Sleep(time.Second); r.say(4, nil) }()
		require.NoError(t, r.stop())
	})
}

// A record that is refused when it is written comes behind the markers that are still open: its dead letter waits for
// them.
func TestDeadLetterOfARefusedWriteComesBehindTheOpenMarkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRunOf(t, 3, func(_ context.Context, b runnel.Batch[int]) error { return refusal(b, errRefused, 1) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Empty(t, r.dead.all(), "record 1 waits for the marker behind record 0")
		r.say(1, nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, "flush", r.dead.all()[0])
		require.Len(t, r.dead.got(), 1)
		r.say(2, nil)
		r.say(3, nil)
		go func() { time.Sleep(time.Second); r.say(4, nil) }()
		require.NoError(t, r.stop())
		require.Equal(t, []int{0, 2}, r.out.got())
	})
}

func TestRefusedWriteThatWaitsForOpenMarkersEndsWithAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRunOf(t, 3, func(_ context.Context, b runnel.Batch[int]) error { return refusal(b, errRefused, 1) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.p.Abort()
		require.ErrorIs(t, <-r.end, runnel.ErrAborted)
		require.Empty(t, r.dead.got())
	})
}

func TestLateWriterIsGivenAgainWhatItMayTryAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newLateRun(t, 2, runnel.Retry(2, time.Second))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.say(1, lost(runnel.AsRetryable(errRefused), 0))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"write [0]", "barrier 1", "write [1]", "barrier 2", "write [0]", "flush"}, r.out.all())
		require.Equal(t, []string{"commit 1"}, r.commits())
		r.say(2, nil)
		go func() { time.Sleep(time.Second); r.say(3, nil) }()
		require.NoError(t, r.stop())
		require.Empty(t, r.dead.got())
	})
}

// While writes keep a sink busy its acknowledgements are heard all the same: markers complete before as many are open
// as may be.
func TestBusyLateSinkIsHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := &numbers{n: 1000}, &collect[int]{kind: lateSink}
		out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { return sleep(ctx, 100*time.Millisecond) }
		most := 0
		p := runnel.New("p", every(checkpoint.Memory(), time.Second))
		out.onDone = func(_ int, done func(error)) {
			most = max(most, len(p.Status().Open))
			done(nil)
		}
		runnel.From(p, src).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.LessOrEqual(t, most, 2)
	})
}

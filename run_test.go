package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestRunEndsWithItsSourcesAndClosesWritersBeforeReaders(t *testing.T) {
	t.Parallel()
	src, out := &numbers{n: 2}, &collect[int]{}
	both := &journal{}
	src.onOpen = func(context.Context, checkpoint.Position) error { both.add("open reader"); return nil }
	src.onCommit = func(_ context.Context, next string) error { both.add("commit %s", next); return nil }
	src.onClose = func(context.Context) error { both.add("close reader"); return nil }
	out.onOpen = func(context.Context, runnel.SinkEnv) error { both.add("open writer"); return nil }
	out.onCall = func(_ context.Context, call string) error { both.add("%s", call); return nil }
	p := runnel.New("p")
	runnel.From(p, src).To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []string{"open writer", "open reader", "flush", "commit 2", "close", "close reader"}, both.all())
	require.Equal(t, []int{0, 1}, out.got())
	require.ErrorIs(t, p.Run(t.Context()), runnel.ErrClosed)
	p.Abort()
	require.ErrorIs(t, p.Run(t.Context()), runnel.ErrClosed)
}

func TestOfManyRunsAtOnceOneRuns(t *testing.T) {
	t.Parallel()
	src, out, dead := &numbers{n: 3}, &collect[int]{}, &collect[runnel.Failed]{}
	p := runnel.New("p")
	runnel.From(p, src, runnel.DeadLetter(dead)).To(out)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_ = p.Validate()
			p.Graph()
			errs[i] = p.Run(t.Context())
			p.Status()
		})
	}
	all.Wait()
	closed := 0
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, runnel.ErrClosed)
			closed++
		}
	}
	require.Equal(t, len(errs)-1, closed)
	require.Equal(t, []int{0, 1, 2}, out.got())
	require.Len(t, p.Graph().Edges, 2, "the dead letters are connected once")
}

// Invariant 6: a clean stop commits everything that was read, and the next start repeats nothing.
func TestStopCommitsWhatWasReadAndTheNextStartGoesOnThere(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]sinkKind{"plain": plainSink, "late": lateSink, "transactional": txSink, "deciding": decidingSink} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, out := durably{checkpoint.Memory()}, &collect[int]{kind: kind}
				for life := range 3 {
					src := &numbers{n: 1 << 30}
					src.onRead = func(ctx context.Context, _ int) error { return sleep(ctx, time.Second) }
					p := runnel.New("p", every(store, 7*time.Second))
					runnel.From(p, src).To(out)
					stop, _ := run(t, p)
					time.Sleep(20 * time.Second)
					synctest.Wait()
					require.NoError(t, stop())
					s := p.Status().Sources[0]
					require.Equal(t, s.Read, s.Committed, "life %d", life)
					require.Equal(t, fmt.Sprint(len(out.got())), string(s.Position["p"]))
				}
				got := out.got()
				require.GreaterOrEqual(t, len(got), 57)
				for i, v := range got {
					require.Equal(t, i, v)
				}
			})
		})
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call is one moment of a run at which a test can put itself.
type call string

// calls are the moments of a run, in the order they come.
var calls = []call{"open sink", "open source", "read", "write", "flush", "commit source", "close sink", "close source"}

// withCall puts f into a moment of a run.
func withCall(c call, src *numbers, out *collect[int], f func(ctx context.Context) error) {
	switch c {
	case "open source":
		src.onOpen = func(ctx context.Context, _ checkpoint.Position) error { return f(ctx) }
	case "read":
		src.onRead = func(ctx context.Context, at int) error {
			if at < 2 {
				return nil
			}
			return f(ctx)
		}
	case "commit source":
		src.onCommit = func(ctx context.Context, _ string) error { return f(ctx) }
	case "close source":
		src.onClose = f
	case "open sink":
		out.onOpen = func(ctx context.Context, _ runnel.SinkEnv) error { return f(ctx) }
	case "write":
		out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { return f(ctx) }
	case "close sink":
		out.onCall = on("close", f)
	default:
		out.onCall = on(string(c), f)
	}
}

// on calls f in one call of a writer.
func on(what string, f func(ctx context.Context) error) func(context.Context, string) error {
	return func(ctx context.Context, call string) error {
		if call != what {
			return nil
		}
		return f(ctx)
	}
}

// Whatever a run is at when its context ends, it drains and commits, or has not begun, and returns nil. User code that
// was called before sees no end of its context but in opening and reading.
func TestContextThatEndsInTheMiddleOfACallIsNoError(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		for _, deadline := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deadline %t", c, deadline), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					src, out := &numbers{n: 4, size: 2, endless: true}, &collect[int]{}
					withCall(c, src, out, func(ctx context.Context) error { return sleep(ctx, 10*time.Second) })
					p := runnel.New("p", every(checkpoint.Memory(), 6*time.Second))
					runnel.From(p, src).To(out)
					ctx, cancel := context.WithCancel(t.Context())
					if deadline {
						ctx, cancel = context.WithTimeout(t.Context(), 8*time.Second)
					} else {
						time.AfterFunc(8*time.Second, cancel)
					}
					defer cancel()
					require.NoError(t, p.Run(ctx))
					s := p.Status().Sources[0]
					require.Equal(t, s.Read, s.Committed)
					require.Len(t, out.got(), int(s.Read))
					if s.Read > 0 {
						require.Contains(t, src.all(), fmt.Sprint("commit ", s.Read))
					}
				})
			})
		}
	}
}

// A second, harder stop ends whatever the drain is waiting for.
func TestAbortEndsADrainThatAnyCallHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []call{"read", "write", "flush", "prepare 1", "commit 1 with token 1", "decide 1", "commit source"} {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := &numbers{n: 4, endless: true}, &collect[int]{}
				switch c {
				case "prepare 1", "commit 1 with token 1":
					out.kind = txSink
				case "decide 1":
					out.kind = decidingSink
				}
				withCall(c, src, out, func(ctx context.Context) error { return sleep(ctx, time.Hour) })
				p := runnel.New("p")
				runnel.From(p, src).To(out)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				time.AfterFunc(2*time.Second, p.Abort)
				time.AfterFunc(3*time.Second, p.Abort)
				begin := time.Now()
				err := p.Run(ctx)
				if c == "read" { // a read ends with the first stop already
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, runnel.ErrAborted)
				require.Equal(t, 2*time.Second, time.Since(begin))
				require.NotContains(t, src.all(), "commit 4")
				if slices.Contains([]call{"write", "flush", "prepare 1"}, c) {
					require.ErrorContains(t, err, "checkpoint 1 was not acknowledged by sink sink-1")
				} else {
					require.ErrorContains(t, err, "checkpoint 1 was acknowledged and not yet complete")
				}
			})
		})
	}
}

func TestDrainTimeoutNamesWhoHasNotAcknowledged(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{0, 5 * time.Second} {
		t.Run(limit.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := &numbers{n: 4, endless: true}, &collect[int]{}
				out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { return sleep(ctx, time.Hour) }
				p := runnel.New("p", runnel.DrainTimeout(limit))
				runnel.From(p, src).To(out, runnel.Name("orders"))
				stop, _ := run(t, p)
				synctest.Wait()
				begin := time.Now()
				err := stop()
				require.ErrorIs(t, err, runnel.ErrDrainTimeout)
				require.Equal(t, limit, time.Since(begin))
				require.ErrorContains(t, err, "still at work: orders")
				if limit > 0 {
					require.ErrorContains(t, err, "checkpoint 1 was not acknowledged by sink orders")
				}
				require.Equal(t, []string{"open at 0", "abandon: " + err.Error(), "close"}, src.all())
			})
		})
	}
}

func TestAbortedPipelineDoesNotRun(t *testing.T) {
	t.Parallel()
	src := &numbers{n: 1}
	p := runnel.New("p")
	runnel.From(p, src).To(&collect[int]{})
	p.Abort()
	require.ErrorIs(t, p.Run(t.Context()), runnel.ErrAborted)
	require.Empty(t, src.all())
}

func TestCloseThatFailsIsTheErrorOfARunThatDidNot(t *testing.T) {
	t.Parallel()
	for _, c := range []call{"close sink", "close source"} {
		src, out := &numbers{n: 1}, &collect[int]{}
		withCall(c, src, out, func(context.Context) error { return errors.New("the disk is full") })
		p := runnel.New("p")
		runnel.From(p, src).To(out)
		require.ErrorContains(t, p.Run(t.Context()), "-1: close: the disk is full")
	}
}

func TestCheckpointsAreToldInOrderOncePositionsAreCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := &numbers{n: 3}, &collect[int]{}
		src.onRead = func(ctx context.Context, _ int) error { return sleep(ctx, time.Second) }
		var told []string
		p := runnel.New("p", every(checkpoint.Memory(), 1400*time.Millisecond), runnel.OnCheckpoint(func(c checkpoint.Checkpoint) {
			told = append(told, fmt.Sprintf("%d at %s, %s", c.Number, c.Sources["source-1"]["p"], last(src.all())))
		}))
		runnel.From(p, src).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, []string{"1 at 1, commit 1", "2 at 2, commit 2", "3 at 3, commit 3"}, told)
	})
}

func last(lines []string) string { return lines[len(lines)-1] }

// A stage that holds the last marker up is named beside the sink that waits for it, and those before it are not.
func TestDrainTimeoutNamesTheStageThatIsAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := try(func(ctx context.Context, _ int) error { return sleep(ctx, time.Hour) })
		p := runnel.New("p", runnel.DrainTimeout(time.Second))
		in := same(runnel.From(p, &numbers{n: 100, size: 1, endless: true}), runnel.Name("before"), runnel.Parallel(2))
		through(in, slow, runnel.Name("slow")).To(&collect[int]{}, runnel.Name("orders"))
		stop, _ := run(t, p)
		synctest.Wait()
		err := stop()
		require.ErrorIs(t, err, runnel.ErrDrainTimeout)
		require.ErrorContains(t, err, "still at work: slow: checkpoint 1 was not acknowledged by sink orders")
		require.ErrorContains(t, err, "; records read and not committed: ")
	})
}

func TestDrainTimeoutDoesNotNameABranchThatWaitsForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := runnel.New("p", runnel.DrainTimeout(time.Second), runnel.MaxBatch(1), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(4)))
		in := runnel.From(p, &numbers{n: 100, endless: true})
		quick := same(same(in, runnel.Name("before")), runnel.Name("quick"))
		slow := through(in, try(func(ctx context.Context, _ int) error { return sleep(ctx, time.Hour) }), runnel.Name("slow"))
		runnel.Merge(quick, slow).To(&collect[int]{}, runnel.Name("out"))
		stop, _ := run(t, p)
		synctest.Wait()
		require.ErrorContains(t, stop(), "still at work: slow: ")
	})
}

package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

var errBroken = errors.New("the connection broke")

// failing returns a function that fails so often and then no more.
func failing(times int) func(context.Context) error {
	return func(context.Context) error {
		if times == 0 {
			return nil
		}
		times--
		return errBroken
	}
}

func TestRestartReopensEverythingAtTheLastCheckpoint(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		for name, kind := range map[string]sinkKind{"plain": plainSink, "transactional": txSink} {
			c := c
			if kind == txSink && c == "flush" {
				c = "prepare 1"
			}
			t.Run(fmt.Sprintf("%s, %s", c, name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					src, out := &numbers{n: 6}, &collect[int]{kind: kind}
					withCall(c, src, out, failing(1))
					p := runnel.New("p", runnel.Restart(1, time.Second), every(checkpoint.Memory(), time.Second))
					sum(runnel.From(p, src)).To(out)
					begin := time.Now()
					require.NoError(t, p.Run(t.Context()))
					if c == "commit source" { // which fails the run only at the last marker, after it is decided
						require.Equal(t, []string{"open at 0", "abandon: source-1: commit: the connection broke", "close", "open at 6", "commit 6", "close"}, src.all())
					}
					require.Equal(t, time.Second, time.Since(begin))
					if kind == txSink {
						require.Equal(t, []int{0, 1, 3, 6, 10, 15}, out.got())
					}
					require.Equal(t, 15, out.got()[len(out.got())-1], "state is that of the checkpoint")
					s := p.Status().Sources[0]
					require.Equal(t, s.Read, s.Committed+s.Abandoned)
				})
			})
		}
	}
}

func TestRestartGivesUpAfterSoManyFailuresInARowWithPausesThatDouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := &numbers{n: 6, onOpen: func(context.Context, checkpoint.Position) error { return errBroken }}
		p := runnel.New("p", runnel.Restart(3, time.Second))
		runnel.From(p, src).To(&collect[int]{})
		begin := time.Now()
		require.ErrorIs(t, p.Run(t.Context()), errBroken)
		require.Equal(t, (1+2+4)*time.Second, time.Since(begin))
	})
}

func TestCompletedCheckpointResetsTheCountOfRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := paced(6), &collect[int]{}
		fails := 0
		read := src.onRead
		src.onRead = func(ctx context.Context, at int) error {
			if at > fails { // after each record once
				fails++
				_ = sleep(ctx, 1500*time.Millisecond) // a checkpoint covers it
				return errBroken
			}
			return read(ctx, at)
		}
		p := runnel.New("p", runnel.Restart(1, time.Second), every(checkpoint.Memory(), time.Second))
		runnel.From(p, src).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, 6, fails)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, out.got())
	})
}

func TestStopBetweenTwoAttemptsEndsTheRunAtOnce(t *testing.T) {
	t.Parallel()
	for _, abort := range []bool{false, true} {
		t.Run(fmt.Sprintf("abort %t", abort), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src := &numbers{n: 6, onOpen: func(context.Context, checkpoint.Position) error { return errBroken }}
				p := runnel.New("p", runnel.Restart(3, time.Hour))
				runnel.From(p, src).To(&collect[int]{})
				stop, done := run(t, p)
				begin := time.Now()
				synctest.Wait()
				if abort {
					p.Abort()
					require.ErrorIs(t, <-done, runnel.ErrAborted)
				} else {
					require.ErrorIs(t, stop(), errBroken, "what was read is not committed: that is no clean stop")
				}
				require.Zero(t, time.Since(begin))
			})
		})
	}
}

func TestFailureOfADrainIsNotRestarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, out := &numbers{n: 6, endless: true}, &collect[int]{}
		out.onCall = on("flush", func(context.Context) error { return errBroken })
		p := runnel.New("p", runnel.Restart(3, time.Second))
		runnel.From(p, src).To(out)
		stop, _ := run(t, p)
		synctest.Wait()
		require.ErrorIs(t, stop(), errBroken)
	})
}

// A stage that had ended its stream before the checkpoint that an attempt starts from has ended it still, and the
// source that nobody reads any more with it.
func TestStageThatHadFinishedStaysFinishedAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, few, more := durably{checkpoint.Memory()}, &collect[int]{kind: txSink}, &collect[int]{kind: txSink}
		crash := failing(1)
		more.onCall = on("prepare 6", crash) // few has had all it takes in checkpoint 4
		life := func() (*numbers, *runnel.Pipeline) {
			src := paced(1 << 20)
			p := runnel.New("p", every(store, time.Second), runnel.Restart(1, time.Second))
			s := runnel.From(p, src)
			take(s, 3, runnel.Name("take")).To(few, runnel.Name("few"))
			take(s, 8, runnel.Name("more")).To(more, runnel.Name("more sink"))
			require.NoError(t, p.Run(t.Context()))
			require.Equal(t, []int{0, 1, 2}, few.got())
			require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, more.got())
			return src, p
		}
		src, _ := life()
		require.Equal(t, []string{"open at 0", "open at 4"}, opens(src))
		src, p := life()
		require.Len(t, opens(src), 1)
		require.Zero(t, p.Status().Stages[0].Out)
	})
}

func opens(src *numbers) []string {
	return slices.DeleteFunc(src.all(), func(line string) bool { return !strings.HasPrefix(line, "open") })
}

// fromEnd is a log that is read from its end where no position says otherwise.
type fromEnd struct {
	*numbers
	end int
}

func (s *fromEnd) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	if from == nil {
		from = at(s.end)
	}
	r, err := s.numbers.Open(ctx, env, from)
	return fromEndReader{r, from}, err
}

type fromEndReader struct {
	runnel.Reader[int]
	from checkpoint.Position
}

func (r fromEndReader) Start() checkpoint.Position { return r.from }

// Where a source began is not chosen anew by a later attempt or process: what came in between would be passed over.
func TestStartThatASourceChoseIsKept(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"before the first checkpoint": "flush", "after it": "write"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, out := &fromEnd{&numbers{n: 9, size: 2}, 3}, &collect[int]{}
				failed := false
				fail := func() error {
					if failed {
						return nil
					}
					failed, src.end = true, 9 // the log goes on meanwhile
					return errBroken
				}
				out.onCall = func(_ context.Context, call string) error {
					if call == first {
						return fail()
					}
					return nil
				}
				out.onWrite = func(context.Context, runnel.Batch[int]) error {
					if first == "write" {
						return fail()
					}
					return nil
				}
				p := runnel.New("p", runnel.Restart(1, 0))
				runnel.From(p, src).To(out)
				require.NoError(t, p.Run(t.Context()))
				got := out.got()
				require.Equal(t, []int{3, 4, 5, 6, 7, 8}, got[len(got)-6:], "what the first attempt wrote comes again")
			})
		})
	}
	t.Run("for another process", func(t *testing.T) {
		t.Parallel()
		store := durably{checkpoint.Memory()}
		src, out := &fromEnd{&numbers{n: 9}, 3}, &collect[int]{}
		out.onWrite = func(context.Context, runnel.Batch[int]) error { return errBroken }
		p := runnel.New("p", runnel.Checkpoint(store))
		runnel.From(p, src, runnel.Name("log")).To(out)
		require.ErrorIs(t, p.Run(t.Context()), errBroken)
		src.end, out.onWrite = 9, nil
		p = runnel.New("p", runnel.Checkpoint(store))
		runnel.From(p, src, runnel.Name("log")).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, []int{3, 4, 5, 6, 7, 8}, out.got())
	})
}

package filesink

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// The short forms of the crash tests run without flags. The full ones:
//
//	go test -run 'FIL10|Model' ./sink/filesink -filesink.seeds 3000 -filesink.every 1
var (
	seeds = flag.Int("filesink.seeds", 60, "how many random series of crashes are run")
	every = flag.Int("filesink.every", 5, "the process ends at every n-th call where files are compressed; 1 for each call")
)

// TestFIL10NothingIsLostWithThePowerAtAnyCall ends the process at each call to the file system, and between the steps of
// each checkpoint, loses what was not synced, and goes on from the last checkpoint.
func TestFIL10NothingIsLostWithThePowerAtAnyCall(t *testing.T) {
	t.Parallel()
	for name, j := range jobs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, keep := range []int{0, 1, 1 << 20} {
				crashAtEachCall(t, j, i, true, keep)
			}
		})
	}
}

// TestFIL10WrittenOutlivesTheProcess does the same without a loss of power.
func TestFIL10WrittenOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for name, j := range jobs(AckWritten()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashAtEachCall(t, j, 0, false, 0)
		})
	}
}

// crashAtEachCall begins at call first, counted from 0. Archives take long: with a step, other calls are met from
// another first one.
func crashAtEachCall(t *testing.T, j job, first int, power bool, keep int) {
	t.Helper()
	step := 1
	if j.packed {
		step = *every
	}
	for at := 1 + first%step; ; at += step {
		h := &host{mem: faultfs.NewMem(), crashAt: at}
		err := h.run(j)
		if err == nil {
			require.Greater(t, at, 20, "there were calls to end at")
			return
		}
		require.ErrorIs(t, err, errCrash)
		h.restart(power, keep)
		require.NoError(t, h.run(j), "crash at call %d, %d bytes kept", at, keep)
		require.Equal(t, upTo(j.count), numbers(t, h.mem, ""), "crash at call %d, %d bytes kept", at, keep)
	}
}

// TestFIL10WrittenTellsWhatThePowerTook loses the power of a sink that does not wait for the disk: the start is refused, or
// goes on with what is there and counts what is not.
func TestFIL10WrittenTellsWhatThePowerTook(t *testing.T) {
	t.Parallel()
	strict, lenient := jobs(AckWritten()), jobs(AckWritten(), AllowLoss())
	for _, kind := range []string{"one file", "by records", "at each checkpoint"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			refused := 0
			for _, keep := range []int{0, 3, 1 << 20} {
				for at := 1; ; at++ {
					h := &host{mem: faultfs.NewMem(), crashAt: at}
					if h.run(strict[kind]) == nil {
						break
					}
					h.restart(true, keep)
					after := h.mem.Crash(0)
					err := h.run(strict[kind])
					if err == nil {
						require.Equal(t, upTo(11), numbers(t, h.mem, ""), "crash at call %d, %d bytes kept", at, keep)
						continue
					}
					require.ErrorIs(t, err, ErrLoss)
					refused++
					h.mem = after
					goesOnWithLoss(t, h, lenient[kind])
				}
			}
			// What is finished is always durable: at each checkpoint there is nothing else.
			require.Equal(t, kind != "at each checkpoint", refused > 0)
		})
	}
}

// goesOnWithLoss runs a job on a machine that lost some of its numbers.
func goesOnWithLoss(t *testing.T, h *host, j job) {
	t.Helper()
	var s *Sink[int]
	seen := job{count: j.count, batch: j.batch, make: func(fsys fileconn.FS) *Sink[int] {
		s = j.make(fsys)
		return s
	}}
	require.NoError(t, h.run(seen))
	got := numbers(t, h.mem, "")
	require.True(t, slices.IsSorted(got), "%v", got)
	require.Len(t, slices.Compact(slices.Clone(got)), len(got), "nothing is repeated: %v", got)
	require.Less(t, len(got), j.count)
	require.Positive(t, s.Stats().LostBytes)
}

// TestResumeAgreesWithTheModel ends the process at random calls, again and again, with and without a loss of power, and
// compares the outcome with the plain list of numbers.
func TestResumeAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	all := jobs()
	kinds := make([]string, 0, len(all))
	for kind := range all {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for seed := range *seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		kind := kinds[random.IntN(len(kinds))]
		j := all[kind]
		j.count, j.batch = 1+random.IntN(60), 1+random.IntN(7)
		h := &host{mem: faultfs.NewMem()}
		crashes := 0
		for {
			if crashes < 20 {
				h.crashAt = 1 + random.IntN(60)
			}
			err := h.run(j)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, errCrash, "seed %d, %s", seed, kind)
			crashes++
			h.restart(random.IntN(2) == 0, random.IntN(20))
		}
		require.Equal(t, upTo(j.count), numbers(t, h.mem, ""), "seed %d, %s, %d crashes", seed, kind, crashes)
	}
}

// TestAttemptsOfOneRunRepeatNothing fails a random call, once, and opens the same sink again in the same process, as a
// pipeline with a restart policy does, with and without a checkpoint to start from.
func TestAttemptsOfOneRunRepeatNothing(t *testing.T) {
	t.Parallel()
	for name, j := range jobs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				h := &host{mem: faultfs.NewMem()}
				calls := 0
				s := j.make(faultfs.Inject(h.mem, func(faultfs.Call) error {
					if calls++; calls == at {
						return errCrash
					}
					return nil
				}))
				again := job{count: j.count, batch: j.batch, make: func(fileconn.FS) *Sink[int] { return s }}
				err := h.runAborting(again)
				if err == nil {
					break
				}
				// A call that fails and is made again does not fail the second time.
				require.NoError(t, h.runAborting(again), "call %d failed with: %v", at, err)
				require.Equal(t, upTo(j.count), numbers(t, h.mem, ""), "call %d failed with: %v", at, err)
				require.Zero(t, h.mem.OpenFiles(), "call %d", at)
			}
		})
	}
}

// runAborting is run as a pipeline does it: a failed attempt is aborted and closed.
func (h *host) runAborting(j job) error {
	h.writer = nil
	err := h.run(j)
	if err != nil && h.writer != nil {
		_ = h.writer.(runnel.Transactional).Abort(context.Background()) // the attempt has failed already
		_ = h.writer.Close(context.Background())
	}
	return err
}

package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

// sinkCase is a sink that refuses something, and what comes of it.
type sinkCase struct {
	kind   sinkKind
	traits runnel.Traits
	opts   []runnel.StageOption
	dead   bool

	write func(n int, b runnel.Batch[int]) error // n-th write, from 1
	call  func(n int, call string) error         // n-th call that is not a write or close

	fails   string // with what Run fails
	got     []int
	letters []string // value and attempts of each dead letter
	calls   []string // nil: not looked at
	skipped int64
}

func (c sinkCase) test(t *testing.T) {
	out, dead := &collect[int]{kind: c.kind, traits: c.traits}, &collect[runnel.Failed]{}
	writes, calls := 0, 0
	out.onWrite = func(_ context.Context, b runnel.Batch[int]) error {
		if writes++; c.write == nil {
			return nil
		}
		err := c.write(writes, b)
		var refused *runnel.BatchError[int]
		if errors.As(err, &refused) {
			keepOthers(out, b, refused)
		}
		return err
	}
	out.onCall = func(_ context.Context, call string) error {
		if call == "close" || call == "abort" || c.call == nil {
			return nil
		}
		calls++
		return c.call(calls, call)
	}
	opts := append([]runnel.StageOption{runnel.Name("out")}, c.opts...)
	if c.dead {
		opts = append(opts, runnel.DeadLetter(dead))
	}
	p := runnel.New("p")
	runnel.From(p, &numbers{n: 4, size: 4}).To(out, opts...)
	err := p.Run(t.Context())
	if c.fails != "" {
		require.ErrorContains(t, err, c.fails)
		return
	}
	require.NoError(t, err)
	require.Equal(t, c.got, out.got())
	var letters []string
	for _, f := range dead.got() {
		require.Equal(t, "out", f.Stage)
		letters = append(letters, fmt.Sprintf("%v after %d: %v", f.Value, f.Attempts, f.Err))
	}
	require.Equal(t, c.letters, letters)
	require.Equal(t, c.skipped, p.Status().Sinks[0].Skipped)
	if c.calls != nil {
		require.Equal(t, c.calls, out.all())
	}
}

// keepOthers keeps the records of a batch that were not refused, as a writer that returns a BatchError does.
func keepOthers(out *collect[int], b runnel.Batch[int], refused *runnel.BatchError[int]) {
	for _, v := range b.Values() {
		taken := true
		for _, r := range refused.Failed {
			taken = taken && r.Value != v
		}
		if taken {
			out.values = append(out.values, v)
		}
	}
}

func refuses(cause error, values ...int) func(int, runnel.Batch[int]) error {
	return func(_ int, b runnel.Batch[int]) error { return refusal(b, cause, values...) }
}

// once fails the first call only.
func once(err error) func(int, runnel.Batch[int]) error {
	return func(n int, _ runnel.Batch[int]) error {
		if n == 1 {
			return err
		}
		return nil
	}
}

func onceCall(err error) func(int, string) error {
	return func(n int, _ string) error {
		if n == 1 {
			return err
		}
		return nil
	}
}

// lost is what a writer returns of records that it had taken and could not make durable.
func lost(cause error, values ...int) error {
	return refusal(runnel.NewBatch(values, nil), cause, values...)
}

func TestRecordsThatASinkRefusesGoByItsPolicyAndTheOthersAreWritten(t *testing.T) {
	t.Parallel()
	retry3, retryable := runnel.Retry(3, time.Second), runnel.AsRetryable(errRefused)
	for name, c := range map[string]sinkCase{
		"by default the run fails with where the record was read": {
			write: refuses(errRefused, 2), fails: "runnel: out: at source-1/p@2: refused"},
		"skip": {
			write: refuses(errRefused, 1, 2), opts: []runnel.StageOption{runnel.Skip()}, got: []int{0, 3}, skipped: 2},
		"dead letters": {
			write: refuses(errRefused, 1, 2), dead: true, got: []int{0, 3},
			letters: []string{"1 after 1: refused", "2 after 1: refused"}},
		"what may be tried again is, alone, and then is a dead letter": {
			write: refuses(retryable, 1, 2), opts: []runnel.StageOption{retry3}, dead: true, got: []int{0, 3},
			letters: []string{"1 after 3: refused", "2 after 3: refused"},
			calls:   []string{"write [0 1 2 3]", "write [1 2]", "write [1 2]", "flush", "close"}},
		"one of two succeeds when it is tried again": {
			write: func(n int, b runnel.Batch[int]) error {
				if n == 1 {
					return refusal(b, retryable, 1, 2)
				}
				return refusal(b, errRefused, 2)
			},
			opts: []runnel.StageOption{retry3}, dead: true, got: []int{0, 3, 1}, letters: []string{"2 after 2: refused"}},
		"what may not be tried again is not": {
			write: refuses(errRefused, 1), opts: []runnel.StageOption{retry3}, dead: true, got: []int{0, 2, 3},
			letters: []string{"1 after 1: refused"}, calls: []string{"write [0 1 2 3]", "flush", "close"}},
		"an idempotent sink may try anything again": {
			write: once(lost(errRefused, 1)), traits: runnel.Traits{Idempotent: true}, opts: []runnel.StageOption{retry3},
			got: []int{0, 2, 3, 1}},
		"a transactional sink may try anything again": {
			write: once(lost(errRefused, 1)), kind: txSink, opts: []runnel.StageOption{retry3}, got: []int{0, 2, 3, 1}},
		"an error that counts its records wrongly": {
			write: func(int, runnel.Batch[int]) error { return &runnel.BatchError[int]{Errs: []error{errRefused}} },
			opts:  []runnel.StageOption{runnel.Skip()}, fails: "a BatchError with 0 records and 1 errors"},
		"a flush that lost records": {
			call: onceCall(lost(errRefused, 1)), dead: true, got: []int{0, 1, 2, 3}, letters: []string{"1 after 1: refused"},
			calls: []string{"write [0 1 2 3]", "flush", "flush", "close"}},
		"a flush that lost records without a policy": {
			call: onceCall(lost(errRefused, 1)), fails: "runnel: out: refused"},
		"a flush that lost records that may be written again": {
			call: onceCall(lost(retryable, 1)), opts: []runnel.StageOption{retry3}, got: []int{0, 1, 2, 3, 1},
			calls: []string{"write [0 1 2 3]", "flush", "write [1]", "flush", "close"}},
		"a prepare that lost records": {
			kind: txSink, call: onceCall(lost(errRefused, 1)), opts: []runnel.StageOption{retry3}, got: []int{0, 1, 2, 3, 1},
			calls: []string{"write [0 1 2 3]", "prepare 1", "write [1]", "prepare 1", "commit 1 with token 1", "close"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.test)
		})
	}
}

func TestWriteThatFailsAsAWholeIsRepeatedOnlyWhereThatIsSafe(t *testing.T) {
	t.Parallel()
	retry3, all := runnel.Retry(3, time.Second), []int{0, 1, 2, 3}
	retryable, opts := runnel.AsRetryable(errRefused), []runnel.StageOption{runnel.Retry(3, time.Second)}
	for name, c := range map[string]sinkCase{
		"without Retry": {write: once(retryable), fails: "runnel: out: at source-1/p@0: refused"},
		"of unknown outcome": {write: once(errRefused), opts: opts,
			fails: "runnel: out: at source-1/p@0: refused (not retried: the sink is neither idempotent nor transactional, and the error is not Retryable)"},
		"surely not done":                   {write: once(retryable), opts: opts, got: all},
		"of unknown outcome, idempotent":    {write: once(errRefused), opts: opts, traits: runnel.Traits{Idempotent: true}, got: all},
		"of unknown outcome, transactional": {write: once(errRefused), opts: opts, kind: txSink, got: all},
		"a context that ended":              {write: once(context.Canceled), opts: opts, kind: txSink, fails: "context canceled"},
		"neither skipped nor dead-lettered": {write: once(errRefused), opts: []runnel.StageOption{retry3}, dead: true, fails: "refused"},
		"three times": {write: func(int, runnel.Batch[int]) error { return retryable }, opts: opts,
			fails: "runnel: out: at source-1/p@0: after 3 attempts: refused"},
		"a flush":                          {call: onceCall(retryable), opts: opts, got: all},
		"a flush of unknown outcome":       {call: onceCall(errRefused), opts: opts, fails: "runnel: out: flush: refused (not retried: "},
		"a prepare of unknown outcome":     {call: onceCall(errRefused), opts: opts, kind: txSink, got: all},
		"a prepare without Retry":          {call: onceCall(errRefused), kind: txSink, fails: "runnel: out: prepare checkpoint 1: refused"},
		"a commit of a transactional sink": {call: failCall(2), opts: opts, kind: txSink, got: all},
		"a commit without Retry":           {call: failCall(2), kind: txSink, fails: "runnel: out: commit checkpoint 1: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.test)
		})
	}
}

func failCall(n int) func(int, string) error {
	return func(k int, _ string) error {
		if k == n {
			return errRefused
		}
		return nil
	}
}

// A write that has succeeded is not repeated because a flush behind it failed: in a transaction its records would be
// there twice.
func TestWriteIsNotRepeatedWhenOnlyTheFlushBehindItFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sinkCase{
			kind: txSink, opts: []runnel.StageOption{runnel.Retry(5, time.Second)}, got: []int{0, 1, 2, 3, 1},
			call: func(n int, _ string) error {
				switch n {
				case 1:
					return lost(errRefused, 1)
				case 2, 3:
					return errRefused
				}
				return nil
			},
			calls: []string{"write [0 1 2 3]", "prepare 1", "write [1]", "prepare 1", "prepare 1", "prepare 1", "commit 1 with token 1", "close"},
		}
		c.test(t)
	})
}

func TestPausesBetweenWritesDouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		sinkCase{
			write: func(int, runnel.Batch[int]) error { return runnel.AsRetryable(errRefused) },
			opts:  []runnel.StageOption{runnel.Retry(4, time.Second)}, fails: "refused",
		}.test(t)
		require.Equal(t, (1+2+4)*time.Second, time.Since(begin))
	})
}

func TestSinkOfSeveralStreamsHasOneWriter(t *testing.T) {
	t.Parallel()
	out := &collect[int]{}
	opens := 0
	out.onOpen = func(context.Context, runnel.SinkEnv) error { opens++; return nil }
	p := runnel.New("p")
	s := runnel.From(p, &numbers{n: 3, size: 3})
	s.To(out)
	s.To(out, runnel.Name("out"))
	through(s, try(func(context.Context, int) error { return nil })).To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, 1, opens)
	require.Len(t, out.got(), 9)
	require.EqualValues(t, 9, p.Status().Sinks[0].In)
	require.Equal(t, "out", p.Status().Sinks[0].Name)
}

func TestWriterThatIsNotWhatItsSinkSaysIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind sinkKind
		says runnel.Traits
		want string
	}{
		"transactional unsaid": {txSink, runnel.Traits{}, "out: its writer is transactional: true, but the sink says: false"},
		"transactional in vain": {plainSink, runnel.Traits{Transactional: true},
			"out: its writer is transactional: false, but the sink says: true"},
		"deciding unsaid":  {decidingSink, runnel.Traits{}, "out: its writer decides: true, but the sink says: false"},
		"deciding in vain": {plainSink, runnel.Traits{Decides: true}, "out: its writer decides: false, but the sink says: true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := &collect[int]{kind: c.kind}
			p := runnel.New("p")
			runnel.From(p, &numbers{n: 3}).To(says{out, c.says}, runnel.Name("out"))
			require.ErrorContains(t, p.Run(t.Context()), c.want)
			require.Equal(t, "close", last(out.all()))
		})
	}
}

// says is a sink that describes itself otherwise.
type says struct {
	*collect[int]
	traits runnel.Traits
}

func (s says) Describe() runnel.Traits { return s.traits }

func TestOutcomeOfADecisionThatFailedIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decides bool  // although it says that it failed
		asked   error // when it is asked
		fails   string
	}{
		"it was made":          {true, nil, ""},
		"it was not made":      {false, nil, "runnel: out: decide checkpoint 1: refused"},
		"it cannot be told of": {true, errBroken, "refused (and its outcome is unknown: the connection broke)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, out := &numbers{n: 3}, &collect[int]{kind: decidingSink}
			asked := 0
			out.onCall = func(_ context.Context, call string) error {
				switch call {
				case "decide 1":
					if c.decides {
						out.decided = 1
					}
					return errRefused
				case "decided?":
					if asked++; asked > 1 { // the first is at the start
						return c.asked
					}
				}
				return nil
			}
			p := runnel.New("p")
			runnel.From(p, src).To(out, runnel.Name("out"))
			err := p.Run(t.Context())
			if c.fails == "" {
				require.NoError(t, err)
				require.Contains(t, src.all(), "commit 3")
				return
			}
			require.ErrorContains(t, err, c.fails)
			require.NotContains(t, src.all(), "commit 3")
		})
	}
}

// Between a prepare and its commit a writer is given nothing: the channel in front of it fills.
func TestNothingIsWrittenBetweenPrepareAndCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow, tx := &collect[int]{}, &collect[int]{kind: txSink}
		slow.onCall = on("flush", func(ctx context.Context) error { return sleep(ctx, 5*time.Second) })
		p := runnel.New("p", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(2)), runnel.MaxBatch(1))
		s := runnel.From(p, &numbers{n: 9})
		s.To(slow)
		s.To(tx)
		require.NoError(t, p.Run(t.Context()))
		lines := tx.all()
		for i, line := range lines {
			var n int
			if _, err := fmt.Sscanf(line, "prepare %d", &n); err == nil {
				require.Equal(t, fmt.Sprintf("commit %d with token %d", n, n), lines[i+1])
			}
		}
		require.Contains(t, lines, "prepare 2")
	})
}

// hollow is a sink whose flush reports that no record failed, as an error.
type hollow struct{ err error }

func (s hollow) Open(context.Context, runnel.SinkEnv) (runnel.Writer[int], error) { return s, nil }
func (s hollow) Write(context.Context, runnel.Batch[int]) error                   { return nil }
func (s hollow) Flush(context.Context) error                                      { return s.err }
func (s hollow) Close(context.Context) error                                      { return nil }

func TestBatchErrorOfNoRecordEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"empty": &runnel.BatchError[int]{}, "nil": (*runnel.BatchError[int])(nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("p")
			runnel.From(p, &numbers{n: 1}).To(hollow{err}, runnel.Name("out"))
			require.ErrorContains(t, p.Run(t.Context()), "runnel: out: flush: its writer returned a BatchError of no record")
		})
	}
}

package runnel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// flaky fails so many times for each record.
func flaky(times map[int]int) stage[int, int] {
	left := maps.Clone(times)
	return try(func(_ context.Context, v int) error {
		if left[v] > 0 {
			left[v]--
			return errRefused
		}
		return nil
	})
}

func TestPolicyDecidesWhatBecomesOfARecordThatFails(t *testing.T) {
	t.Parallel()
	const always = 1 << 20
	retry3 := runnel.Retry(3, time.Second)
	for name, c := range map[string]struct {
		times   map[int]int
		opts    []runnel.StageOption
		dead    bool
		fails   string
		got     []int
		letters []string
		took    time.Duration
		status  runnel.StageStatus
	}{
		"by default the run fails with the place": {
			times: map[int]int{1: 1}, fails: "runnel: work: at source-1/p@1: refused"},
		"retry": {
			times: map[int]int{1: 2}, opts: []runnel.StageOption{retry3}, got: []int{0, 1, 2, 3}, took: 3 * time.Second,
			status: runnel.StageStatus{In: 4, Out: 4, Failed: 2}},
		"retry in vain": {
			times: map[int]int{1: 3}, opts: []runnel.StageOption{retry3}, fails: "runnel: work: at source-1/p@1: after 3 attempts: refused", took: 3 * time.Second},
		"skip": {
			times: map[int]int{1: 1, 3: always}, opts: []runnel.StageOption{runnel.Skip()}, got: []int{0, 2},
			status: runnel.StageStatus{In: 4, Out: 2, Failed: 2, Skipped: 2}},
		"retry, then skip": {
			times: map[int]int{1: 2, 3: 3}, opts: []runnel.StageOption{retry3, runnel.Skip()}, got: []int{0, 1, 2}, took: 6 * time.Second,
			status: runnel.StageStatus{In: 4, Out: 3, Failed: 5, Skipped: 1}},
		"dead letters": {
			times: map[int]int{1: always}, dead: true, got: []int{0, 2, 3}, letters: []string{"1 after 1"},
			status: runnel.StageStatus{In: 4, Out: 3, Failed: 1, DeadLettered: 1}},
		"retry, then dead letters": {
			times: map[int]int{1: 2, 2: 3, 3: 1}, opts: []runnel.StageOption{retry3}, dead: true, got: []int{0, 1, 3},
			letters: []string{"2 after 3"}, took: 7 * time.Second,
			status: runnel.StageStatus{In: 4, Out: 3, Failed: 6, DeadLettered: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out, dead := &collect[int]{}, &collect[runnel.Failed]{}
				opts := append([]runnel.StageOption{runnel.Name("work")}, c.opts...)
				if c.dead {
					opts = append(opts, runnel.DeadLetter(dead))
				}
				p := runnel.New("p")
				through(runnel.From(p, &numbers{n: 4}), flaky(c.times), opts...).To(out)
				begin := time.Now()
				err := p.Run(t.Context())
				require.Equal(t, c.took, time.Since(begin), "pauses double, for each record anew")
				if c.fails != "" {
					require.EqualError(t, err, c.fails)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.got, out.got())
				var letters []string
				for _, f := range dead.got() {
					require.Equal(t, "work", f.Stage)
					require.Equal(t, fmt.Sprintf("source-1/p@%v", f.Value), f.Origin.String())
					require.ErrorIs(t, f.Err, errRefused)
					letters = append(letters, fmt.Sprintf("%v after %d", f.Value, f.Attempts))
				}
				require.Equal(t, c.letters, letters)
				s := p.Status().Stages[0]
				got := runnel.StageStatus{In: s.In, Out: s.Out, Failed: s.Failed, Skipped: s.Skipped, DeadLettered: s.DeadLettered}
				require.Equal(t, c.status, got)
			})
		})
	}
}

func TestAttemptsOfARecordThatSucceededDoNotCountForTheNext(t *testing.T) {
	t.Parallel()
	dead := &collect[runnel.Failed]{}
	p := runnel.New("p")
	through(runnel.From(p, &numbers{n: 2}), stage[int, int](func(ctx context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
		if in.Values()[0] == 0 {
			return out.Retry(ctx, errRefused, func() error { return nil })
		}
		return out.Fail(in.Values()[0], in.Meta(0), errRefused)
	}), runnel.Retry(3, 0), runnel.DeadLetter(dead)).To(&collect[int]{})
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, 1, dead.got()[0].Attempts)
}

// Cancellation is no failure of a record: neither the error policy nor a commit sees it.
func TestRecordAtWorkWhenTheRunIsAbortedIsNoDeadLetterAndReadAgain(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]func(ctx context.Context) error{
		"the error of the context": func(ctx context.Context) error { return ctx.Err() },
		"another error":            func(context.Context) error { return errRefused },
	} {
		for _, option := range []string{"skip", "dead letters", "retry"} {
			t.Run(name+", "+option, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					src, dead := &numbers{n: 9, endless: true}, &collect[runnel.Failed]{}
					opts := map[string]runnel.StageOption{
						"skip": runnel.Skip(), "dead letters": runnel.DeadLetter(dead), "retry": runnel.Retry(5, time.Second),
					}
					p := runnel.New("p", runnel.DrainTimeout(time.Second))
					through(runnel.From(p, src), try(func(ctx context.Context, v int) error {
						if v < 5 {
							return nil
						}
						<-ctx.Done()
						return err(ctx)
					}), opts[option]).To(&collect[int]{})
					stop, _ := run(t, p)
					synctest.Wait()
					require.ErrorIs(t, stop(), runnel.ErrDrainTimeout)
					require.Empty(t, dead.got())
					require.Zero(t, p.Status().Stages[0].Skipped+p.Status().Stages[0].DeadLettered)
					require.Equal(t, []string{"open at 0"}, src.all()[:1])
					require.NotContains(t, src.all(), "commit 6")
				})
			})
		}
	}
}

// Invariant 3: a dead letter that was not made durable is not covered by a commit.
func TestPositionIsNotCommittedBeforeTheDeadLetterIsDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, dead := &numbers{n: 3}, &collect[runnel.Failed]{}
		dead.onCall = on("flush", func(ctx context.Context) error {
			require.NotContains(t, src.all(), "commit 3")
			require.Len(t, dead.got(), 1, "it comes before the marker")
			return sleep(ctx, time.Minute)
		})
		p := runnel.New("p", runnel.Checkpoint(checkpoint.Memory()))
		through(runnel.From(p, src), flaky(map[int]int{1: 9}), runnel.DeadLetter(dead)).To(&collect[int]{})
		require.NoError(t, p.Run(t.Context()))
		require.Contains(t, src.all(), "commit 3")

		src, dead = &numbers{n: 3}, &collect[runnel.Failed]{}
		dead.onCall = on("flush", func(context.Context) error { return errBroken })
		p = runnel.New("p", runnel.Checkpoint(checkpoint.Memory()))
		through(runnel.From(p, src), flaky(map[int]int{1: 9}), runnel.DeadLetter(dead)).To(&collect[int]{})
		require.ErrorIs(t, p.Run(t.Context()), errBroken)
		require.NotContains(t, src.all(), "commit 3")
	})
}

func TestDeadLettersOfSinksMayGoToASinkOfTheSameStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed, last := &collect[runnel.Failed]{}, &collect[runnel.Failed]{}
		failed.onWrite = func(_ context.Context, b runnel.Batch[runnel.Failed]) error {
			bad := &runnel.BatchError[runnel.Failed]{}
			for i := range b.Len() {
				if r := b.Record(i); r.Value.Stage == "out" {
					bad.Failed, bad.Errs = append(bad.Failed, r), append(bad.Errs, errRefused)
				}
			}
			if len(bad.Errs) == 0 {
				return nil
			}
			return bad
		}
		out := &collect[int]{}
		out.onWrite = func(_ context.Context, b runnel.Batch[int]) error { return refusal(b, errRefused, 2) }
		p := runnel.New("p", every(checkpoint.Memory(), time.Second), runnel.InboxBatches(1))
		s := through(runnel.From(p, paced(4)), flaky(map[int]int{1: 9}), runnel.Name("work"), runnel.DeadLetter(failed))
		s.To(out, runnel.Name("out"), runnel.DeadLetter(failed))
		letters := through(s, stage[int, runnel.Failed](func(context.Context, runnel.Batch[int], *runnel.Out[runnel.Failed]) error { return nil }))
		letters.To(failed, runnel.Name("failed"), runnel.DeadLetter(last))
		require.NoError(t, p.Run(t.Context()))
		require.Len(t, failed.got(), 1)
		require.Len(t, last.got(), 1)
		require.Equal(t, "failed", last.got()[0].Stage)
		require.Equal(t, "out", last.got()[0].Value.(runnel.Failed).Stage)
	})
}

func TestFailedRecordHasAJSONForm(t *testing.T) {
	t.Parallel()
	meta := runnel.Meta{
		Key: []byte("k"), Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Headers: runnel.Headers{{Name: "h"}},
		Origin: runnel.Origin{Source: "in", Partition: "3", Offset: 7},
	}
	for name, c := range map[string]struct {
		failed runnel.Failed
		want   string
	}{
		"a value": {runnel.Failed{Meta: meta, Value: map[string]int{"a": 1}, Stage: "parse", Attempts: 2, Err: errRefused},
			`{"stage":"parse","error":"refused","attempts":2,"source":"in","partition":"3","offset":7,` +
				`"time":"2024-05-06T07:08:09Z","key":"aw==","headers":[{"name":"h","value":null}],"value":{"a":1}}`},
		"text":              {runnel.Failed{Value: []byte("a line")}, `{"stage":"","error":"","attempts":0,"value":"a line"}`},
		"bytes":             {runnel.Failed{Value: []byte{0xff}}, `{"stage":"","error":"","attempts":0,"value_base64":"/w=="}`},
		"no value for JSON": {runnel.Failed{Value: func() {}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(c.failed)
			require.NoError(t, err)
			if c.want == "" {
				require.True(t, json.Valid(got))
				return
			}
			require.JSONEq(t, c.want, string(got))
		})
	}
}

func TestRetryableIsSaidByTheFirstErrorThatSaysSomething(t *testing.T) {
	t.Parallel()
	require.False(t, runnel.Retryable(nil))
	require.NoError(t, runnel.AsRetryable(nil))
	require.False(t, runnel.Retryable(errRefused))
	require.True(t, runnel.Retryable(runnel.AsRetryable(errRefused)))
	require.True(t, runnel.Retryable(fmt.Errorf("write: %w", runnel.AsRetryable(errRefused))))
	require.False(t, runnel.Retryable(runnel.AsRetryable(context.Canceled)), "a run that stops does not repeat")
	require.False(t, runnel.Retryable(fatalError{runnel.AsRetryable(errRefused)}))
	require.ErrorIs(t, runnel.AsRetryable(errRefused), errRefused)
}

type fatalError struct{ error }

func (fatalError) Retryable() bool { return false }
func (e fatalError) Unwrap() error { return errors.Unwrap(e.error) }

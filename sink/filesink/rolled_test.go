package filesink

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// contents returns the files of the working folder by name.
func contents(t *testing.T, mem *faultfs.Mem) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names(t, mem) {
		all[name] = content(t, mem, name)
	}
	return all
}

func TestFilesRollByEachCriterion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		opts []Option
		want map[string]string
	}{
		{"records", []Option{RollRecords(2)}, map[string]string{"o-1": "a\nbb\n", "o-2": "ccc\ndddd\n", "o-3": "e\n"}},
		{"bytes", []Option{RollBytes(6)}, map[string]string{"o-1": "a\nbb\nccc\n", "o-2": "dddd\ne\n"}},
		{"bytes that no record is below", []Option{RollBytes(1)}, map[string]string{
			"o-1": "a\n", "o-2": "bb\n", "o-3": "ccc\n", "o-4": "dddd\n", "o-5": "e\n",
		}},
		{"time", []Option{RollEvery(2 * time.Second)}, map[string]string{"o-1": "a\nbb\n", "o-2": "ccc\ndddd\n", "o-3": "e\n"}},
		{"whichever comes first", []Option{RollRecords(3), RollBytes(5)}, map[string]string{"o-1": "a\nbb\n", "o-2": "ccc\ndddd\n", "o-3": "e\n"}},
		{"none is reached", []Option{RollRecords(9), RollBytes(99), RollEvery(time.Hour)}, map[string]string{"o-1": "a\nbb\nccc\ndddd\ne\n"}},
	} {
		for _, perBatch := range []int{1, 2, 5} {
			if tc.name == "time" && perBatch > 1 {
				continue // the clock is looked at once a batch
			}
			t.Run(fmt.Sprintf("%s, batches of %d", tc.name, perBatch), func(t *testing.T) {
				t.Parallel()
				mem, now := faultfs.NewMem(), &clock{now: time.Unix(100, 0)}
				w := open(t, Lines("o-%d", append(tc.opts, on(mem))...), runnel.SinkEnv{Clock: now})
				records := []string{"a", "bb", "ccc", "dddd", "e"}
				for at := 0; at < len(records); at += perBatch {
					write(t, w, records[at:min(len(records), at+perBatch)]...)
					now.now = now.now.Add(time.Second)
				}
				complete(t, w, 1)
				closed(t, w)
				require.Equal(t, tc.want, contents(t, mem))
				require.Zero(t, mem.OpenFiles())
			})
		}
	}
}

func TestEveryFileIsAWholeOne(t *testing.T) {
	t.Parallel()
	for _, ext := range []string{"", ".gz", ".zst"} {
		mem := faultfs.NewMem()
		w := open(t, CSV("o-%04d.csv"+ext, header, rowOf, on(mem), RollRecords(2)), runnel.SinkEnv{})
		write(t, w, 1, 2, 3)
		complete(t, w, 1)
		closed(t, w)
		require.Equal(t, []string{"o-0001.csv" + ext, "o-0002.csv" + ext}, names(t, mem))
		require.Equal(t, "a,b\n1,x\n2,x\n", unpacked(t, mem, "o-0001.csv"+ext))
		require.Equal(t, "a,b\n3,x\n", unpacked(t, mem, "o-0002.csv"+ext))
	}
}

func TestFinishedFilesAppearWhenTheirCheckpointIsCommitted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	mem := faultfs.NewMem()
	s := Lines("o-%d", on(mem), RollRecords(1))
	w := open(t, s, runnel.SinkEnv{Durable: true})
	write(t, w, "a", "b")
	require.Equal(t, []string{".o-1.part", ".o-2.part"}, names(t, mem))
	token, err := w.Prepare(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, []string{".o-1.part", ".o-2.part", ".o-3.part"}, names(t, mem))
	require.Zero(t, s.Stats().FilesDone)
	for range 2 { // it may come again
		require.NoError(t, w.Commit(ctx, 1, token))
		require.Equal(t, []string{".o-3.part", "o-1", "o-2"}, names(t, mem))
		require.EqualValues(t, 2, s.Stats().FilesDone)
	}
	complete(t, w, 2)
	closed(t, w)
	require.Equal(t, []string{"o-1", "o-2"}, names(t, mem), "the open part holds nothing")
}

func TestAnIdleFileIsFinishedAtACheckpointOnceItsTimeHasCome(t *testing.T) {
	t.Parallel()
	mem, now := faultfs.NewMem(), &clock{now: time.Unix(100, 0)}
	w := open(t, Lines("o-%d", on(mem), RollEvery(time.Minute)), runnel.SinkEnv{Clock: now})
	write(t, w, "a")
	complete(t, w, 1)
	now.now = now.now.Add(time.Minute - 1)
	complete(t, w, 2)
	require.Equal(t, []string{".o-1.part"}, names(t, mem))
	now.now = now.now.Add(1)
	complete(t, w, 3)
	require.Equal(t, []string{".o-2.part", "o-1"}, names(t, mem))
	now.now = now.now.Add(time.Hour)
	complete(t, w, 4)
	require.Equal(t, []string{".o-2.part", "o-1"}, names(t, mem), "a file without a record does not age")
	closed(t, w)
}

// TestAgeAndCountGoOnAfterARestart: what a file has is part of the checkpoint.
func TestAgeAndCountGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	mem, now := faultfs.NewMem(), &clock{now: time.Unix(100, 0)}
	make := func() *Sink[string] { return Lines("o-%d", on(mem), RollEvery(time.Minute), RollRecords(3)) }
	env := runnel.SinkEnv{Clock: now, Durable: true}
	w := open(t, make(), env)
	write(t, w, "a", "b")
	env.From, env.Prepared = 1, complete(t, w, 1)

	w = open(t, make(), env) // the process ended
	write(t, w, "c", "d")
	env.From, env.Prepared = 2, complete(t, w, 2)
	require.Equal(t, "a\nb\nc\n", content(t, mem, "o-1"))

	now.now = now.now.Add(time.Minute)
	w = open(t, make(), env)
	complete(t, w, 3)
	require.Equal(t, "d\n", content(t, mem, "o-2"))
	closed(t, w)
}

func TestACleanEndNamesTheLastFileAndTheNextRunBeginsAnother(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"it is there": false, "a reader took it away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			make := func() *Sink[string] { return Lines("o-%d", on(mem), RollRecords(2)) }
			env := runnel.SinkEnv{Durable: true}
			w := open(t, make(), env)
			write(t, w, "a", "b", "c")
			env.From, env.Prepared = 1, complete(t, w, 1)
			closed(t, w)
			require.Equal(t, []string{"o-1", "o-2"}, names(t, mem))
			if taken {
				require.NoError(t, mem.Remove("o-1"))
				require.NoError(t, mem.Remove("o-2"))
			}
			w = open(t, make(), env)
			write(t, w, "d")
			require.NoError(t, w.Abort(context.Background())) // and once more, from the same checkpoint
			closed(t, w)
			w = open(t, make(), env)
			write(t, w, "d")
			complete(t, w, 2)
			closed(t, w)
			require.Equal(t, "d\n", content(t, mem, "o-3"))
			require.NotContains(t, names(t, mem), "o-4")
		})
	}
}

// TestCOR19APreparedCheckpointIsFinishedOrFailsLoud: the process ends between Prepare and Commit.
func TestCOR19APreparedCheckpointIsFinishedOrFailsLoud(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	make := func(mem *faultfs.Mem, opts ...Option) *Sink[string] {
		return Lines("o-%d", append(opts, on(mem), RollRecords(2))...)
	}
	prepared := func(t *testing.T) (*faultfs.Mem, runnel.SinkEnv, runnel.SinkEnv) {
		mem := faultfs.NewMem()
		w := open(t, make(mem), runnel.SinkEnv{Durable: true})
		write(t, w, "a")
		before := complete(t, w, 1)
		write(t, w, "b", "c")
		token, err := w.Prepare(ctx, 2)
		require.NoError(t, err)
		return mem.Crash(0), runnel.SinkEnv{Durable: true, From: 1, Prepared: before},
			runnel.SinkEnv{Durable: true, From: 2, Prepared: token}
	}
	t.Run("decided", func(t *testing.T) {
		t.Parallel()
		mem, _, env := prepared(t)
		w := open(t, make(mem), env)
		require.Equal(t, "a\nb\n", content(t, mem, "o-1"))
		write(t, w, "d")
		complete(t, w, 3)
		closed(t, w)
		require.Equal(t, map[string]string{"o-1": "a\nb\n", "o-2": "c\nd\n"}, contents(t, mem))
	})
	t.Run("not decided", func(t *testing.T) {
		t.Parallel()
		mem, env, _ := prepared(t)
		w := open(t, make(mem), env)
		require.Equal(t, map[string]string{".o-1.part": "a\n"}, contents(t, mem))
		write(t, w, "B")
		complete(t, w, 3)
		closed(t, w)
		require.Equal(t, map[string]string{"o-1": "a\nB\n"}, contents(t, mem))
	})
	t.Run("decided, and the file is not what was prepared", func(t *testing.T) {
		t.Parallel()
		mem, _, env := prepared(t)
		require.NoError(t, mem.Truncate(".o-1.part", 3))
		_, err := make(mem).Open(ctx, env)
		require.ErrorIs(t, err, ErrLoss)
		require.ErrorContains(t, err, ".o-1.part: ")
		require.Equal(t, []string{".o-1.part", ".o-2.part"}, names(t, mem), "nothing has changed")
		s := make(mem, AllowLoss())
		closed(t, open(t, s, env))
		require.Equal(t, "a\n", content(t, mem, "o-1"))
		require.EqualValues(t, 2, s.Stats().LostBytes)
	})
	t.Run("committed, and the process ended before it knew", func(t *testing.T) {
		t.Parallel()
		mem, _, env := prepared(t)
		require.NoError(t, mem.Rename(".o-1.part", "o-1"))
		w := open(t, make(mem), env)
		complete(t, w, 3)
		closed(t, w)
		require.Equal(t, map[string]string{"o-1": "a\nb\n", "o-2": "c\n"}, contents(t, mem))
	})
}

func TestAbortGivesUpWhatIsNotPreparedAndKeepsWhatIs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, name := range []string{"o", "o-%d"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			opts := []Option{on(mem), BlockBytes(1)}
			if name != "o" {
				opts = append(opts, RollRecords(2))
			}
			w := open(t, Lines(name, opts...), runnel.SinkEnv{Durable: true})
			write(t, w, "a", "b", "c")
			before := contents(t, mem)
			token, err := w.Prepare(ctx, 1)
			require.NoError(t, err)
			write(t, w, "d", "e", "f")
			require.NotEqual(t, before, contents(t, mem))
			require.NoError(t, w.Abort(ctx))
			require.NoError(t, w.Abort(ctx))
			require.Equal(t, before, contents(t, mem))
			require.ErrorIs(t, w.Write(ctx, batch("x")), runnel.ErrClosed)
			_, err = w.Prepare(ctx, 2)
			require.ErrorIs(t, err, runnel.ErrClosed)
			closed(t, w)
			require.Equal(t, before, contents(t, mem), "the checkpoint is perhaps decided")

			w = open(t, Lines(name, opts...), runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
			write(t, w, "D")
			complete(t, w, 2)
			closed(t, w)
			want := map[string]string{"o": "a\nb\nc\nD\n"}
			if name != "o" {
				want = map[string]string{"o-1": "a\nb\n", "o-2": "c\nD\n"}
			}
			require.Equal(t, want, contents(t, mem))
		})
	}
}

func TestAbortOfAFirstAttemptLeavesNothingThatIsMissedOrInTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"o", "o-%d"} {
		mem := faultfs.NewMem()
		make := func() *Sink[string] {
			opts := []Option{on(mem), BlockBytes(1)}
			if name != "o" {
				opts = append(opts, RollRecords(1))
			}
			return Lines(name, opts...)
		}
		w := open(t, make(), runnel.SinkEnv{Durable: true})
		write(t, w, "a", "b")
		require.NoError(t, w.Abort(context.Background()))
		closed(t, w)
		w = open(t, make(), runnel.SinkEnv{Durable: true}) // another process, without a checkpoint
		write(t, w, "c")
		complete(t, w, 1)
		closed(t, w)
		for _, got := range contents(t, mem) {
			require.Equal(t, "c\n", got)
		}
		require.Len(t, names(t, mem), 1)
	}
}

func TestWhatIsPreparedAndNotCommittedGetsNoNameAtTheEnd(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Lines("o-%d", on(mem), RollRecords(2)), runnel.SinkEnv{Durable: true})
	write(t, w, "a", "b", "c")
	_, err := w.Prepare(context.Background(), 1)
	require.NoError(t, err)
	closed(t, w)
	require.Equal(t, []string{".o-1.part", ".o-2.part"}, names(t, mem))
}

func TestFlushAloneMakesFilesThatAppearAtTheEnd(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Lines("o-%d", on(mem), RollRecords(2)), runnel.SinkEnv{})
	write(t, w, "a", "b", "c")
	require.NoError(t, w.Flush(context.Background()))
	require.Equal(t, []string{".o-1.part", ".o-2.part"}, names(t, mem.Crash(0)), "they are durable")
	closed(t, w)
	require.Equal(t, map[string]string{"o-1": "a\nb\n", "o-2": "c\n"}, contents(t, mem))
}

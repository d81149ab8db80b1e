package filesink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/source"
)

// TestPipelineThatFailsAndIsRunAgainWritesEachRecordOnce fails at random records, in two sinks at once, and starts anew
// from the folder of checkpoints each time.
func TestPipelineThatFailsAndIsRunAgainWritesEachRecordOnce(t *testing.T) {
	t.Parallel()
	const count = 500
	for seed := range 20 {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		mem, state := faultfs.NewMem(), filepath.Join(t.TempDir(), "state")
		run := func(failAt int) error {
			p := runnel.New("job", runnel.MaxBatch(7), runnel.Checkpoint(checkpoint.Dir(state), checkpoint.EveryRecords(40)))
			numbers := runnel.From(p, source.Slice(upTo(count)))
			checked := flow.TryMap(numbers, func(n int) (int, error) {
				if n == failAt {
					return 0, errors.New("the stage failed")
				}
				return n, nil
			})
			checked.To(NDJSON[int]("one.gz", on(mem), BlockBytes(50)), runnel.Name("one"))
			checked.To(NDJSON[int]("many-%03d", on(mem), RollRecords(30), BlockBytes(50)), runnel.Name("many"))
			return p.Run(t.Context())
		}
		for at := random.IntN(100); at < count; at += random.IntN(100) {
			require.ErrorContains(t, run(at), "the stage failed", "seed %d", seed)
		}
		require.NoError(t, run(-1), "seed %d", seed)
		var want, many strings.Builder
		for n := range count {
			fmt.Fprintln(&want, n)
		}
		require.Equal(t, want.String(), unpacked(t, mem, "one.gz"), "seed %d", seed)
		for _, name := range names(t, mem) {
			if name != "one.gz" {
				require.NotContains(t, name, hiddenSuffix)
				many.WriteString(content(t, mem, name))
			}
		}
		require.Equal(t, want.String(), many.String(), "seed %d", seed)
		require.Zero(t, mem.OpenFiles())
	}
}

// TestAttemptsWithoutADurableStoreRepeatNothing restarts within one run, before and after the first checkpoint.
func TestAttemptsWithoutADurableStoreRepeatNothing(t *testing.T) {
	t.Parallel()
	for _, failAt := range []int{3, 150} {
		for name, opts := range map[string][]Option{"o": {Append()}, "o-%d": {RollRecords(1000)}} {
			mem := faultfs.NewMem()
			put(t, mem, "o", "-1\n")
			var failed atomic.Bool
			p := runnel.New("job", runnel.MaxBatch(5), runnel.Restart(3, 0), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(20)))
			numbers := runnel.From(p, source.Slice(upTo(200)))
			flow.TryMap(numbers, func(n int) (int, error) {
				if n == failAt && !failed.Swap(true) {
					return 0, errors.New("the stage failed")
				}
				return n, nil
			}).To(NDJSON[int](name, append(opts, on(mem), BlockBytes(10))...))
			require.NoError(t, p.Run(t.Context()))
			require.True(t, failed.Load())
			var want strings.Builder
			if name == "o" {
				fmt.Fprintln(&want, -1)
			}
			for n := range 200 {
				fmt.Fprintln(&want, n)
			}
			require.Equal(t, want.String(), content(t, mem, strings.Replace(name, "%d", "1", 1)), "%s, failed at %d", name, failAt)
		}
	}
}

// TestFIL08ThePipelineRetriesWhatHasNoPlace: the disk is full at the fifth record; then there is space again.
func TestFIL08ThePipelineRetriesWhatHasNoPlace(t *testing.T) {
	t.Parallel()
	for _, block := range []int{1, 1 << 20} { // refused by Write, or by Prepare
		mem := faultfs.NewMem()
		mem.SetCapacity(50)
		fulls := 0
		fsys := faultfs.Inject(mem, func(c faultfs.Call) error {
			if c.Op == faultfs.OpTruncate {
				if fulls++; fulls == 3 {
					mem.SetCapacity(-1)
				}
			}
			return nil
		})
		p := runnel.New("job")
		runnel.From(p, source.Slice(upTo(9))).
			To(Encode("o", func(dst []byte, n int) ([]byte, error) { return fmt.Appendf(dst, "{\"number\":%d}\n", n), nil },
				on(fsys), BlockBytes(block)), runnel.Retry(5, time.Nanosecond))
		require.NoError(t, p.Run(t.Context()))
		require.GreaterOrEqual(t, fulls, 3)
		n := 0
		for line := range strings.Lines(content(t, mem, "o")) {
			var got struct{ Number int }
			require.NoError(t, json.Unmarshal([]byte(line), &got), "line %q", line)
			require.Equal(t, n, got.Number)
			n++
		}
		require.Equal(t, 9, n)
	}
}

func TestFIL08AFullDiskEndsAPipelineThatDoesNotRetry(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	mem.SetCapacity(5)
	var committed []checkpoint.Checkpoint
	p := runnel.New("job", runnel.OnCheckpoint(func(c checkpoint.Checkpoint) { committed = append(committed, c) }))
	runnel.From(p, source.Slice(upTo(9))).To(NDJSON[int]("o", on(mem)), runnel.Name("out"))
	err := p.Run(t.Context())
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "out")
	require.ErrorContains(t, err, "filesink: o: ")
	require.Empty(t, committed)
	require.Zero(t, mem.OpenFiles())
}

func TestSNK01APipelineWithoutRecordsLeavesAValidFile(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	p := runnel.New("job")
	none := runnel.From(p, source.Slice([]int{}))
	none.To(NDJSON[int]("a.ndjson.gz", on(mem)))
	none.To(CSV("b.csv", header, rowOf, on(mem)))
	none.To(CSV("c.csv", header, rowOf, on(mem), NoEmptyFile()))
	none.To(CSV("d-%d.csv.zst", header, rowOf, on(mem), RollRecords(5)))
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []string{"a.ndjson.gz", "b.csv", "d-1.csv.zst"}, names(t, mem))
	require.Empty(t, unpacked(t, mem, "a.ndjson.gz"))
	require.Equal(t, "a,b\n", content(t, mem, "b.csv"))
	require.Equal(t, "a,b\n", unpacked(t, mem, "d-1.csv.zst"))
}

func TestDeadLettersOfStagesAndSinksShareAFile(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	rejects := NDJSON[runnel.Failed]("rejects", on(mem))
	p := runnel.New("job")
	numbers := runnel.From(p, source.Slice(upTo(10)), runnel.Name("numbers"))
	flow.TryMap(numbers, func(n int) (string, error) {
		if n == 4 {
			return "", errors.New("four")
		}
		return strings.Repeat("\n", n%3) + fmt.Sprint(n), nil
	}, runnel.Name("spell"), runnel.DeadLetter(rejects)).
		To(Lines("lines", on(mem)), runnel.Name("lines"), runnel.DeadLetter(rejects))
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, "0\n3\n6\n9\n", content(t, mem, "lines"))
	stages := map[string][]any{}
	for line := range strings.Lines(content(t, mem, "rejects")) {
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		stages[got["stage"].(string)] = append(stages[got["stage"].(string)], got["value"])
		require.Equal(t, "numbers", got["source"])
	}
	require.Equal(t, map[string][]any{"spell": {4.0}, "lines": {"\n1", "\n\n2", "\n\n5", "\n7", "\n\n8"}}, stages)
}

func TestAStoppedPipelineLeavesFinishedFiles(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	ctx, stop := context.WithCancel(t.Context())
	p := runnel.New("job", runnel.MaxBatch(10))
	written := 0
	runnel.From(p, source.Generate(1_000_000_000, func(i int64) int64 { return i })).
		To(Encode("o-%06d", func(dst []byte, n int64) ([]byte, error) {
			if n == 1000 {
				stop()
			}
			written++
			return fmt.Appendln(dst, n), nil
		}, on(mem), RollRecords(300)))
	require.NoError(t, p.Run(ctx))
	want := 0
	for _, name := range names(t, mem) {
		require.NotContains(t, name, hiddenSuffix)
		for line := range strings.Lines(content(t, mem, name)) {
			require.Equal(t, fmt.Sprintln(want), line)
			want++
		}
	}
	require.Equal(t, want, written)
	require.Greater(t, want, 1000)
}

func TestTwoSinksOfAPipelineOnOneFileAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("out", []byte("old\n"), 0o600))
	absolute, err := filepath.Abs("out")
	require.NoError(t, err)
	for _, path := range []string{"out", "." + string(filepath.Separator) + "out", absolute} {
		p := runnel.New("job")
		lines := runnel.From(p, source.Slice([]string{"new"}))
		lines.To(Lines("out", Replace()), runnel.Name("first"))
		lines.To(Lines(path, Append()), runnel.Name("second"))
		require.EqualError(t, p.Run(t.Context()),
			`pipeline "job": first and second both write file `+absolute+`; use one sink for both streams`)
		got, err := os.ReadFile("out")
		require.NoError(t, err)
		require.Equal(t, "old\n", string(got))
	}
}

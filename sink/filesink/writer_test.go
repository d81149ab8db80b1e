package filesink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// flaky is a file system whose next writes fail as told.
type flaky struct {
	mem    *faultfs.Mem
	faults []error // nil lets a write pass
}

func (f *flaky) hook(c faultfs.Call) error {
	if c.Op != faultfs.OpWrite || len(f.faults) == 0 {
		return nil
	}
	err := f.faults[0]
	f.faults = f.faults[1:]
	return err
}

// flakyLines returns a sink of lines with a block of n bytes.
func flakyLines(t *testing.T, n int, opts ...Option) (*flaky, opened[string]) {
	t.Helper()
	f := &flaky{mem: faultfs.NewMem()}
	s := Lines("o", append(opts, on(faultfs.Inject(f.mem, f.hook)), BlockBytes(n))...)
	return f, open(t, s, runnel.SinkEnv{})
}

// refusedBy returns what of a batch was refused.
func refusedBy(t *testing.T, err error) []string {
	t.Helper()
	var e *runnel.BatchError[string]
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Errs, len(e.Failed))
	var values []string
	for _, r := range e.Failed {
		values = append(values, r.Value)
	}
	return values
}

func TestFIL08AFullDiskRefusesExactlyTheRecordsThatHaveNoPlace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const record = "0123456789" // 11 bytes with its end
	nine := strings.Fields(strings.Repeat(record+" ", 9))
	for _, block := range []int{1, 30, 1 << 20} {
		t.Run(fmt.Sprintf("blocks of %d", block), func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			mem.SetCapacity(50) // the fifth record is short
			w := open(t, Lines("o", on(mem), BlockBytes(block)), runnel.SinkEnv{})
			err := w.Write(ctx, batch(nine...))
			if block == 1<<20 {
				require.NoError(t, err, "all of them are in memory")
				_, err = w.Prepare(ctx, 1)
				require.ErrorIs(t, err, syscall.ENOSPC)
				require.True(t, runnel.Retryable(err))
				require.Equal(t, strings.Repeat(record+"\n", 4), content(t, mem, "o"), "no torn line")
				mem.SetCapacity(-1)
				complete(t, w, 1)
				require.Equal(t, strings.Repeat(record+"\n", 9), content(t, mem, "o"))
				return
			}
			require.Equal(t, nine[4:], refusedBy(t, err))
			require.ErrorContains(t, err, "filesink: o: from record 5 on: ")
			for _, cause := range err.(*runnel.BatchError[string]).Errs {
				require.ErrorIs(t, cause, syscall.ENOSPC)
				require.True(t, runnel.Retryable(cause))
			}
			require.Equal(t, strings.Repeat(record+"\n", 4), content(t, mem, "o"), "no torn line")

			require.Equal(t, nine[4:], refusedBy(t, w.Write(ctx, batch(nine[4:]...))), "still full")
			mem.SetCapacity(-1)
			write(t, w, nine[4:]...)
			complete(t, w, 1)
			closed(t, w)
			require.Equal(t, strings.Repeat(record+"\n", 9), content(t, mem, "o"))
		})
	}
}

func TestFIL09AShortWriteIsAFailure(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*faultfs.Short{
		"without an error": {N: 3}, "with one": {N: 3, Err: syscall.EIO}, "of nothing": {N: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, w := flakyLines(t, 1)
			f.faults = []error{nil, fault}
			err := w.Write(context.Background(), batch("one", "two", "six", "ten"))
			require.Equal(t, []string{"two", "six", "ten"}, refusedBy(t, err))
			cause := fault.Err
			if cause == nil {
				cause = io.ErrShortWrite
			}
			require.ErrorIs(t, err, cause)
			require.Equal(t, cause != syscall.EIO, runnel.Retryable(err.(*runnel.BatchError[string]).Errs[0]))
			require.Equal(t, "one\n", content(t, f.mem, "o"))
			write(t, w, "two", "six", "ten")
			complete(t, w, 1)
			require.Equal(t, "one\ntwo\nsix\nten\n", content(t, f.mem, "o"))
		})
	}
}

// TestRecordsOfEarlierBatchesStayInTheBlock: what Write took is not refused later, by another Write.
func TestRecordsOfEarlierBatchesStayInTheBlock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, tc := range []struct {
		name    string
		written int // bytes of the block that the disk takes
		refused []string
		file    string
	}{
		{"nothing", 0, []string{"c", "d"}, ""},
		{"a part of the earlier ones", 3, []string{"c", "d"}, "a\n"},
		{"all of the earlier ones", 4, []string{"c", "d"}, "a\nb\n"},
		{"one of this batch", 6, []string{"d"}, "a\nb\nc\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f, w := flakyLines(t, 8)
			write(t, w, "a", "b")
			require.Empty(t, content(t, f.mem, "o"))
			full := &faultfs.Short{N: tc.written, Err: syscall.ENOSPC}
			f.faults = []error{full}
			require.Equal(t, tc.refused, refusedBy(t, w.Write(ctx, batch("c", "d"))))
			require.Equal(t, tc.file, content(t, f.mem, "o"))

			f.faults = []error{syscall.ENOSPC, &faultfs.Short{N: 1}}
			if tc.written < 4 {
				for range 2 {
					require.Error(t, w.Flush(ctx), "there is something in the block")
				}
			}
			f.faults = nil
			write(t, w, tc.refused...)
			complete(t, w, 1)
			closed(t, w)
			require.Equal(t, "a\nb\nc\nd\n", content(t, f.mem, "o"), "each once and in order")
		})
	}
}

func TestAFullDiskRefusesRecordsOfAnArchiveBeforeTheyAreCompressed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, name := range []string{"o.gz", "o.zst"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			mem.SetCapacity(0)
			w := open(t, NDJSON[string](name, on(mem), BlockBytes(1<<10)), runnel.SinkEnv{})
			var want strings.Builder
			refused := 0
			for i := 0; refused < 3; i++ {
				require.Less(t, i, 100_000, "memory is bounded: at some time there is no place")
				v := fmt.Sprintf("%x%x%x", i*7919, i*i*104729, i*i*i*1299709)
				err := w.Write(ctx, batch(v))
				if err != nil {
					require.Equal(t, []string{v}, refusedBy(t, err))
					refused++
					continue
				}
				fmt.Fprintf(&want, "%q\n", v)
			}
			_, err := w.Prepare(ctx, 1)
			require.True(t, runnel.Retryable(err), "%v", err)
			mem.SetCapacity(-1)
			complete(t, w, 1)
			closed(t, w)
			require.Equal(t, want.String(), unpacked(t, mem, name))
		})
	}
}

func TestARefusedRecordDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	mem := faultfs.NewMem()
	s := Encode("o", func(dst []byte, v int) ([]byte, error) {
		dst = fmt.Appendf(dst, "%d\n", v)
		switch v % 5 {
		case 2:
			return dst, bad
		case 4:
			panic("worse")
		}
		return dst, nil
	}, on(mem), BlockBytes(3))
	w := open(t, s, runnel.SinkEnv{})
	meta := make([]runnel.Meta, 10)
	for i := range meta {
		meta[i].Key = []byte{byte(i)}
	}
	err := w.Write(context.Background(), runnel.NewBatch(upTo(10), meta))
	var e *runnel.BatchError[int]
	require.ErrorAs(t, err, &e)
	var refused []int
	for i, r := range e.Failed {
		refused = append(refused, r.Value)
		require.Equal(t, []byte{byte(r.Value)}, r.Key, "the metadata is there")
		require.False(t, runnel.Retryable(e.Errs[i]))
	}
	require.Equal(t, []int{2, 4, 7, 9}, refused)
	require.ErrorIs(t, e.Errs[0], bad)
	require.EqualError(t, e.Errs[0], "filesink: o: record 3: bad")
	var panicked *runnel.PanicError
	require.ErrorAs(t, e.Errs[1], &panicked)
	require.Equal(t, "worse", panicked.Value)
	require.Contains(t, string(panicked.Stack), "TestARefusedRecordDoesNotStopTheOthers")
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "0\n1\n3\n5\n6\n8\n", content(t, mem, "o"))
}

func TestRefusedAndUnwrittenRecordsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	f, w := flakyLines(t, 6)
	f.faults = []error{&faultfs.Short{N: 2, Err: syscall.ENOSPC}}
	err := w.Write(context.Background(), batch("a", "with a\nline feed", "b", "c", "d"))
	require.Equal(t, []string{"with a\nline feed", "b", "c", "d"}, refusedBy(t, err))
	require.ErrorIs(t, err.(*runnel.BatchError[string]).Errs[0], ErrLineFeed)
	require.ErrorIs(t, err.(*runnel.BatchError[string]).Errs[1], syscall.ENOSPC)
}

func TestAFailedSyncIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	mem := faultfs.NewMem()
	fail := true
	fsys := faultfs.Inject(mem, func(c faultfs.Call) error {
		if c.Op == faultfs.OpSync && fail {
			fail = false
			return syscall.ENOSPC
		}
		return nil
	})
	w := open(t, Lines("o", on(fsys)), runnel.SinkEnv{})
	write(t, w, "a")
	for range 2 {
		_, err := w.Prepare(ctx, 1)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.False(t, runnel.Retryable(err))
	}
	require.NoError(t, w.Close(ctx))
	require.Zero(t, mem.OpenFiles())
}

func TestRollingThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, op := range []faultfs.Op{faultfs.OpOpen, faultfs.OpStat, faultfs.OpWrite, faultfs.OpTruncate} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			armed := false
			fsys := faultfs.Inject(mem, func(c faultfs.Call) error {
				if armed && c.Op == op {
					armed = false
					return syscall.ENOSPC
				}
				return nil
			})
			w := open(t, CSV("o-%d", header, rowOf, on(fsys), RollRecords(1)), runnel.SinkEnv{})
			armed = true
			var e *runnel.BatchError[int]
			require.ErrorAs(t, w.Write(ctx, batch(1, 2)), &e)
			require.True(t, runnel.Retryable(e.Errs[0]))
			for _, r := range e.Failed {
				write(t, w, r.Value)
			}
			complete(t, w, 1)
			closed(t, w)
			require.Equal(t, map[string]string{"o-1": "a,b\n1,x\n", "o-2": "a,b\n2,x\n"}, contents(t, mem))
			require.Zero(t, mem.OpenFiles())
		})
	}
}

func TestMemoryOfALargeRecordIsGivenBack(t *testing.T) {
	t.Parallel()
	_, w := flakyLines(t, 1<<10)
	write(t, w, strings.Repeat("x", 1<<20))
	write(t, w, "y")
	require.LessOrEqual(t, cap(w.(*writer[string]).block.bytes), 4<<10)
}

func TestMistakesAreAllReportedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sink interface{ Validate() error }
		want []string
	}{
		"fine":                   {Lines("o"), nil},
		"no path":                {Lines(""), []string{"the path is empty"}},
		"two ways":               {Lines("o", Append(), Replace()), []string{"exclude each other"}},
		"several":                {Lines("", BlockBytes(0), Level(3)), []string{"path", "BlockBytes(0)", "Level without compression"}},
		"level of gzip":          {Lines("o", Gzip(), Level(10)), []string{"1 to 9"}},
		"level of Zstandard":     {Lines("o", Zstd(), Level(22)), nil},
		"no number":              {Lines("o", RollRecords(1)), []string{"%05d"}},
		"two numbers":            {Lines("%d%d", RollRecords(1)), []string{"one verb"}},
		"number without rolling": {Lines("o-%d"), []string{"RollBytes, RollRecords or RollEvery"}},
		"limit":                  {Lines("o-%d", RollBytes(0)), []string{"below 1"}},
		"one limit of two":       {Lines("o-%d", RollBytes(1), RollEvery(-1)), []string{"below 1"}},
		"no encoder":             {Encode[int]("o", nil), []string{"the encoder is nil"}},
		"no record encoder":      {EncodeRecord[int]("o", nil), []string{"the encoder is nil"}},
		"no row":                 {CSV[int]("o", nil, nil), []string{"the function for a row is nil"}},
		"empty header":           {CSV("o", []string{}, rowOf), []string{"no column"}},
		"comma":                  {CSV("o", nil, rowOf, Comma('"')), []string{"Comma"}},
		"wide comma":             {CSV("o", nil, rowOf, Comma('¦')), []string{"Comma"}},
		"not a struct":           {CSVOf[int]("o"), []string{"int is not a struct"}},
	} {
		err := tc.sink.Validate()
		if tc.want == nil {
			require.NoError(t, err, name)
		}
		for _, want := range tc.want {
			require.ErrorContains(t, err, want, name)
		}
	}
	_, err := Lines("", on(faultfs.NewMem())).Open(context.Background(), runnel.SinkEnv{})
	require.ErrorContains(t, err, "the path is empty")
}

func TestNamesSayHowFilesAreCompressed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a.gz": "\x1f\x8b", "a.GZ": "\x1f\x8b", "a.zst": "\x28\xb5\x2f\xfd", "a.txt": "x"} {
		mem := faultfs.NewMem()
		w := open(t, Lines(name, on(mem)), runnel.SinkEnv{})
		write(t, w, "x")
		complete(t, w, 1)
		closed(t, w)
		require.True(t, strings.HasPrefix(content(t, mem, name), want), name)
	}
	for name, opt := range map[string]Option{"a.gz": Uncompressed(), "b": Gzip(), "c": Zstd()} {
		mem := faultfs.NewMem()
		w := open(t, Lines(name, on(mem), opt), runnel.SinkEnv{})
		write(t, w, "x")
		complete(t, w, 1)
		closed(t, w)
		require.Equal(t, name == "a.gz", content(t, mem, name) == "x\n", name)
	}
}

func TestTraitsAreThoseOfTheWriter(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs("o")
	require.NoError(t, err)
	traits := runnel.Traits{Kind: "lines", Transactional: true, Owns: "file " + path}
	require.Equal(t, traits, Lines("o").Describe())
	require.Equal(t, traits, Lines("a/../o").Describe(), "two spellings of a file are one file")
}

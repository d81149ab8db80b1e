package filesink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func rowOf(v int) []string { return []string{fmt.Sprint(v), "x"} }

var header = []string{"a", "b"}

func TestStartWithoutCheckpointDestroysNothingThatItIsNotToldTo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		found  string
		opts   []Option
		want   string
		refuse error
		torn   int64
	}{
		{name: "refused", found: "a,b\n1,x\n", refuse: ErrExists},
		{name: "empty", found: "", want: "a,b\n7,x\n"},
		{name: "only a header", found: "a,b\n", want: "a,b\n7,x\n"},
		{name: "a part of the header", found: "a,", want: "a,b\n7,x\n"},
		{name: "a part of another header", found: "b,", refuse: ErrExists},
		{name: "replaced", found: "a,b\n1,x\n", opts: []Option{Replace()}, want: "a,b\n7,x\n"},
		{name: "appended", found: "a,b\n1,x\n", opts: []Option{Append()}, want: "a,b\n1,x\n7,x\n"},
		{name: "appended behind a torn row", found: "a,b\n1,x\n2,\"x\ny", opts: []Option{Append()}, want: "a,b\n1,x\n7,x\n", torn: 6},
		{name: "appended behind a torn header", found: "a", opts: []Option{Append()}, want: "a,b\n7,x\n"},
		{name: "another header", found: "a,c\n1,x\n", opts: []Option{Append()}, refuse: ErrMismatch},
	} {
		for _, ext := range []string{"", ".gz", ".zst"} {
			t.Run(tc.name+ext, func(t *testing.T) {
				t.Parallel()
				if ext != "" && tc.torn > 0 {
					t.Skip("an archive is torn at a member: TestAppendCutsATornMember")
				}
				mem := faultfs.NewMem()
				name := "out.csv" + ext
				put(t, mem, name, packed(t, name, tc.found))
				s := CSV(name, header, rowOf, csvOptions(on(mem), tc.opts)...)
				w, err := s.Open(context.Background(), runnel.SinkEnv{})
				if tc.refuse != nil {
					require.ErrorIs(t, err, tc.refuse)
					require.ErrorContains(t, err, "filesink: "+name+": ")
					require.Equal(t, tc.found, unpacked(t, mem, name))
					require.Zero(t, mem.OpenFiles())
					return
				}
				require.NoError(t, err)
				write(t, w.(opened[int]), 7)
				complete(t, w.(opened[int]), 1)
				closed(t, w.(opened[int]))
				require.Equal(t, tc.want, unpacked(t, mem, name))
				require.Equal(t, tc.torn, s.Stats().TornBytes)
				require.Zero(t, mem.OpenFiles())
			})
		}
	}
}

func csvOptions(first Option, more []Option) []CSVOption {
	all := []CSVOption{first}
	for _, o := range more {
		all = append(all, o)
	}
	return all
}

// packed returns content as the name of its file says.
func packed(t *testing.T, name, content string) string {
	t.Helper()
	p := map[string]fileconn.Packing{".gz": fileconn.PackGzip, ".zst": fileconn.PackZstd}[filepath.Ext(name)]
	b, err := fileconn.Pack([]byte(content), p, 0)
	require.NoError(t, err)
	return string(b)
}

func TestRefusedStartNamesTheOptions(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	put(t, mem, "out", "old\n")
	_, err := Lines("out", on(mem)).Open(context.Background(), runnel.SinkEnv{})
	require.EqualError(t, err, "filesink: out: there is a file already: it holds 4 bytes, and no checkpoint says what of it to "+
		"keep; go on behind it with Append(), start anew with Replace(), or use another name")
	_, err = Lines("out", on(mem)).Open(context.Background(), runnel.SinkEnv{From: 12})
	require.ErrorContains(t, err, "checkpoint 12, which knows nothing of this sink, does not say what of it to keep")
}

func TestAppendCutsATornMember(t *testing.T) {
	t.Parallel()
	for _, ext := range []string{".gz", ".zst"} {
		mem := faultfs.NewMem()
		name := "out" + ext
		whole, torn := packed(t, name, "one\n"), packed(t, name, "two\n")
		put(t, mem, name, whole+torn[:len(torn)-1])
		s := Lines(name, on(mem), Append())
		w := open(t, s, runnel.SinkEnv{})
		write(t, w, "new")
		complete(t, w, 1)
		closed(t, w)
		require.Equal(t, "one\nnew\n", unpacked(t, mem, name))
		require.EqualValues(t, len(torn)-1, s.Stats().TornBytes)
	}
}

func TestAppendOfBinaryRecordsCutsNothing(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	put(t, mem, "out", "\x01\x02")
	encode := func(dst []byte, v byte) ([]byte, error) { return append(dst, v), nil }
	w := open(t, Encode("out", encode, on(mem), Append(), Binary()), runnel.SinkEnv{})
	write(t, w, 3)
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "\x01\x02\x03", content(t, mem, "out"))
}

// TestFirstCheckpointHoldsTheLengthFound: a crash after the first checkpoint, which a durable store gets before anything
// is written, goes back to it.
func TestFirstCheckpointHoldsTheLengthFound(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	put(t, mem, "out", "old\ntorn")
	w := open(t, Lines("out", on(mem), Append()), runnel.SinkEnv{Durable: true})
	token := complete(t, w, 1)
	write(t, w, strings.Repeat("x", defaultBlockBytes), "y")
	require.Greater(t, len(content(t, mem, "out")), defaultBlockBytes, "a full block is written")

	s := Lines("out", on(mem), Append())
	w = open(t, s, runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
	require.Equal(t, "old\n", content(t, mem, "out"))
	require.EqualValues(t, defaultBlockBytes+1, s.Stats().CutBytes)
	write(t, w, "new")
	complete(t, w, 2)
	closed(t, w)
	require.Equal(t, "old\nnew\n", content(t, mem, "out"))
}

func TestCheckpointOfNothingDoesNotCutAnotherFile(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Lines("out", on(mem)), runnel.SinkEnv{Durable: true})
	token := complete(t, w, 1)
	closed(t, w)

	// The inode is in use, so that the new file gets another.
	require.NoError(t, mem.Rename("out", "away"))
	put(t, mem, "out", "of somebody else\n")
	_, err := Lines("out", on(mem)).Open(context.Background(), runnel.SinkEnv{From: 1, Prepared: token})
	require.ErrorIs(t, err, ErrExists)
	require.Equal(t, "of somebody else\n", content(t, mem, "out"))
}

func TestCheckpointOfAHeaderDoesNotCutAShorterFile(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, CSV("o", header, rowOf, on(mem)), runnel.SinkEnv{Durable: true})
	token := complete(t, w, 1)
	closed(t, w)
	put(t, mem, "o", "xyz")
	_, err := CSV("o", header, rowOf, on(mem)).Open(context.Background(), runnel.SinkEnv{From: 1, Prepared: token})
	require.ErrorIs(t, err, ErrExists)
	require.Equal(t, "xyz", content(t, mem, "o"))
}

func TestFIL11AFileThatIsNotWhatTheCheckpointSaysIsRefusedWithAWayOut(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n" // ten of them make a checkpoint at 1,000
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, mem *faultfs.Mem)
		error  string
		lost   int64
		kept   int // of the lines
	}{
		{"shorter", func(t *testing.T, mem *faultfs.Mem) {
			require.NoError(t, mem.Truncate("out", 900))
		}, "it has 900 bytes, checkpoint 1 has 1000 of it", 100, 9},
		{"shorter within a line", func(t *testing.T, mem *faultfs.Mem) {
			require.NoError(t, mem.Truncate("out", 950))
		}, "it has 950 bytes, checkpoint 1 has 1000 of it", 100, 9},
		{"missing", func(t *testing.T, mem *faultfs.Mem) {
			require.NoError(t, mem.Remove("out"))
		}, "it is missing, checkpoint 1 has 1000 bytes of it", 1000, 0},
		{"another", func(t *testing.T, mem *faultfs.Mem) {
			require.NoError(t, mem.Remove("out"))
			put(t, mem, "out", strings.Repeat(strings.Repeat("y", 99)+"\n", 11))
		}, "it has other bytes than the 1000 of checkpoint 1", 1000, 11},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			w := open(t, Lines("out", on(mem)), runnel.SinkEnv{Durable: true})
			for range 10 {
				write(t, w, line[:99])
			}
			env := runnel.SinkEnv{Durable: true, From: 1, Prepared: complete(t, w, 1)}
			closed(t, w)
			tc.change(t, mem)

			for range 2 { // it stays refused, and nothing is touched
				_, err := Lines("out", on(mem)).Open(context.Background(), env)
				require.ErrorIs(t, err, ErrLoss)
				require.ErrorContains(t, err, tc.error)
				require.ErrorContains(t, err, "AllowLoss()")
			}
			s := Lines("out", on(mem), AllowLoss())
			w = open(t, s, env)
			require.Equal(t, tc.lost, s.Stats().LostBytes)
			write(t, w, "new")
			env.From, env.Prepared = 2, complete(t, w, 2)
			closed(t, w)
			lines := strings.SplitAfter(content(t, mem, "out"), "\n")
			require.Len(t, lines, tc.kept+2)
			require.Equal(t, "new\n", lines[tc.kept])

			// From here on nothing is missing any more.
			w = open(t, Lines("out", on(mem)), env)
			closed(t, w)
		})
	}
}

func TestResumeRefusesOtherSettings(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, CSV("out.csv", header, rowOf, on(mem)), runnel.SinkEnv{Durable: true})
	write(t, w, 1)
	env := runnel.SinkEnv{Durable: true, From: 1, Prepared: complete(t, w, 1)}
	closed(t, w)
	for name, s := range map[string]*Sink[int]{
		"compressed":     CSV("out.csv", header, rowOf, on(mem), Gzip()),
		"another header": CSV("out.csv", []string{"a", "c"}, rowOf, on(mem)),
		"numbered":       CSV("out-%d.csv", header, rowOf, on(mem), RollRecords(1)),
	} {
		_, err := s.Open(context.Background(), env)
		require.ErrorIs(t, err, ErrMismatch, name)
	}
	for name, token := range map[string][]byte{
		"empty": {}, "another version": {9, '{', '}'}, "torn": env.Prepared[:20],
		"negative": []byte("\x01" + `{"open":{"size":-1}}`),
	} {
		_, err := CSV("out.csv", header, rowOf, on(mem)).Open(context.Background(), runnel.SinkEnv{From: 1, Prepared: token})
		require.Error(t, err, name)
	}
	require.Equal(t, "a,b\n1,x\n", content(t, mem, "out.csv"))
}

func TestSNK01NoRecordsLeaveAValidEmptyFileOrNone(t *testing.T) {
	t.Parallel()
	type sink interface {
		Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[int], error)
	}
	for _, ext := range []string{"", ".gz", ".zst"} {
		for _, tc := range []struct {
			name, file string
			want       []string // names and contents; nil means no file
			make       func(name string, o ...Option) sink
			opts       []Option
		}{
			{"NDJSON", "o.ndjson", []string{""}, func(n string, o ...Option) sink { return NDJSON[int](n, o...) }, nil},
			{"CSV", "o.csv", []string{"a,b\n"}, func(n string, o ...Option) sink {
				return CSV(n, header, rowOf, csvOptions(o[0], o[1:])...)
			}, nil},
			{"no file", "o.csv", nil, func(n string, o ...Option) sink {
				return CSV(n, header, rowOf, csvOptions(o[0], o[1:])...)
			}, []Option{NoEmptyFile()}},
			{"numbered", "o-%d", []string{""}, func(n string, o ...Option) sink { return NDJSON[int](n, o...) }, []Option{RollRecords(1)}},
			{"numbered, no file", "o-%d", nil, func(n string, o ...Option) sink { return NDJSON[int](n, o...) },
				[]Option{RollRecords(1), NoEmptyFile()}},
		} {
			t.Run(tc.name+ext, func(t *testing.T) {
				t.Parallel()
				mem := faultfs.NewMem()
				env := runnel.SinkEnv{Durable: true}
				for range 3 { // a start from the checkpoint changes nothing
					w, err := tc.make(tc.file+ext, append([]Option{on(mem)}, tc.opts...)...).Open(context.Background(), env)
					require.NoError(t, err)
					env.From++
					env.Prepared = complete(t, w.(opened[int]), env.From)
					require.NoError(t, w.Close(context.Background()))
					var got []string
					for _, name := range names(t, mem) {
						got = append(got, unpacked(t, mem, name))
					}
					require.Equal(t, tc.want, got)
				}
			})
		}
	}
}

func TestNoEmptyFileKeepsAFileThatWasThere(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	put(t, mem, "out", "old\n")
	w := open(t, Lines("out", on(mem), NoEmptyFile(), Append()), runnel.SinkEnv{})
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "old\n", content(t, mem, "out"))
}

func TestASecondWriterOfAFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, opts := range map[string][]Option{"out": {Append()}, "out-%d": {Append(), RollRecords(1)}} {
		path := filepath.Join(dir, name)
		first := Lines(path, opts...)
		w := open(t, first, runnel.SinkEnv{})
		write(t, w, "one", "two")
		_, err := Lines(path, opts...).Open(context.Background(), runnel.SinkEnv{})
		require.ErrorIs(t, err, ErrInUse, "another sink")
		_, err = first.Open(context.Background(), runnel.SinkEnv{})
		require.ErrorIs(t, err, ErrInUse, "the same sink")
		complete(t, w, 1)
		closed(t, w)
		closed(t, w) // twice does no harm
		w = open(t, Lines(path, opts...), runnel.SinkEnv{})
		closed(t, w)
	}
}

func TestFolderThatIsMissingIsMadeOnlyIfWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, opts := range map[string][]Option{"a/b/out": nil, "c/d/out-%d": {RollRecords(1)}} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		_, err := Lines(path, opts...).Open(context.Background(), runnel.SinkEnv{})
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "MakeDirs()")
		w := open(t, Lines(path, append(opts, MakeDirs())...), runnel.SinkEnv{})
		write(t, w, "x")
		complete(t, w, 1)
		closed(t, w)
		w = open(t, Lines(path, append(opts, MakeDirs(), Append())...), runnel.SinkEnv{})
		closed(t, w)
	}
}

func TestWhatIsNotARegularFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), os.DevNull} {
		_, err := Lines(path, Replace()).Open(context.Background(), runnel.SinkEnv{})
		require.ErrorContains(t, err, "not a regular file")
	}
}

func TestAFileWrittenThroughALinkIsTheLinkedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(target, link))
	w := open(t, Lines(link), runnel.SinkEnv{})
	write(t, w, "x")
	_, err := Lines(target, Append()).Open(context.Background(), runnel.SinkEnv{})
	require.ErrorIs(t, err, ErrInUse)
	complete(t, w, 1)
	closed(t, w)
	got, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "x\n", string(got))
}

func TestNewFilesHaveTheModeGiven(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	w := open(t, Lines(path, Mode(0o600)), runnel.SinkEnv{})
	closed(t, w)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

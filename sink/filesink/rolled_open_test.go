package filesink

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestStartOfNumberedFilesWithoutCheckpoint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		found  map[string]string
		opts   []Option
		want   map[string]string
		refuse string
		torn   int64
	}{
		{name: "nothing there", want: map[string]string{"o-1": "new\n"}},
		{name: "other names do not matter", found: map[string]string{"o-x": "", "o-01": "", "o-0": "", "p-1": "", ".o-1": ""},
			want: map[string]string{"o-x": "", "o-01": "", "o-0": "", "p-1": "", ".o-1": "", "o-1": "new\n"}},
		{name: "a finished file", found: map[string]string{"o-2": "old\n"}, refuse: "o-2 is there"},
		{name: "a part", found: map[string]string{".o-2.part": "old\n"}, refuse: ".o-2.part is there"},
		{name: "an empty part", found: map[string]string{".o-2.part": ""}, want: map[string]string{"o-1": "new\n"}},
		{name: "replaced", found: map[string]string{"o-2": "old\n", ".o-3.part": "old\n", "other": ""}, opts: []Option{Replace()},
			want: map[string]string{"o-1": "new\n", "other": ""}},
		{name: "appended", found: map[string]string{"o-2": "old\n"}, opts: []Option{Append()},
			want: map[string]string{"o-2": "old\n", "o-3": "new\n"}},
		{name: "appended behind what a crash left", opts: []Option{Append()}, torn: 6,
			found: map[string]string{"o-2": "old\n", ".o-3.part": "a\n", ".o-4.part": "b\nto", ".o-5.part": "", ".o-6.part": "torn"},
			want:  map[string]string{"o-2": "old\n", "o-3": "a\n", "o-4": "b\n", "o-7": "new\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			for name, text := range tc.found {
				put(t, mem, name, text)
			}
			s := Lines("o-%d", append(tc.opts, on(mem), RollRecords(9))...)
			w, err := s.Open(context.Background(), runnel.SinkEnv{})
			if tc.refuse != "" {
				require.ErrorIs(t, err, ErrExists)
				require.ErrorContains(t, err, tc.refuse)
				require.Equal(t, tc.found, contents(t, mem))
				require.Zero(t, mem.OpenFiles())
				return
			}
			require.NoError(t, err)
			write(t, w.(opened[string]), "new")
			complete(t, w.(opened[string]), 1)
			closed(t, w.(opened[string]))
			require.Equal(t, tc.want, contents(t, mem))
			require.Equal(t, tc.torn, s.Stats().TornBytes)
			require.Zero(t, mem.OpenFiles())
		})
	}
}

func TestAForeignFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	mem := faultfs.NewMem()
	make := func() *Sink[string] { return Lines("o-%d", on(mem), RollRecords(1)) }
	w := open(t, make(), runnel.SinkEnv{Durable: true})
	write(t, w, "a")
	token, err := w.Prepare(ctx, 1)
	require.NoError(t, err)
	put(t, mem, "o-1", "foreign\n")
	require.ErrorIs(t, w.Commit(ctx, 1, token), ErrExists)
	_, err = make().Open(ctx, runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
	require.ErrorIs(t, err, ErrExists)
	require.Equal(t, "foreign\n", content(t, mem, "o-1"))

	require.NoError(t, mem.Rename("o-1", "away")) // the way out
	put(t, mem, "o-7", "foreign\n")
	_, err = make().Open(ctx, runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
	require.ErrorIs(t, err, ErrExists, "a number that will be due")
	require.ErrorContains(t, err, "o-7")
	require.NoError(t, mem.Remove("o-7"))
	w = open(t, make(), runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
	complete(t, w, 2)
	closed(t, w)
	require.Equal(t, map[string]string{"o-1": "a\n", "away": "foreign\n"}, contents(t, mem))
}

// TestAWriterThatRollsMeanwhileKeepsOthersOut: another writer, which is alive, goes on to the next part between the look
// at the folder and the lock of the part that was the newest.
func TestAWriterThatRollsMeanwhileKeepsOthersOut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(mem *faultfs.Mem) error{
		"it began another part": func(mem *faultfs.Mem) error {
			f, err := fileconn.Create(mem, ".o-2.part", 0)
			if err != nil {
				return err
			}
			return f.Close()
		},
		"it ended":  func(mem *faultfs.Mem) error { return mem.Rename(".o-1.part", "o-1") },
		"it failed": func(mem *faultfs.Mem) error { return mem.Remove(".o-1.part") },
	} {
		mem := faultfs.NewMem()
		put(t, mem, ".o-1.part", "")
		fsys := faultfs.Inject(mem, func(c faultfs.Call) error {
			if c.Op == faultfs.OpOpen && c.Name == ".o-1.part" {
				return change(mem)
			}
			return nil
		})
		_, err := Lines("o-%d", on(fsys), RollRecords(1), Append()).Open(context.Background(), runnel.SinkEnv{})
		require.ErrorIs(t, err, ErrInUse, name)
		require.Zero(t, mem.OpenFiles(), name)
	}
}

// TestAHeaderThatThePowerTookIsNoLoss: it is written again.
func TestAHeaderThatThePowerTookIsNoLoss(t *testing.T) {
	t.Parallel()
	for path, opts := range map[string][]Option{"o": nil, "o-%d": {RollRecords(5)}} {
		mem := faultfs.NewMem()
		make := func() *Sink[int] { return CSV(path, header, rowOf, csvOptions(on(mem), append(opts, AckWritten()))...) }
		w := open(t, make(), runnel.SinkEnv{Durable: true})
		token := complete(t, w, 1)
		closed(t, w)
		for _, name := range names(t, mem) {
			require.NoError(t, mem.Truncate(name, 2))
			require.NoError(t, mem.Rename(name, map[string]string{"o": "o", "o-1": ".o-1.part"}[name]))
		}
		w = open(t, make(), runnel.SinkEnv{Durable: true, From: 1, Prepared: token})
		write(t, w, 1)
		complete(t, w, 2)
		closed(t, w)
		require.Equal(t, []string{"a,b\n1,x\n"}, values(contents(t, mem)), path)
	}
}

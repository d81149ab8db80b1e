package filesource

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// numbered returns lines that tell themselves apart.
func numbered(from, to int) (text string, lines []string) {
	var b strings.Builder
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf("line %d", i))
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String(), lines
}

func TestEveryPositionLeadsToTheRest(t *testing.T) {
	t.Parallel()
	const n = 1234
	text, want := numbered(0, n)
	third := len(text) / 3
	parts := []string{text[:third], text[third : 2*third], "", text[2*third:]}
	m := faultfs.NewMem()
	put(t, m, "plain", []byte(text))
	put(t, m, "dir/a", []byte(text[:strings.Index(text, "line 600")]))
	put(t, m, "dir/b", []byte(text[strings.Index(text, "line 600"):]))
	put(t, m, "gzip", pack(t, fileconn.PackGzip, text))
	put(t, m, "members", pack(t, fileconn.PackGzip, parts...))
	put(t, m, "zstd", pack(t, fileconn.PackZstd, parts...))
	put(t, m, "crlf", []byte("\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n")))
	for _, path := range []string{"plain", "dir", "gzip", "members", "zstd", "crlf"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			whole := readAll(t, Lines(path, on(m)), nil)
			require.Equal(t, want, whole.values)
			seen := 0
			for _, pos := range whole.behind {
				rest := readAll(t, Lines(path, on(m)), pos)
				seen = n - len(rest.values)
				require.Equal(t, want[seen:], append([]string{}, rest.values...))
				require.Equal(t, whole.origins[seen:], append([]runnel.Origin{}, rest.origins...))
			}
			require.Equal(t, n, seen, "the last position has nothing behind it")
		})
	}
}

func TestPositionHoldsTheStartOfTheMember(t *testing.T) {
	t.Parallel()
	text, want := numbered(0, 100_000)
	parts := []string{text[:len(text)/2], text[len(text)/2:]}
	m := faultfs.NewMem()
	first := pack(t, fileconn.PackGzip, parts[0])
	put(t, m, "f", append(first, pack(t, fileconn.PackGzip, parts[1])...))
	r := open(t, Lines("f", on(m)), nil)
	for len(r.values) < 90_000 {
		require.NoError(t, r.next(context.Background()))
	}
	marks, err := decodeToken(r.pos["f"])
	require.NoError(t, err)
	require.Equal(t, fileconn.Member{Packed: int64(len(first)), Plain: int64(len(parts[0]))}, marks[0].member)
	rest := readAll(t, Lines("f", on(m)), r.pos)
	require.Equal(t, want[len(r.values):], rest.values)
}

func TestErrorsNameTheLineAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	text, _ := numbered(0, 150)
	m := memWith(t, map[string]string{"f": text + "\x00\n"})
	r := open(t, Lines("f", on(m)), nil)
	require.NoError(t, r.next(context.Background()))
	require.Len(t, r.values, 100)
	_, at := causes(readAll(t, Lines("f", on(m)), r.pos).failed)
	require.EqualValues(t, 151, at[0].Line)
}

func TestFIL01FilesWithTheSameStartAreToldApart(t *testing.T) {
	t.Parallel()
	header := strings.Repeat("column,", 146) + "c\n" // 1 KiB
	m := memWith(t, map[string]string{"d/a.csv": header + "a1\na2\n", "d/b.csv": header + "b1\nb2\n"})
	r := readAll(t, Lines("d", on(m)), nil)
	require.Equal(t, []string{header[:len(header)-1], "a1", "a2", header[:len(header)-1], "b1", "b2"}, r.values)
	require.Empty(t, readAll(t, Lines("d", on(m)), r.pos).values)
}

func TestFIL01NewFileWithAnOldInodeIsReadFromItsStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, fresh string }{
		{"other content", strings.Repeat("old line\n", 60), strings.Repeat("new line\n", 80)},
		{"the same first bytes", strings.Repeat("same\n", 205) + "old\n", strings.Repeat("same\n", 205) + "new\n"},
		{"shorter", strings.Repeat("old line\n", 60), "old line\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := memWith(t, map[string]string{"f": c.old})
			before, err := m.Stat("f")
			require.NoError(t, err)
			r := readAll(t, Lines("f", on(m)), nil)
			require.NoError(t, m.Remove("f"))
			put(t, m, "f", []byte(c.fresh))
			after, err := m.Stat("f")
			require.NoError(t, err)
			require.Equal(t, fileconn.IDOf(before), fileconn.IDOf(after), "the test needs the inode again")

			again := readAll(t, Lines("f", on(m)), r.pos)
			require.Equal(t, strings.Split(strings.TrimSuffix(c.fresh, "\n"), "\n"), again.values)
			require.Zero(t, again.origins[0].Offset)
			require.Empty(t, readAll(t, Lines("f", on(m)), again.pos).values)
		})
	}
}

func TestNewFileUnderAnOldPathIsReadFromItsStart(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "ok\nok\n"})
	r := readAll(t, Lines("f", on(m)), nil)
	put(t, m, "g", []byte("ok\nok\nok\n"))
	require.NoError(t, m.Rename("g", "f"))
	require.Equal(t, []string{"ok", "ok", "ok"}, readAll(t, Lines("f", on(m)), r.pos).values)
}

func TestRenamedFileIsNotReadAgain(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"d/app.log": "one\ntwo\n"})
	r := readAll(t, Lines("d/*", on(m)), nil)
	require.NoError(t, m.Rename("d/app.log", "d/app.log.1"))
	add(t, m, "d/app.log.1", "late\n")
	add(t, m, "d/app.log", "three\n")
	again := readAll(t, Lines("d/*", on(m)), r.pos)
	require.ElementsMatch(t, []string{"late", "three"}, again.values)
	require.Empty(t, readAll(t, Lines("d/*", on(m)), again.pos).values)
}

func TestFIL02SmallFileIsRead(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "nineteen bytes here\n"})
	r := readAll(t, Lines("f", on(m)), nil)
	require.Equal(t, []string{"nineteen bytes here"}, r.values)
	require.Empty(t, readAll(t, Lines("f", on(m)), r.pos).values)

	add(t, m, "f", "and more\n") // the prefix grows with it
	grown := readAll(t, Lines("f", on(m)), r.pos)
	require.Equal(t, []string{"and more"}, grown.values)
	marks, err := decodeToken(grown.pos["f"])
	require.NoError(t, err)
	require.Equal(t, sumOf([]byte("nineteen bytes here\nand more\n")), marks[0].head)
}

func TestFinishedArchiveIsNotUnpackedAgain(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	put(t, m, "a.gz", pack(t, fileconn.PackGzip, "one\n"))
	r := readAll(t, Lines("a.gz", on(m)), nil)
	reads := 0
	counting := faultfs.Inject(m, func(c faultfs.Call) error {
		if c.Op == faultfs.OpRead {
			reads++
		}
		return nil
	})
	require.Empty(t, readAll(t, Lines("a.gz", on(counting)), r.pos).values)
	require.Zero(t, reads)

	add(t, m, "a.gz", string(pack(t, fileconn.PackGzip, "two\n")))
	require.Equal(t, []string{"two"}, readAll(t, Lines("a.gz", on(m)), r.pos).values)
}

func TestPositionOfAFileThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"d/a": "a\n", "d/b": "b\n"})
		source := Lines("d/*", on(m), ForgetAfter(time.Hour))
		r := readAll(t, source, nil)
		require.Len(t, r.pos, 2)
		require.NoError(t, m.Remove("d/a"))
		r = readAll(t, source, r.pos)
		require.Len(t, r.pos, 2, "it may come back")
		time.Sleep(59 * time.Minute)
		r = readAll(t, source, r.pos)
		require.Len(t, r.pos, 2)
		time.Sleep(time.Minute)
		r = readAll(t, source, r.pos)
		require.Len(t, r.pos, 1)
		require.Contains(t, r.pos, "d/b")
	})
}

func TestFileThatComesBackIsReadOn(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"d/a": "a\n", "d/b": "b\n"})
	r := readAll(t, Lines("d/*", on(m)), nil)
	require.NoError(t, m.Rename("d/a", "away"))
	r = readAll(t, Lines("d/*", on(m)), r.pos)
	require.NoError(t, m.Rename("away", "d/a"))
	add(t, m, "d/a", "more\n")
	r = readAll(t, Lines("d/*", on(m)), r.pos)
	require.Equal(t, []string{"more"}, r.values)
	require.Equal(t, []string{"d/a"}, []string{r.origins[0].Partition})
}

func TestOpenTellsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"a.log": "a\n", "b.log": "b\n"})
	denied := faultfs.Inject(m, func(c faultfs.Call) error {
		if c.Op == faultfs.OpOpen && c.Name == "b.log" {
			return &fs.PathError{Op: "open", Path: c.Name, Err: syscall.EACCES}
		}
		return nil
	})
	for _, c := range []struct {
		name string
		src  *Source[string]
		from checkpoint.Position
		err  error
		text string
	}{
		{"no file", Lines("c.log", on(m)), nil, ErrNoFiles, "filesource: c.log: no file matches"},
		{"no match", Lines("*.txt", on(m)), nil, ErrNoFiles, "filesource: *.txt: no file matches"},
		{"no permission", Lines("*.log", on(denied)), nil, fs.ErrPermission, "filesource: b.log: open: permission denied"},
		{"damaged position", Lines("*.log", on(m)), checkpoint.Position{"a.log": {1, 2}}, checkpoint.ErrToken, "filesource: a.log: "},
		{"option", Lines("", on(m), MaxLineBytes(0), Grace(-1)), nil, nil, "filesource: MaxLineBytes is less than 1"},
	} {
		_, err := c.src.Open(context.Background(), runnel.SourceEnv{}, c.from)
		require.ErrorContains(t, err, c.text, c.name)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, c.name)
		}
	}
	require.Zero(t, m.OpenFiles())
	require.Empty(t, readAll(t, Lines("c.log", on(m), AllowNone()), nil).values)
}

func TestFileThatVanishesBeforeItsTurnIsAnError(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"d/a": "a\n", "d/b": "b\n"})
	r := open(t, Lines("d", on(m)), nil)
	require.NoError(t, m.Remove("d/b"))
	err := r.all()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "d/b")
	require.Equal(t, []string{"a"}, r.values)
	require.Contains(t, r.pos, "d/a")
}

func TestLagCountsDown(t *testing.T) {
	t.Parallel()
	text, _ := numbered(0, 150)
	m := memWith(t, map[string]string{"d/a": text, "d/b": "12345\n"})
	put(t, m, "d/c.gz", pack(t, fileconn.PackGzip, text))
	size := int64(len(pack(t, fileconn.PackGzip, text)))
	r := open(t, Lines("d", on(m)), nil)
	lag := r.reader.(runnel.Lagger).Lag
	require.Equal(t, map[string]int64{"d/a": int64(len(text)), "d/b": 6, "d/c.gz": size}, lag())
	require.NoError(t, r.next(context.Background()))
	require.EqualValues(t, len(text)-strings.Index(text, "line 100"), lag()["d/a"])
	require.NoError(t, r.all())
	require.Equal(t, map[string]int64{"d/a": 0, "d/b": 0, "d/c.gz": 0}, lag())
}

func TestPositionsOfAPathAreCompared(t *testing.T) {
	t.Parallel()
	token := func(marks ...*mark) []byte { return encodeToken(marks) }
	first, later := &mark{number: 1, offset: 5}, &mark{number: 1, offset: 9}
	second := &mark{number: 2, offset: 1}
	for _, c := range []struct {
		name string
		a, b []byte
		want int
	}{
		{"same", token(first), token(first), 0},
		{"further in the file", token(first), token(later), -1},
		{"back in the file", token(later), token(first), 1},
		{"the next file", token(first), token(later, second), -1},
		{"the former file forgotten", token(first), token(second), -1},
		{"the next file lost", token(first, second), token(first), 1},
		{"both ways", token(later), token(first, second), 0},
		{"damaged", token(first), []byte{1}, 0},
	} {
		require.Equal(t, c.want, compareTokens(c.a, c.b), c.name)
		require.Equal(t, -c.want, compareTokens(c.b, c.a), c.name)
	}
}

func FuzzPositionToken(f *testing.F) {
	f.Add(encodeToken(nil))
	f.Add(encodeToken([]*mark{
		{number: 1, id: fileconn.FileID{Device: 5, Inode: 1 << 40}, offset: 3000, line: 12, head: sum{1024, 7}, tail: sum{256, 9},
			packed: true, finished: true, size: 99, changed: 1e18, gone: 1e9, member: fileconn.Member{Packed: 7, Plain: 2000}},
		{number: 2, replaced: true},
	}))
	f.Fuzz(func(t *testing.T, token []byte) {
		marks, err := decodeToken(token)
		if err != nil {
			return
		}
		again, err := decodeToken(encodeToken(marks))
		require.NoError(t, err)
		require.Equal(t, marks, again)
		require.Zero(t, compareTokens(token, token))
	})
}

package filesource

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/sink"
)

func TestPathThatDoesNotExistSaysSo(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"d/a.log": "a\n"})
	require.NoError(t, m.MkdirAll("empty", 0o755))
	const waysOut = "AllowNone() starts without one, Follow() waits for one"
	for _, c := range []struct {
		path   string
		absent bool
		text   string
	}{
		{"d/b.log", true, "filesource: d/b.log: no file matches: file does not exist; " + waysOut},
		{"no/b.log", true, "filesource: no/b.log: no file matches: file does not exist; " + waysOut},
		{"d/a.log/b.log", true, "filesource: d/a.log/b.log: no file matches: file does not exist; " + waysOut},
		{"d/*.csv", false, "filesource: d/*.csv: no file matches; " + waysOut},
		{"empty", false, "filesource: empty: no file matches; " + waysOut},
	} {
		_, err := Lines(c.path, on(m)).Open(context.Background(), runnel.SourceEnv{}, nil)
		require.EqualError(t, err, c.text)
		require.ErrorIs(t, err, ErrNoFiles, c.path)
		require.Equal(t, c.absent, errors.Is(err, fs.ErrNotExist), c.path)
	}
}

func TestErrorsOfARunNameEachPlaceOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		A int `csv:"a"`
		B string
	}
	m := memWith(t, map[string]string{
		"header.csv": "a\"a,b\n", "columns.csv": "x,y\n", "cell.csv": "a,b\n1,x\nx,2\n", "count.csv": "a,b\n1,x,y\n",
		"f.ndjson": "{}\n{\n", "f.log": "short\nlong line\n", "utf16.log": "\xff\xfea\n", "other.log": "x",
	})
	broken := func(name string, op faultfs.Op) Option {
		return on(faultfs.Inject(m, func(c faultfs.Call) error {
			if c.Op == op && c.Name == name {
				return &fs.PathError{Op: string(op), Path: name, Err: syscall.EIO}
			}
			return nil
		}))
	}
	for _, c := range []struct {
		run  func() error
		text string
	}{
		{runOf(CSV[row]("header.csv", on(m))), "runnel: s: read: filesource: header.csv: at byte 0: first record: " + ErrBareQuote.Error()},
		{runOf(CSV[row]("columns.csv", on(m))), `runnel: s: read: filesource: columns.csv: at byte 4: line 1: columns do not fit: missing ["a" "B"]; the header has 2 columns; if the file has no header, use CSVRows`},
		{runOf(CSV[row]("cell.csv", on(m))), `runnel: s: at s/cell.csv@8: filesource: line 3, 3 bytes long: column "a": not an integer`},
		{runOf(CSV[row]("count.csv", on(m))), "runnel: s: at s/count.csv@4: filesource: line 2, 5 bytes long: wrong number of fields: 3, not 2"},
		{runOf(NDJSON[row]("f.ndjson", on(m))), "runnel: s: at s/f.ndjson@3: filesource: line 2, 1 bytes long: json: unexpected end of JSON input (byte 1)"},
		{runOf(Lines("f.log", on(m), MaxLineBytes(5))), "runnel: s: at s/f.log@6: filesource: line 2, 9 bytes long: longer than the limit"},
		{runOf(Lines("utf16.log", on(m))), "runnel: s: read: filesource: utf16.log: at byte 0: file is UTF-16, not UTF-8"},
		{runOf(Lines("other.log", broken("other.log", faultfs.OpStat))), "runnel: s: open: filesource: other.log: stat: input/output error"},
		{runOf(Lines("other*", broken("other.log", faultfs.OpStat))), "runnel: s: open: filesource: other*: stat other.log: input/output error"},
		{runOf(Lines("other.log", broken("other.log", faultfs.OpOpen))), "runnel: s: open: filesource: other.log: open: input/output error"},
		{runOf(Lines("other.log", broken("other.log", faultfs.OpRead))), "runnel: s: read: filesource: other.log: at byte 0: read: input/output error"},
	} {
		require.EqualError(t, c.run(), c.text)
	}
}

// runOf returns the run of a pipeline that only reads a source.
func runOf[T any](src runnel.Source[T]) func() error {
	return func() error {
		p := runnel.New("job")
		runnel.From(p, src, runnel.Name("s")).To(sink.Discard[T]())
		return p.Run(context.Background())
	}
}

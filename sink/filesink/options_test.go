package filesink

import (
	"context"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// TestDocsOfOptionsNameTheirDefaults: the constants and what the docs say are the same.
func TestDocsOfOptionsNameTheirDefaults(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "options.go", nil, parser.ParseComments)
	require.NoError(t, err)
	docs := map[string]string{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			docs[f.Name.Name] = f.Doc.Text()
			require.Contains(t, f.Doc.Text(), "efault", "%s says what is without it", f.Name.Name)
		}
	}
	require.EqualValues(t, 262_144, defaultBlockBytes)
	require.Contains(t, docs["BlockBytes"], "The default is 262,144.")
	require.EqualValues(t, 0o644, defaultMode)
	require.Contains(t, docs["Mode"], "The default is 0644.")
	require.Equal(t, ',', defaultComma)
	require.Contains(t, docs["Comma"], "The default is ','.")
	require.Equal(t, config{blockBytes: defaultBlockBytes, mode: defaultMode, comma: defaultComma, fsys: defaultConfig().fsys}, defaultConfig())
}

// mistakes takes apart what Validate returned.
func mistakes(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var all []string
	for _, e := range joined.Unwrap() {
		all = append(all, e.Error())
	}
	return all
}

func TestEveryMistakeNamesThePath(t *testing.T) {
	t.Parallel()
	const packings = "filesink: b: Gzip, Zstd and Uncompressed exclude each other"
	plain := func(dst []byte, _ int) ([]byte, error) { return dst, nil }
	record := func(dst []byte, _ runnel.Record[int]) ([]byte, error) { return dst, nil }
	for name, tc := range map[string]struct {
		sink interface{ Validate() error }
		want []string
	}{
		"several": {Lines("b", BlockBytes(0), Level(3)), []string{
			"filesink: b: BlockBytes(0) is below 1", "filesink: b: Level without compression",
		}},
		"no path": {Lines("", BlockBytes(0)), []string{
			"filesink: the path is empty", "filesink: BlockBytes(0) is below 1",
		}},
		"nil for lines":        {Lines("b", nil), []string{"filesink: b: an option is nil"}},
		"nil for bytes":        {Bytes("b", nil), []string{"filesink: b: an option is nil"}},
		"nil for JSON":         {NDJSON[int]("b", nil), []string{"filesink: b: an option is nil"}},
		"nil for an encoder":   {Encode("b", plain, nil), []string{"filesink: b: an option is nil"}},
		"nil for records":      {EncodeRecord("b", record, nil), []string{"filesink: b: an option is nil"}},
		"nil for rows":         {CSV("b", nil, rowOf, nil), []string{"filesink: b: an option is nil"}},
		"nil for structs":      {CSVOf[struct{ A int }]("b", nil), []string{"filesink: b: an option is nil"}},
		"gzip and Zstandard":   {Lines("b", Gzip(), Zstd()), []string{packings}},
		"gzip and none":        {Lines("b", Uncompressed(), Gzip()), []string{packings}},
		"a format given twice": {Lines("b", Zstd(), Zstd()), nil},
	} {
		require.Equal(t, tc.want, mistakes(tc.sink.Validate()), name)
	}
}

func TestEveryFieldThatIsNoColumnIsReported(t *testing.T) {
	t.Parallel()
	type inner struct {
		E complex128
	}
	type row struct {
		A chan int
		B int `csv:"b,wrong"`
		C int
		D int       `csv:"d,layout=2006"`
		F time.Time `csv:"f,omitempty,layout=nonsense"`
		G int       `csv:"C"`
		inner
	}
	err := CSVOf[row]("o", Comma('"')).Validate()
	require.Len(t, mistakes(err), 7)
	for _, want := range []string{
		"field A of ", "field B of ", "field D of ", `field F of filesink.row: "nonsense" is no layout of a time`, "field E of ",
		`two columns named "C"`, `Comma('"') cannot`,
	} {
		require.ErrorContains(t, err, want)
	}
	for _, m := range mistakes(err) {
		require.True(t, strings.HasPrefix(m, "filesink: o: "), m)
	}
}

func TestFileUnderAnotherNameIsToBeNamedAsTheCheckpointHasIt(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Lines("old", on(mem)), runnel.SinkEnv{Durable: true})
	write(t, w, "a")
	env := runnel.SinkEnv{Durable: true, From: 1, Prepared: complete(t, w, 1)}
	closed(t, w)

	const advice = "; name the file old in the sink, as the checkpoint has it; bring it back, or go on"
	_, err := Lines("new", on(mem)).Open(context.Background(), env)
	require.ErrorIs(t, err, ErrLoss)
	require.ErrorContains(t, err, "filesink: new: the file is not what the checkpoint says: it is missing, checkpoint 1 has 2 bytes of it"+advice)
	put(t, mem, "new", "b\nc\n")
	_, err = Lines("new", on(mem)).Open(context.Background(), env)
	require.ErrorIs(t, err, ErrLoss)
	require.ErrorContains(t, err, "it has other bytes than the 2 of checkpoint 1"+advice)

	require.NoError(t, mem.Remove("new"))
	require.NoError(t, mem.Rename("old", "new"))
	w = open(t, Lines("new", on(mem)), env)
	closed(t, w)
	require.NoError(t, mem.Truncate("new", 1))
	_, err = Lines("new", on(mem)).Open(context.Background(), env)
	require.ErrorIs(t, err, ErrLoss)
}

func TestNumberedFilesUnderAnotherNameAreNotLeftBehind(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Lines("old-%d", on(mem), RollRecords(2)), runnel.SinkEnv{Durable: true})
	write(t, w, "a", "b", "c")
	token, err := w.Prepare(context.Background(), 1)
	require.NoError(t, err)
	require.NoError(t, w.Abort(context.Background()))
	closed(t, w)
	env := runnel.SinkEnv{Durable: true, From: 1, Prepared: token}

	_, err = Lines("new-%d", on(mem), RollRecords(2)).Open(context.Background(), env)
	require.ErrorIs(t, err, ErrLoss)
	require.ErrorContains(t, err, "it is still .old-1.part at checkpoint 1; name the file old-%d in the sink, as the checkpoint has it; ")
	allowed := Lines("new-%d", on(mem), RollRecords(2), AllowLoss())
	closed(t, open(t, allowed, env))
	require.EqualValues(t, 6, allowed.Stats().LostBytes)
	closed(t, open(t, Lines("./old-%d", on(mem), RollRecords(2)), env))
	require.Equal(t, "a\nb\n", content(t, mem, "old-1"))
}

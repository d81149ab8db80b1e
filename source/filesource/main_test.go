package filesource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// on lets a source read another file system than the machine's.
func on(fsys fileconn.FS) Option { return option(func(c *config) { c.fsys = fsys }) }

// put writes a file, and its directory.
func put(t testing.TB, fsys fileconn.FS, path string, content []byte) {
	t.Helper()
	require.NoError(t, fsys.MkdirAll(filepath.Dir(path), 0o755))
	f, err := fileconn.Create(fsys, path, 0o644)
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// add appends to a file, which is made if it is not there.
func add(t testing.TB, fsys fileconn.FS, path, text string) {
	t.Helper()
	require.NoError(t, fsys.MkdirAll(filepath.Dir(path), 0o755))
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// pack compresses each part as a member of its own.
func pack(t testing.TB, p fileconn.Packing, parts ...string) []byte {
	t.Helper()
	var all []byte
	for _, part := range parts {
		packed, err := fileconn.Pack([]byte(part), p, 0)
		require.NoError(t, err)
		all = append(all, packed...)
	}
	return all
}

// run reads a source and keeps what it gave.
type run[T any] struct {
	t      testing.TB
	reader runnel.Reader[T]

	values  []T
	origins []runnel.Origin
	failed  []runnel.Failed
	pos     checkpoint.Position // as a checkpoint behind the last fetch would hold it
	behind  []checkpoint.Position
}

// open opens a source at a position and closes it when the test ends.
func open[T any](t testing.TB, s *Source[T], from checkpoint.Position) *run[T] {
	t.Helper()
	r := &run[T]{t: t, pos: checkpoint.Position{}}
	for path, token := range from {
		r.pos[path] = bytes.Clone(token)
	}
	var err error
	r.reader, err = s.Open(context.Background(), runnel.SourceEnv{Name: "files", MaxBatch: 100}, r.pos.Clone())
	require.NoError(t, err)
	t.Cleanup(r.close)
	return r
}

func (r *run[T]) close() { require.NoError(r.t, r.reader.Close(context.Background())) }

// next takes one fetch.
func (r *run[T]) next(ctx context.Context) error {
	fetch, err := r.reader.Read(ctx)
	for i, v := range fetch.Values() {
		r.values = append(r.values, v)
		r.origins = append(r.origins, fetch.Meta(i).Origin)
	}
	r.failed = append(r.failed, fetch.Failed...)
	if fetch.Len()+len(fetch.Failed) > 0 {
		require.NotEmpty(r.t, fetch.Position, "records without a position")
		require.LessOrEqual(r.t, fetch.Len()+len(fetch.Failed), 100)
	}
	for path, token := range fetch.Position {
		if r.pos[path] = token; token == nil {
			delete(r.pos, path)
		}
	}
	if len(fetch.Position) > 0 {
		r.behind = append(r.behind, r.pos.Clone())
	}
	return err
}

// all reads to the end.
func (r *run[T]) all() error {
	for {
		if err := r.next(context.Background()); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// during reads for a time, and returns what came.
func (r *run[T]) during(d time.Duration) []T {
	r.t.Helper()
	r.values = nil
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for {
		if err := r.next(ctx); err != nil {
			require.ErrorIs(r.t, err, context.DeadlineExceeded)
			return r.values
		}
	}
}

// readAll reads a source from a position to its end.
func readAll[T any](t testing.TB, s *Source[T], from checkpoint.Position) *run[T] {
	t.Helper()
	r := open(t, s, from)
	require.NoError(t, r.all())
	r.close()
	return r
}

// causes returns the cause and the place of each failed record.
func causes(failed []runnel.Failed) (errs []error, at []RecordError) {
	for _, f := range failed {
		var place *RecordError
		if errors.As(f.Err, &place) {
			errs = append(errs, place.Err)
			at = append(at, RecordError{Path: place.Path, Line: place.Line, Offset: place.Offset, Length: place.Length})
		}
	}
	return errs, at
}

func memWith(t testing.TB, files map[string]string) *faultfs.Mem {
	t.Helper()
	m := faultfs.NewMem()
	for path, content := range files {
		put(t, m, path, []byte(content))
	}
	return m
}

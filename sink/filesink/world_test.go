package filesink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// on has a sink use a file system of the test.
func on(fsys fileconn.FS) Option { return option(func(c *config) { c.fsys = fsys }) }

// clock is a clock that the test sets, and that moves by step with each look at it.
type clock struct {
	now  time.Time
	step time.Duration
}

func (c *clock) Now() time.Time {
	c.now = c.now.Add(c.step)
	return c.now
}

func (c *clock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// opened is a writer with its abilities.
type opened[T any] interface {
	runnel.Writer[T]
	runnel.Transactional
}

func open[T any](t *testing.T, s *Sink[T], env runnel.SinkEnv) opened[T] {
	t.Helper()
	w, err := s.Open(context.Background(), env)
	require.NoError(t, err)
	return w.(opened[T])
}

func batch[T any](values ...T) runnel.Batch[T] { return runnel.NewBatch(values, nil) }

// complete prepares and commits a checkpoint and returns its token.
func complete[T any](t *testing.T, w opened[T], n checkpoint.Number) []byte {
	t.Helper()
	token, err := w.Prepare(context.Background(), n)
	require.NoError(t, err)
	require.NoError(t, w.Commit(context.Background(), n, token))
	return token
}

// write writes values, which have to have place.
func write[T any](t *testing.T, w opened[T], values ...T) {
	t.Helper()
	require.NoError(t, w.Write(context.Background(), batch(values...)))
}

func closed[T any](t *testing.T, w opened[T]) {
	t.Helper()
	require.NoError(t, w.Close(context.Background()))
}

// put makes a file.
func put(t *testing.T, fsys fileconn.FS, name, content string) {
	t.Helper()
	f, err := fileconn.Create(fsys, name, 0o644)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.NoError(t, fsys.SyncDir(filepath.Dir(name)))
}

// content returns what is in a file as it is.
func content(t *testing.T, fsys fileconn.FS, name string) string {
	t.Helper()
	f, err := fileconn.Open(fsys, name)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(b)
}

// unpacked returns what is in a file whose name says how it is compressed.
func unpacked(t *testing.T, fsys fileconn.FS, name string) string {
	t.Helper()
	packed := content(t, fsys, name)
	switch filepath.Ext(strings.TrimSuffix(name, hiddenSuffix)) {
	case ".gz":
		z, err := gzip.NewReader(strings.NewReader(packed))
		require.NoError(t, err)
		b, err := io.ReadAll(z)
		require.NoError(t, err)
		return string(b)
	case ".zst":
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		require.NoError(t, err)
		defer z.Close()
		b, err := z.DecodeAll([]byte(packed), nil)
		require.NoError(t, err)
		return string(b)
	}
	return packed
}

// names returns the files in the working folder of a file system.
func names(t *testing.T, fsys fileconn.FS) []string {
	t.Helper()
	entries, err := fsys.ReadDir(".")
	require.NoError(t, err)
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// errCrash is what every call returns once the process of a test has ended.
var errCrash = errors.New("the process has ended")

// host is a machine: a file system, the store of checkpoints, and a process that may end at any call.
type host struct {
	mem     *faultfs.Mem
	calls   int
	crashAt int // the call that does not happen any more; 0 means none
	writer  runnel.Writer[int]
	store   struct {
		n     checkpoint.Number
		next  int
		token []byte
	}
}

// step counts a call and says whether the process still lives.
func (h *host) step() error {
	h.calls++
	if h.crashAt > 0 && h.calls >= h.crashAt {
		return errCrash
	}
	return nil
}

func (h *host) hook(c faultfs.Call) error {
	err := h.step()
	if err != nil && h.calls == h.crashAt && c.Op == faultfs.OpWrite {
		return &faultfs.Short{N: c.Len / 2, Err: err} // it ended in the middle
	}
	return err
}

// job is a pipeline that writes the numbers 0 to count-1 in batches with a checkpoint after each.
type job struct {
	make         func(fileconn.FS) *Sink[int]
	count, batch int
	packed       bool
}

// run runs the job from the last checkpoint until it ends or the process does.
func (h *host) run(j job) error {
	ctx := context.Background()
	s := j.make(faultfs.Inject(h.mem, h.hook))
	w, err := s.Open(ctx, runnel.SinkEnv{
		Name: "out", From: h.store.n, Prepared: h.store.token, Durable: true, Clock: &clock{now: time.Unix(1, 0), step: 1},
	})
	if err != nil {
		return err
	}
	h.writer = w
	tx := w.(runnel.Transactional)
	next := h.store.next
	if h.store.n == 0 {
		if err := h.checkpoint(ctx, tx, next); err != nil {
			return err
		}
	}
	for next < j.count {
		var values []int
		for range min(j.batch, j.count-next) {
			values = append(values, next)
			next++
		}
		if err := w.Write(ctx, batch(values...)); err != nil {
			return err
		}
		if err := h.checkpoint(ctx, tx, next); err != nil {
			return err
		}
	}
	return w.Close(ctx)
}

// checkpoint prepares, decides and commits; the process may end between any two of these.
func (h *host) checkpoint(ctx context.Context, tx runnel.Transactional, next int) error {
	n := h.store.n + 1
	token, err := tx.Prepare(ctx, n)
	if err != nil {
		return err
	}
	if err := h.step(); err != nil {
		return err
	}
	h.store.n, h.store.next, h.store.token = n, next, token
	if err := h.step(); err != nil {
		return err
	}
	return tx.Commit(ctx, n, token)
}

// restart ends the process, and with power lost also what was not synced but keep bytes of each file.
func (h *host) restart(power bool, keep int) {
	h.calls, h.crashAt = 0, 0
	if power {
		h.mem = h.mem.Crash(keep)
	}
}

// numbers returns what the job wrote, from one file or from numbered ones.
func numbers(t *testing.T, fsys fileconn.FS, header string) []int {
	t.Helper()
	got := []int{}
	for _, name := range names(t, fsys) {
		require.NotContains(t, name, hiddenSuffix, "a part has no name yet")
		text, ok := strings.CutPrefix(unpacked(t, fsys, name), header)
		require.True(t, ok, "%s begins with its header", name)
		for line := range strings.Lines(text) {
			var n int
			_, err := fmt.Sscanf(line, "%d\n", &n)
			require.NoError(t, err, "%s: line %q", name, line)
			got = append(got, n)
		}
	}
	return got
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// jobs are jobs of every kind. Files are in the order of their names.
func jobs(opts ...Option) map[string]job {
	all := map[string]job{}
	for _, ext := range []string{"", ".gz", ".zst"} {
		for kind, roll := range map[string][]Option{
			"one file": nil, "by records": {RollRecords(3)}, "by bytes": {RollBytes(5)}, "at each checkpoint": {RollEvery(1)},
		} {
			name := "out" + ext
			if roll != nil {
				name = "out-%03d" + ext
			}
			all[kind+ext] = job{count: 11, batch: 2, packed: ext != "", make: func(fsys fileconn.FS) *Sink[int] {
				o := slices.Concat([]Option{on(fsys), BlockBytes(4)}, roll, opts)
				return NDJSON[int](name, o...)
			}}
		}
	}
	return all
}

package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// paced is a source whose records come so that a checkpoint each second stands behind every one: of n records, the
// first checkpoint of a durable store is in front of the first, and number n+1 behind the last.
func paced(n int) *numbers {
	src := &numbers{n: n}
	src.onRead = func(ctx context.Context, at int) error {
		if at >= n {
			return nil
		}
		return sleep(ctx, 1400*time.Millisecond)
	}
	return src
}

// shaped builds a pipeline whose checkpoints are bound to a source, a stage and a sink.
func shaped(pipeline, source, stage, sink string, store checkpoint.Store, n int) (*runnel.Pipeline, *numbers, *collect[int]) {
	src, out := &numbers{n: n}, &collect[int]{kind: txSink}
	p := runnel.New(pipeline, runnel.Checkpoint(store))
	sum(runnel.From(p, src, runnel.Name(source)), runnel.Name(stage)).To(out, runnel.Name(sink))
	return p, src, out
}

func TestStartGoesOnAtTheStoredCheckpoint(t *testing.T) {
	t.Parallel()
	store := checkpoint.Dir(t.TempDir())
	p, _, _ := shaped("p", "src", "sum", "out", store, 3)
	require.NoError(t, p.Run(t.Context()))
	before := p.Status().Checkpoint
	p, src, out := shaped("p", "src", "sum", "out", store, 5)
	var env runnel.SinkEnv
	out.onOpen = func(_ context.Context, e runnel.SinkEnv) error { env = e; return nil }
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, "open at 3", src.all()[0])
	require.Equal(t, []int{0 + 1 + 2 + 3, 0 + 1 + 2 + 3 + 4}, out.got(), "the sum goes on too")
	require.Equal(t, before, env.From)
	require.Equal(t, fmt.Sprint("token ", before), string(env.Prepared))
	require.True(t, env.Durable)
	require.Equal(t, before, p.Status().From)
}

func TestCheckpointOfAnotherGraphIsRefusedWithWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names [4]string
		want  []string
	}{
		"a source has another name": {[4]string{"p", "source", "sum", "out"}, []string{
			"source src is in the checkpoint and not in the pipeline", "source source is in the pipeline and not in the checkpoint"}},
		"a stage has another name": {[4]string{"p", "src", "total", "out"}, []string{
			"stage sum is in the checkpoint and not in the pipeline", "stage total is in the pipeline and not in the checkpoint"}},
		"a sink has another name": {[4]string{"p", "src", "sum", "orders"}, []string{
			"sink out is in the checkpoint and not in the pipeline", "sink orders is in the pipeline and not in the checkpoint",
			"change the names back, or start anew with another store or a reset one"}},
		"the pipeline has another name": {[4]string{"q", "src", "sum", "out"}, []string{`pipeline "q"`, `"p"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, store := range []checkpoint.Store{checkpoint.Dir(t.TempDir()), checkpoint.Memory()} {
				p, _, _ := shaped("p", "src", "sum", "out", store, 3)
				require.NoError(t, p.Run(t.Context()))
				p, src, out := shaped(c.names[0], c.names[1], c.names[2], c.names[3], store, 3)
				err := p.Run(t.Context())
				for _, want := range c.want {
					require.ErrorContains(t, err, want)
				}
				require.Empty(t, src.all())
				require.Empty(t, out.all(), "nothing was opened")
			}
		})
	}
}

func TestStoreThatAnotherRunHoldsIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := checkpoint.Dir(dir).Open(t.Context(), "p")
	require.NoError(t, err)
	p, src, _ := shaped("p", "src", "sum", "out", checkpoint.Dir(dir), 3)
	err = p.Run(t.Context())
	require.ErrorIs(t, err, checkpoint.ErrInUse)
	require.ErrorContains(t, err, `pipeline "p"`)
	require.ErrorContains(t, err, fmt.Sprint(os.Getpid()), "who holds it")
	require.Empty(t, src.all())
	require.NoError(t, log.Close())
}

// damagedLog says that the newest checkpoints cannot be read.
type damagedStore struct {
	checkpoint.Store
	intact checkpoint.Number
}

func (s damagedStore) Open(ctx context.Context, p string) (checkpoint.Log, error) {
	log, err := s.Store.Open(ctx, p)
	return damagedLog{log, s.intact}, err
}

type damagedLog struct {
	checkpoint.Log
	intact checkpoint.Number
}

func (l damagedLog) Load(ctx context.Context, n checkpoint.Number) (*checkpoint.Checkpoint, error) {
	if n == 0 {
		c, err := l.Log.Load(ctx, 0)
		if err == nil && c.Number > l.intact {
			return nil, &checkpoint.DamagedError{Number: c.Number, Place: "file 7", Intact: l.intact, Err: errors.New("bad checksum")}
		}
		return c, err
	}
	return l.Log.Load(ctx, n)
}

func TestDamagedNewestCheckpointFallsBackUnlessASinkIsTransactional(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   sinkKind
		intact checkpoint.Number
		opens  string // "" if the start is refused
	}{
		"a plain sink":                        {plainSink, 4, "open at 3"},
		"a plain sink, and nothing is intact": {plainSink, 0, "open at 0"},
		"a plain sink, and what is said to be intact is not there": {plainSink, 1, "not found"},
		"a late sink":                             {lateSink, 4, "open at 3"},
		"a transactional sink":                    {txSink, 4, ""},
		"a transactional sink and nothing intact": {txSink, 0, ""},
		"a deciding sink":                         {decidingSink, 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := durably{checkpoint.Memory()}
				out := &collect[int]{kind: c.kind}
				life := func(s checkpoint.Store) (*numbers, error) {
					src := paced(4)
					p := runnel.New("p", every(s, time.Second))
					runnel.From(p, src).To(out, runnel.Name("out"))
					return src, p.Run(t.Context())
				}
				_, err := life(store)
				require.NoError(t, err)
				src, err := life(damagedStore{store, c.intact})
				if c.opens == "not found" {
					require.ErrorIs(t, err, checkpoint.ErrNotFound, "and no start from the beginning")
					return
				}
				if c.opens != "" {
					require.NoError(t, err)
					require.Equal(t, c.opens, src.all()[0])
					return
				}
				require.ErrorContains(t, err, "is damaged: file 7: bad checksum")
				require.ErrorContains(t, err, fmt.Sprintf("out is transactional, so an older checkpoint (%d) would repeat what it has published", c.intact))
				require.ErrorContains(t, err, "restore the file, or reset")
				require.Empty(t, src.all())
			})
		})
	}
}

func TestDamagedFileInTheFolderFallsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		life := func(n int) *numbers {
			src := paced(n)
			p := runnel.New("p", every(checkpoint.Dir(dir), time.Second))
			runnel.From(p, src).To(&collect[int]{})
			require.NoError(t, p.Run(t.Context()))
			return src
		}
		life(4)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		slices.Sort(files)
		damaged := false
		for _, f := range slices.Backward(files) {
			content, err := os.ReadFile(f)
			require.NoError(t, err)
			if len(content) > 40 && !damaged {
				content[len(content)/2] ^= 0xff
				require.NoError(t, os.WriteFile(f, content, 0o600))
				damaged = true
			}
		}
		require.True(t, damaged, "%v", files)
		require.NotEqual(t, "open at 4", life(4).all()[0], "an older checkpoint repeats some")
	})
}

// Invariant 10: whatever the store holds, a start reaches the checkpoint that the decider has decided.
func TestStartGoesToWhatTheDeciderHasDecided(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decided checkpoint.Number // instead of the newest, 5
		opens   string
		fails   string
	}{
		"the newest":                 {5, "open at 4", ""},
		"the one before":             {4, "open at 3", ""},
		"an older one":               {3, "open at 2", ""},
		"one that was pruned":        {1, "", "checkpoint: not found: 1 in memory"},
		"none":                       {0, "open at 0", ""},
		"one that the store has not": {9, "", "it has decided checkpoint 9, and the store's newest is 5: the store is older than the sink"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, out := durably{checkpoint.Memory()}, &collect[int]{kind: decidingSink}
				life := func() (*numbers, error) {
					src := paced(4)
					p := runnel.New("p", every(store, time.Second))
					runnel.From(p, src).To(out, runnel.Name("out"))
					return src, p.Run(t.Context())
				}
				_, err := life()
				require.NoError(t, err)
				out.decided = c.decided
				src, err := life()
				if c.fails != "" {
					require.ErrorContains(t, err, "out: "+c.fails)
					require.Empty(t, src.all())
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.opens, src.all()[0])
				require.Greater(t, out.decided, c.decided)
			})
		})
	}
}

// Without a store that lasts, the decider's number is all there is; sources begin where their own system says.
func TestDeciderCountsOnWithoutADurableStore(t *testing.T) {
	t.Parallel()
	out := &collect[int]{kind: decidingSink, decided: 7}
	p := runnel.New("p")
	runnel.From(p, &numbers{n: 2}).To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, checkpoint.Number(8), out.decided)
}

// A durable store that is empty gets a checkpoint in front of the first record, so that a transactional sink knows
// from its first start on what is its own.
func TestDurableStoreGetsACheckpointBeforeTheFirstRecordIsWritten(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]sinkKind{"transactional": txSink, "deciding": decidingSink} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, out := durably{checkpoint.Memory()}, &collect[int]{kind: kind}
			out.onWrite = func(context.Context, runnel.Batch[int]) error { return errors.New("stop here") }
			p := runnel.New("p", runnel.Checkpoint(store))
			runnel.From(p, &numbers{n: 1}).To(out, runnel.Name("out"))
			require.ErrorContains(t, p.Run(t.Context()), "stop here")
			log, err := store.Open(t.Context(), "p")
			require.NoError(t, err)
			c, err := log.Load(t.Context(), 0)
			require.NoError(t, err)
			require.EqualValues(t, 1, c.Number)
		})
	}
}

// A writer that needs no token for its commit is told of what it prepared all the same.
func TestEmptyTokenOfAPreparedCheckpointIsNotTakenForNone(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]checkpoint.Store{"memory": checkpoint.Memory(), "folder": checkpoint.Dir(t.TempDir())} {
		for _, token := range [][]byte{nil, {}} {
			t.Run(fmt.Sprint(name, token == nil), func(t *testing.T) {
				out := tokenless{&collect[int]{kind: txSink}, token}
				var env runnel.SinkEnv
				out.onOpen = func(_ context.Context, e runnel.SinkEnv) error { env = e; return nil }
				for range 2 {
					p := runnel.New("p", runnel.Checkpoint(store))
					runnel.From(p, &numbers{n: 1}, runnel.Name("in")).To(out, runnel.Name("out"))
					require.NoError(t, p.Run(t.Context()))
				}
				require.NotNil(t, env.Prepared)
				require.Empty(t, env.Prepared)
			})
		}
	}
}

// tokenless is a transactional sink that needs no token.
type tokenless struct {
	*collect[int]
	token []byte
}

func (s tokenless) Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[int], error) {
	w, err := s.collect.Open(ctx, env)
	return tokenlessWriter{w.(collectTx[int]), s.token}, err
}

type tokenlessWriter struct {
	collectTx[int]
	token []byte
}

func (w tokenlessWriter) Prepare(ctx context.Context, n checkpoint.Number) ([]byte, error) {
	_, err := w.collectTx.Prepare(ctx, n)
	return w.token, err
}

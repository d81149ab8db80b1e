package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestPositionThatWouldLoseWhereTheSourceIsEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pos  checkpoint.Position
		want string
	}{
		"none":                     {nil, "read: records without a position"},
		"an empty one":             {checkpoint.Position{}, "read: records without a position"},
		"only a dropped partition": {checkpoint.Position{"p": nil}, "read: records without a position"},
		"an empty token":           {checkpoint.Position{"p": {}}, `read: the position of partition "p" is empty`},
		"one that goes back":       {at(1), `read: the position of partition "p" goes back`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answer error
			src, out, store := &numbers{n: 5, size: 2}, &collect[int]{}, checkpoint.Memory()
			src.onFetch = func(f *runnel.Fetch[int]) {
				if f.Values()[0] == 2 {
					f.Position, f.Drain = c.pos, func(err error) { answer = err }
				}
			}
			p := runnel.New("p", runnel.Checkpoint(store))
			runnel.From(p, backward{src}, runnel.Name("src")).To(out)
			err := p.Run(t.Context())
			require.ErrorContains(t, err, "runnel: src: "+c.want)
			require.ErrorContains(t, answer, c.want, "the drain of that fetch is refused")
			log, err := store.Open(t.Context(), "p")
			require.NoError(t, err)
			_, err = log.Load(t.Context(), 0)
			require.ErrorIs(t, err, checkpoint.ErrNotFound, "nothing was stored")
		})
	}
}

// backward is a source that can compare positions.
type backward struct{ *numbers }

func (s backward) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r, err := s.numbers.Open(ctx, env, from)
	return backwardReader{r}, err
}

type backwardReader struct{ runnel.Reader[int] }

func (backwardReader) ComparePosition(_ string, a, b []byte) int { return int(a[0]) - int(b[0]) }

func TestSourceWithoutAReaderAndSinkWithoutAWriterAreErrors(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	runnel.From(p, emptySource{}).To(&collect[int]{})
	require.ErrorContains(t, p.Run(t.Context()), "source-1: open: it returned no reader")
	p = runnel.New("p")
	runnel.From(p, &numbers{}).To(nothing{})
	require.ErrorContains(t, p.Run(t.Context()), "sink-1: open: it returned no writer")
}

// nothing is a sink that opens nothing; emptySource is such a source.
type nothing struct{}

func (nothing) Open(context.Context, runnel.SinkEnv) (runnel.Writer[int], error) { return nil, nil }

type emptySource struct{}

func (emptySource) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[int], error) {
	return nil, nil
}

func TestFetchIsCutIntoBatchesOfTheSizeThatIsSet(t *testing.T) {
	t.Parallel()
	out := &collect[int]{}
	var sizes []int
	out.onWrite = func(_ context.Context, b runnel.Batch[int]) error {
		sizes = append(sizes, b.Len())
		for i, v := range b.Values() {
			require.EqualValues(t, v, b.Meta(i).Origin.Offset)
		}
		return nil
	}
	p := runnel.New("p", runnel.MaxBatch(4))
	runnel.From(p, &numbers{n: 20, size: 10}).To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []int{4, 4, 2, 4, 4, 2}, sizes)
}

func TestRecordsThatCannotBeDecodedGoByThePolicyOfTheSource(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad JSON")
	fetch := func(f *runnel.Fetch[int]) {
		if f.Values()[0] == 2 {
			f.Failed = []runnel.Failed{{Value: "x", Err: bad, Meta: f.Meta(0)}, {Value: "y", Err: bad}}
		}
	}
	for name, c := range map[string]struct {
		opts   func(dead *collect[runnel.Failed]) []runnel.StageOption
		fails  string
		status func(runnel.SourceStatus) int64
	}{
		"by default the run fails": {func(*collect[runnel.Failed]) []runnel.StageOption { return nil },
			"runnel: source-1: at source-1/p@2: bad JSON", nil},
		"skip": {func(*collect[runnel.Failed]) []runnel.StageOption { return []runnel.StageOption{runnel.Skip()} },
			"", func(s runnel.SourceStatus) int64 { return s.Skipped }},
		"dead letters": {func(d *collect[runnel.Failed]) []runnel.StageOption {
			return []runnel.StageOption{runnel.DeadLetter(d)}
		},
			"", func(s runnel.SourceStatus) int64 { return s.DeadLettered }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, out, dead := &numbers{n: 4, onFetch: fetch}, &collect[int]{}, &collect[runnel.Failed]{}
			p := runnel.New("p")
			runnel.From(p, src, c.opts(dead)...).To(out)
			err := p.Run(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				require.ErrorIs(t, err, bad)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []int{0, 1, 2, 3}, out.got())
			s := p.Status().Sources[0]
			require.EqualValues(t, 2, c.status(s))
			require.EqualValues(t, 6, s.Read, "4 and what could not be decoded")
			require.EqualValues(t, 6, s.Committed)
			if name == "dead letters" {
				require.Len(t, dead.got(), 2)
				f := dead.got()[0]
				require.Equal(t, "source-1", f.Stage)
				require.Equal(t, 1, f.Attempts)
				require.Equal(t, "source-1/p@2", f.Origin.String())
			}
		})
	}
}

func TestSourcesMayEndAtDifferentTimesAndHaveNoRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, store := &collect[int]{}, checkpoint.Memory()
		empty, short, long := &numbers{}, paced(2), paced(8)
		p := runnel.New("p", every(store, time.Second))
		runnel.Merge(runnel.From(p, empty), runnel.From(p, short), runnel.From(p, long)).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.Len(t, out.got(), 10)
		require.Equal(t, []string{"open at 0", "close"}, empty.all(), "it has no position, so there is nothing to commit")
		require.Equal(t, []string{"open at 0", "commit 1", "commit 2", "close"}, short.all())
		log, err := store.Open(t.Context(), "p")
		require.NoError(t, err)
		c, err := log.Load(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, map[string]checkpoint.Position{"source-2": at(2), "source-3": at(8)}, c.Sources,
			"a source that has ended keeps its last position in every later checkpoint")
	})
}

func TestPipelineOfEmptySourcesEnds(t *testing.T) {
	t.Parallel()
	for _, store := range []checkpoint.Store{checkpoint.Memory(), durably{checkpoint.Memory()}} {
		p := runnel.New("p", runnel.Checkpoint(store))
		runnel.From(p, &numbers{}, runnel.Name("a")).To(&collect[int]{})
		runnel.From(p, &numbers{}, runnel.Name("b")).To(&collect[int]{})
		require.NoError(t, p.Run(t.Context()))
	}
}

func TestErrorOfARunThatFailsIsToldToReadersThatCannotReadAgain(t *testing.T) {
	t.Parallel()
	src, out := &numbers{n: 3}, &collect[int]{}
	out.onCall = on("flush", func(context.Context) error { return errBroken })
	p := runnel.New("p")
	runnel.From(p, src).To(out)
	require.ErrorIs(t, p.Run(t.Context()), errBroken)
	require.Equal(t, []string{"open at 0", "abandon: runnel: sink-1: flush: the connection broke", "close"}, src.all())
}

// A reader may say that it has ended when its context does. Behind a stop there is no end of the stream: what a stage
// holds for it stays open.
func TestReaderThatEndsWithItsContextIsStoppedAndNotEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := &numbers{n: 3, endless: true}
		src.onRead = func(ctx context.Context, at int) error {
			if at < 3 {
				return nil
			}
			<-ctx.Done()
			return io.EOF
		}
		p := runnel.New("p")
		flushes := &flushes{}
		runnel.Apply(runnel.From(p, src), "flush", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
			return flushes, nil
		}).To(&collect[int]{})
		stop, _ := run(t, p)
		synctest.Wait()
		require.NoError(t, stop())
		require.Equal(t, 1, flushes.n, "for the last marker, and none for an end")
	})
}

// A last fetch that is not let in any more is read again; it does not end the stream.
func TestLastFetchThatIsNotLetInDoesNotEndTheStream(t *testing.T) {
	t.Parallel()
	for range 50 { // the reader and the last marker race
		synctest.Test(t, func(t *testing.T) {
			src, out, flushes := &numbers{n: 2}, &collect[int]{}, &flushes{}
			out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { return sleep(ctx, 10*time.Second) }
			p := runnel.New("p", runnel.MaxInFlight(1), runnel.MaxBatch(1))
			runnel.Apply(runnel.From(p, finalFetch{src}), "flush", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
				return flushes, nil
			}).To(out)
			stop, _ := run(t, p)
			synctest.Wait()
			require.NoError(t, stop())
			require.Equal(t, []int{0}, out.got())
			require.Equal(t, 2, flushes.n, "for the marker of the limit, and the last")
			require.EqualValues(t, 1, p.Status().Sources[0].Abandoned)
		})
	}
}

// finalFetch is a source that says with its last records that they are the last.
type finalFetch struct{ *numbers }

func (s finalFetch) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r, err := s.numbers.Open(ctx, env, from)
	return finalReader{r, s.n}, err
}

type finalReader struct {
	runnel.Reader[int]
	n int
}

func (r finalReader) Read(ctx context.Context) (runnel.Fetch[int], error) {
	f, err := r.Reader.Read(ctx)
	if err == nil && string(f.Position["p"]) == fmt.Sprint(r.n) {
		err = io.EOF
	}
	return f, err
}

// flushes is a stage that counts how often it is told to flush: before each marker, and at the end.
type flushes struct{ n int }

func (s *flushes) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	out.EmitBatch(in)
	return nil
}

func (s *flushes) Flush(context.Context, *runnel.Out[int]) error { s.n++; return nil }

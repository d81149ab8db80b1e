package runnel_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// touchy is a stage with every ability, that panics in one of its methods.
type touchy struct {
	total
	in string
}

func (s *touchy) panics(in string) {
	if s.in == in {
		panic("a bug in " + in)
	}
}

func (s *touchy) Process(ctx context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	s.panics("process")
	return s.total.Process(ctx, in, out)
}

func (s *touchy) Flush(context.Context, *runnel.Out[int]) error { s.panics("flush"); return nil }
func (s *touchy) Finished() bool                                { s.panics("finished"); return false }
func (s *touchy) Held() int                                     { s.panics("held"); return 0 }
func (s *touchy) Deadline() (time.Time, bool) {
	s.panics("deadline")
	return time.Time{}, s.in == "expire"
}

func (s *touchy) Expire(context.Context, time.Time, *runnel.Out[int]) error {
	s.panics("expire")
	return nil
}

func (s *touchy) Snapshot(n checkpoint.Number, w runnel.SnapshotWriter) error {
	s.panics("snapshot")
	return s.total.Snapshot(n, w)
}

func (s *touchy) Restore(r runnel.SnapshotReader) error {
	s.panics("restore")
	return s.total.Restore(r)
}

// panicky is a store that panics in one of its methods.
type panicky struct {
	checkpoint.Store
	in string
}

func (s panicky) Open(ctx context.Context, p string) (checkpoint.Log, error) {
	if s.in == "store open" {
		panic("a bug in store open")
	}
	log, err := s.Store.Open(ctx, p)
	return panickyLog{log, s.in}, err
}

type panickyLog struct {
	checkpoint.Log
	in string
}

func (l panickyLog) Load(ctx context.Context, n checkpoint.Number) (*checkpoint.Checkpoint, error) {
	if l.in == "load" {
		panic("a bug in load")
	}
	return l.Log.Load(ctx, n)
}

func (l panickyLog) Save(ctx context.Context, c *checkpoint.Checkpoint) error {
	if l.in == "save" {
		panic("a bug in save")
	}
	return l.Log.Save(ctx, c)
}

func (l panickyLog) Close() error {
	if l.in == "store close" {
		_ = l.Log.Close()
		panic("a bug in store close")
	}
	return l.Log.Close()
}

// A panic in any code that is not the pipeline's own ends the run with an error that names the place; everything that
// was open is closed, and the process lives.
func TestPanicOfUserCodeIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	places := map[string]string{
		"open source": "src", "read": "src", "commit source": "src", "close source": "src", "compare": "src",
		"open sink": "out", "write": "out", "flush sink": "out", "close sink": "out", "barrier": "out",
		"prepare 1": "out", "commit 1 with token 1": "out", "decide 1": "out", "decided?": "out", "abort": "out",
		"open stage": "work", "process": "work", "flush": "work", "finished": "work", "held": "work",
		"deadline": "work", "expire": "work", "snapshot": "work", "restore": "work", "route": "keyed",
		"on checkpoint": "checkpoints", "store open": "store", "store close": "store", "load": "p", "save": "checkpoints",
	}
	for in, place := range places {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testPanic(t, in, place) })
		})
	}
}

func testPanic(t *testing.T, in, place string) {
	src, out := &numbers{n: 20}, &collect[int]{}
	bug := func(context.Context) error { panic("a bug in " + in) }
	switch in {
	case "barrier":
		out.kind, out.onDone = lateSink, func(int, func(error)) { _ = bug(nil) }
	case "prepare 1", "commit 1 with token 1", "abort":
		out.kind = txSink
	case "decide 1", "decided?":
		out.kind = decidingSink
	}
	if in == "abort" {
		src.onRead = func(context.Context, int) error { return context.DeadlineExceeded }
	}
	if c := call(in); in == "flush sink" {
		withCall("flush", src, out, bug)
	} else if in != "flush" { // of the stage
		withCall(c, src, out, bug)
	}
	opts := []runnel.Option{}
	if in == "on checkpoint" {
		opts = append(opts, runnel.OnCheckpoint(func(checkpoint.Checkpoint) { _ = bug(nil) }))
	}
	store := checkpoint.Memory()
	if in == "restore" {
		prepare := runnel.New("p", runnel.Checkpoint(store))
		touched(prepare, &numbers{}, &collect[int]{}, "")
		require.NoError(t, prepare.Run(t.Context()))
	}
	p := runnel.New("p", append(opts, runnel.Checkpoint(panicky{store, in}))...)
	touched(p, src, out, in)
	err := p.Run(t.Context())
	if in == "abort" { // which is called because of an error that came first
		require.ErrorContains(t, err, "src: read: context deadline exceeded")
	} else {
		require.ErrorContains(t, err, "a bug in "+in)
		require.ErrorContains(t, err, place+": ")
		var bug *runnel.PanicError
		require.ErrorAs(t, err, &bug)
		require.Contains(t, string(bug.Stack), "panic_test.go")
	}
	if len(src.all()) > 0 {
		require.Equal(t, "close", last(src.all()))
	}
	if len(out.all()) > 0 {
		require.Equal(t, "close", last(out.all()))
	}
	_, err = store.Open(t.Context(), "p")
	require.NoError(t, err, "the lease was given back")
}

// comparer is a source that compares positions.
type comparer struct {
	*numbers
	in string
}

func (s comparer) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r, err := s.numbers.Open(ctx, env, from)
	return comparingReader{r, s.in}, err
}

type comparingReader struct {
	runnel.Reader[int]
	in string
}

func (r comparingReader) ComparePosition(string, []byte, []byte) int {
	if r.in == "compare" {
		panic("a bug in compare")
	}
	return 1
}

// touched builds a pipeline with all that a test may let panic.
func touched(p *runnel.Pipeline, src *numbers, out *collect[int], in string) {
	keyed := runnel.Apply(runnel.From(p, comparer{src, in}, runnel.Name("src")), "keyed", func(v int) uint64 {
		if in == "route" {
			panic("a bug in route")
		}
		return uint64(v)
	}, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
		return try(func(context.Context, int) error { return nil }), nil
	}, runnel.Name("keyed"), runnel.Parallel(2))
	worked := runnel.Apply(keyed, "work", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
		if in == "open stage" {
			panic("a bug in open stage")
		}
		return &touchy{in: in}, nil
	}, runnel.Stateful(), runnel.Name("work"))
	worked.To(out, runnel.Name("out"))
}

func TestPanicInDescribeOrValidateIsAMistake(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	runnel.From(p, panickySource{&numbers{}, "describe"}).To(&collect[int]{})
	runnel.From(p, panickySource{&numbers{}, "validate"}).To(&collect[int]{})
	err := p.Validate()
	require.ErrorContains(t, err, "a bug in describe")
	require.ErrorContains(t, err, "a bug in validate")
}

type panickySource struct {
	*numbers
	in string
}

func (s panickySource) Describe() runnel.Traits {
	if s.in == "describe" {
		panic("a bug in describe")
	}
	return runnel.Traits{}
}

func (s panickySource) Validate() error { panic("a bug in validate") }

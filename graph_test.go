package runnel_test

import (
	"context"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestGraphSaysWhatThePipelineLooksLike(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	dead, out := &collect[runnel.Failed]{}, &collect[int]{}
	in := runnel.From(p, &numbers{}, runnel.Name(`the "in"`))
	work := same(in, runnel.Name("work"), runnel.Parallel(3), runnel.DeadLetter(dead))
	work.To(out, runnel.Name("out"))
	same(work).To(out)
	g := p.Graph()
	require.Equal(t, []runnel.GraphNode{
		{Name: `the "in"`, Kind: "source", Role: "source", Workers: 1},
		{Name: "work", Kind: "stage", Role: "stage", Workers: 3, Fused: true},
		{Name: "out", Kind: "sink", Role: "sink", Workers: 1},
		{Name: "stage-1", Kind: "stage", Role: "stage", Workers: 1},
		{Name: "work-dead-letters", Kind: "sink", Role: "sink", Workers: 1},
	}, g.Nodes)
	require.Equal(t, []runnel.GraphEdge{
		{From: `the "in"`, To: "work"}, {From: "work", To: "out"}, {From: "stage-1", To: "out"}, {From: "work", To: "stage-1"},
		{From: "work", To: "work-dead-letters", DeadLetters: true},
	}, g.Edges)
	require.Equal(t, `digraph pipeline {
	rankdir=LR;
	"the \"in\"" [shape=ellipse, label="the \"in\""];
	"work" [shape=box, label="work ×3"];
	"out" [shape=ellipse, label="out"];
	"stage-1" [shape=box, label="stage-1"];
	"work-dead-letters" [shape=ellipse, label="work-dead-letters"];
	"the \"in\"" -> "work";
	"work" -> "out";
	"stage-1" -> "out";
	"work" -> "stage-1";
	"work" -> "work-dead-letters" [style=dashed];
}
`, g.DOT())
	require.Equal(t, `flowchart LR
	n0(["the #quot;in#quot;"])
	n1["work ×3"]
	n2(["out"])
	n3["stage-1"]
	n4(["work-dead-letters"])
	n0 --> n1
	n1 --> n2
	n3 --> n2
	n1 --> n3
	n1 -.-> n4
`, g.Mermaid())
	require.Equal(t, `the "in" -> out: at least once (within a run; nothing keeps the position, so a restart of the program begins anew)
the "in" -> work-dead-letters: at least once (within a run; nothing keeps the position, so a restart of the program begins anew)
`, g.String())
}

func TestStreamThatGoesToASinkAsDeadLettersTooHasTwoEdges(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	failed := &collect[runnel.Failed]{}
	letters := through(runnel.From(p, &numbers{}), stage[int, runnel.Failed](nil), runnel.Name("work"), runnel.DeadLetter(failed))
	letters.To(failed, runnel.Name("failed"))
	require.Equal(t, []runnel.GraphEdge{
		{From: "source-1", To: "work"}, {From: "work", To: "failed"}, {From: "work", To: "failed", DeadLetters: true},
	}, p.Graph().Edges)
}

func TestGuaranteeOfAPathIsWhatSourceStoreAndSinkAllow(t *testing.T) {
	t.Parallel()
	replay, moving := runnel.Traits{Replay: true}, runnel.Traits{Replay: true, Moving: true}
	for name, c := range map[string]struct {
		source, sink runnel.Traits
		durable      bool
		want         runnel.Guarantee
	}{
		"a source that cannot be read again":           {runnel.Traits{AckWindow: 1}, runnel.Traits{Transactional: true}, true, runnel.AtMostOnce},
		"no store":                                     {replay, runnel.Traits{Idempotent: true}, false, runnel.AtLeastOnce},
		"no store, and a sink that decides":            {replay, runnel.Traits{Decides: true}, false, runnel.AtLeastOnce},
		"a store":                                      {replay, runnel.Traits{}, true, runnel.AtLeastOnce},
		"a store and an idempotent sink":               {replay, runnel.Traits{Idempotent: true}, true, runnel.EffectivelyOnce},
		"a store and a transactional sink":             {replay, runnel.Traits{Transactional: true}, true, runnel.ExactlyOnce},
		"a store and a sink that decides":              {replay, runnel.Traits{Decides: true}, true, runnel.ExactlyOnce},
		"a group":                                      {moving, runnel.Traits{}, false, runnel.AtLeastOnce},
		"a group and an idempotent sink":               {moving, runnel.Traits{Idempotent: true}, false, runnel.EffectivelyOnce},
		"a group and a transactional sink":             {moving, runnel.Traits{Transactional: true}, true, runnel.AtLeastOnce},
		"a group whose offsets the sink's transaction": {moving, runnel.Traits{Decides: true}, false, runnel.ExactlyOnce},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := []runnel.Option{}
			if c.durable {
				opts = append(opts, runnel.Checkpoint(durably{checkpoint.Memory()}))
			}
			p := runnel.New("p", opts...)
			runnel.From(p, &numbers{traits: c.source}).To(says{&collect[int]{}, c.sink})
			path := p.Graph().Paths[0]
			require.Equal(t, c.want, path.Guarantee, path.Because)
			require.NotEmpty(t, path.Because)
		})
	}
	require.Equal(t, "unknown", runnel.Guarantee(0).String())
	require.Equal(t, "at most once", runnel.AtMostOnce.String())
	require.Equal(t, "effectively once", runnel.EffectivelyOnce.String())
	require.Equal(t, "exactly once", runnel.ExactlyOnce.String())
}

// Graph, Status, Validate and Abort may be called at any time, from any goroutine: while the pipeline opens, runs,
// fails, starts again, and afterwards.
func TestPipelineMayBeLookedAtAtAnyTime(t *testing.T) {
	t.Parallel()
	src, out, dead := &numbers{n: 400, size: 3}, &collect[int]{kind: lateSink}, &collect[runnel.Failed]{}
	fails := 0
	out.onOpen = func(context.Context, runnel.SinkEnv) error { fails++; return nil }
	out.onWrite = func(_ context.Context, b runnel.Batch[int]) error {
		if b.Values()[0] > 50*fails && fails < 5 {
			return errBroken
		}
		return nil
	}
	p := runnel.New("p", runnel.Restart(9, 1), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(20)))
	s := same(runnel.From(p, laggingNumbers{src}), runnel.Parallel(2), runnel.DeadLetter(dead))
	take(sum(s), 300).To(out)
	done := make(chan struct{})
	var lookers sync.WaitGroup
	for range 2 {
		lookers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				require.Len(t, p.Graph().Nodes, 6)
				st := p.Status()
				require.Equal(t, "source-1", st.Sources[0].Name)
				require.LessOrEqual(t, st.Sources[0].Committed, st.Sources[0].Read)
				require.NoError(t, p.Validate())
			}
		})
	}
	err := p.Run(t.Context())
	close(done)
	lookers.Wait()
	require.NoError(t, err)
	require.Equal(t, 5, fails)
	require.Positive(t, p.Status().Checkpoint)
}

// laggingNumbers is a source that knows how much there is to read.
type laggingNumbers struct{ *numbers }

func (s laggingNumbers) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[int], error) {
	r, err := s.numbers.Open(ctx, env, from)
	return laggingReader{r}, err
}

type laggingReader struct{ runnel.Reader[int] }

func (laggingReader) Lag() map[string]int64 { return map[string]int64{"p": 7} }

package runnel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

func nodeNames(p *runnel.Pipeline) []string {
	var all []string
	for _, n := range p.Graph().Nodes {
		all = append(all, n.Name)
	}
	return all
}

func TestNodesAreNamedByKindAndDeadLettersAfterTheirStage(t *testing.T) {
	t.Parallel()
	letters := func() runnel.Sink[runnel.Failed] { return runneltest.NewTxSink[runnel.Failed]() }
	p := runnel.New("names", runnel.Checkpoint(checkpoint.Dir(t.TempDir())))
	numbers := runnel.From(p, source.Slice([]int{1}), runnel.Name("numbers"))
	same := func(v int) (int, error) { return v, nil }
	a := flow.TryMap(numbers, same, runnel.Name("first"), runnel.DeadLetter(letters()))
	b := flow.TryMap(a, same, runnel.DeadLetter(letters(), runnel.Name("rejects")))
	c := flow.Map(b, func(v int) int { return v })
	c.To(sink.Discard[int]())
	require.NoError(t, p.Validate(), "two dead-letter sinks of one kind have names of their own")
	require.Equal(t, []string{"numbers", "first", "map-1", "map-2", "discard-sink-1", "first-dead-letters", "rejects"}, nodeNames(p))
}

func TestUnnamedPartsOfOneKindAreRefusedWithADurableStore(t *testing.T) {
	t.Parallel()
	p := runnel.New("names", runnel.Checkpoint(checkpoint.Dir(t.TempDir())))
	for range 2 {
		runnel.From(p, source.Slice([]int{1})).To(sink.Discard[int]())
	}
	require.ErrorContains(t, p.Validate(), `2 nodes of kind "slice-source" have none; name them with Name`)
}

func TestZeroStreamIsReportedByThePipelineOfTheOthers(t *testing.T) {
	t.Parallel()
	var zero runnel.Stream[int]
	p := runnel.New("zero")
	flow.Merge(zero, runnel.From(p, source.Slice([]int{1}))).To(sink.Discard[int]())
	require.ErrorContains(t, p.Validate(), "merge reads a stream that was never made")
}

func TestStageThatCannotRunInCopiesIsRefusedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	p := runnel.New("single")
	in := runnel.From(p, source.Slice([]int{1}))
	flow.Batch(in, 2, 0, runnel.Parallel(2)).To(sink.Discard[[]int]())
	flow.Dedup(in, func(v int) int { return v }, 10, 0, runnel.Parallel(2)).To(sink.Discard[int]())
	err := p.Validate()
	require.ErrorContains(t, err, "batch-1: Parallel does not apply")
	require.ErrorContains(t, err, "dedup-1: Parallel does not apply")
}

func TestErrorOfARunSaysHowOftenARecordWasTried(t *testing.T) {
	t.Parallel()
	p := runnel.New("retry")
	fails := func(int) (int, error) { return 0, errors.New("boom") }
	flow.TryMap(runnel.From(p, source.Slice([]int{1}), runnel.Name("in")), fails, runnel.Retry(3, 0)).To(sink.Discard[int]())
	require.EqualError(t, p.Run(context.Background()), "runnel: map-1: at in/0@0: after 3 attempts: boom")
	require.ErrorContains(t, p.Run(context.Background()), `pipeline "retry" has run already; build a new one`)
}

func TestDeadLetterOfAPanicHasNoStackInItsJSON(t *testing.T) {
	t.Parallel()
	text, err := runnel.Failed{Stage: "s", Attempts: 1, Err: &runnel.PanicError{Value: "boom", Stack: []byte("goroutine 1")}}.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"stage":"s","attempts":1,"error":"panic: boom"}`, string(text))
}

func TestNamesDoNotDependOnWhoLooksAtAPipelineWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	build := func(look func(p *runnel.Pipeline)) []string {
		p, out := runnel.New("names"), &collect[int]{}
		a := same(runnel.From(p, &numbers{}), runnel.DeadLetter(&collect[runnel.Failed]{}))
		look(p)
		b := same(runnel.From(p, &numbers{}))
		a.To(out)
		look(p)
		b.To(&collect[int]{})
		require.NoError(t, p.Validate())
		return nodeNames(p)
	}
	want := build(func(*runnel.Pipeline) {})
	require.ElementsMatch(t, want, build(func(p *runnel.Pipeline) { p.Status(); p.Graph(); _ = p.Validate() }))
}

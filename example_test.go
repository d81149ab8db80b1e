package runnel_test

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// adjacent is a stage of one's own: it drops a value that is the same as the one before, also across a restart.
type adjacent struct {
	seen bool // there was one before
	last string
}

// Process emits a record, or counts it as filtered: each that came in has one outcome.
func (a *adjacent) Process(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
	for i, v := range in.Values() {
		if a.seen && v == a.last {
			out.Filtered(1)
			continue
		}
		a.seen, a.last = true, v
		out.Emit(v, in.Meta(i))
		out.Passed(1)
	}
	return nil
}

// Snapshot writes all of the state, which is one entry: no need to ask whether only changes are wanted.
func (a *adjacent) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	if a.seen {
		w.Put([]byte("last"), []byte(a.last))
	}
	return nil
}

// Restore brings it back. It is not called where there is no checkpoint.
func (a *adjacent) Restore(r runnel.SnapshotReader) error {
	r.All(func(_, value []byte) bool {
		a.seen, a.last = true, string(value)
		return true
	})
	return nil
}

// WithoutRepeats is a transform of one's own: a function from stream to stream.
func WithoutRepeats(s runnel.Stream[string]) runnel.Stream[string] {
	open := func(runnel.StageEnv) (runnel.Stage[string, string], error) { return &adjacent{}, nil }
	return runnel.Apply(s, "adjacent", nil, open, runnel.Stateful(), runnel.Single())
}

// A stage of one's own is put into a stream with Apply, which is what the operators of package flow are made of. What it
// remembers is in the checkpoints: the second run reads on behind the fifth word, and knows that it was an a.
func ExampleApply() {
	store, words := checkpoint.Memory(), []string{"a", "b", "b", "a", "a", "a", "c"}
	for _, n := range []int{5, 7} { // by the second run there are two words more
		p := runnel.New("words", runnel.Checkpoint(store))
		out := sink.NewSlice[string]()
		WithoutRepeats(runnel.From(p, source.Slice(words[:n]))).To(out)
		if err := p.Run(context.Background()); err != nil {
			fmt.Println(err)
		}
		s := p.Status().Stages[0]
		fmt.Println(out.Values(), s.In, "came in,", s.Filtered, "filtered")
	}
	// Output:
	// [a b a] 5 came in, 2 filtered
	// [c] 2 came in, 1 filtered
}

package runnel_test

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// adjacent is a stage of one's own: it drops a value that is the same as the one before.
type adjacent struct{ last string }

func (a *adjacent) Process(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
	for i, v := range in.Values() {
		if v != a.last {
			a.last = v
			out.Emit(v, in.Meta(i))
		}
	}
	return nil
}

// WithoutRepeats is a transform of one's own: a function from stream to stream.
func WithoutRepeats(s runnel.Stream[string]) runnel.Stream[string] {
	return runnel.Apply(s, "adjacent", nil, func(runnel.StageEnv) (runnel.Stage[string, string], error) {
		return &adjacent{}, nil
	})
}

// A stage of one's own is put into a stream with Apply, which is what the operators of package flow are made of.
func ExampleApply() {
	p := runnel.New("words")
	words := runnel.From(p, source.Slice([]string{"a", "a", "b", "b", "a"}))
	out := sink.NewSlice[string]()
	WithoutRepeats(words).To(out)
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(out.Values())
	// Output: [a b a]
}

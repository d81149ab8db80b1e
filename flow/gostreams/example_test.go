package gostreams_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	streams "github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	gsflow "github.com/reugn/go-streams/flow"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/flow/gostreams"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

func ExampleVia() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"tea", "ten"}))
	upper := gostreams.Via[string](words, func() streams.Flow {
		return gsflow.NewMap(strings.ToUpper, 1)
	})
	upper.To(sink.Func(func(_ context.Context, w string) error {
		_, err := fmt.Println(w)
		return err
	}))
	fmt.Println(p.Run(context.Background()))
	// Output:
	// TEA
	// TEN
	// <nil>
}

func ExampleChain() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3, 4, 5}))
	pairs := gostreams.Via[[]int](numbers, func() streams.Flow {
		return gostreams.Chain(
			gsflow.NewFilter(func(v int) bool { return v != 3 }, 1),
			gsflow.NewBatch[int](2, time.Minute),
		)
	})
	pairs.To(sink.Func(func(_ context.Context, pair []int) error {
		_, err := fmt.Println(pair)
		return err
	}))
	fmt.Println(p.Run(context.Background()))
	// Output:
	// [1 2]
	// [4 5]
	// <nil>
}

func ExampleSink() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"one", "two"}))
	words.To(gostreams.Sink[string](func(context.Context, context.CancelFunc) (streams.Sink, error) {
		return ext.NewStdoutSink(), nil
	}))
	fmt.Println(p.Run(context.Background()))
	// Output:
	// one
	// two
	// <nil>
}

func ExampleSource() {
	p := runnel.New("example")
	elements := make(chan any, 2)
	elements <- 1
	elements <- 2
	close(elements)
	numbers := runnel.From(p, gostreams.Source[int](func(context.Context) (streams.Source, error) {
		return ext.NewChanSource(elements), nil
	}))
	numbers.To(sink.Func(func(_ context.Context, v int) error {
		_, err := fmt.Println(v)
		return err
	}))
	fmt.Println(p.Run(context.Background()))
	// Output:
	// 1
	// 2
	// <nil>
}

func ExampleNewFlow() {
	double := gostreams.NewFlow(context.Background(), "double", func(s runnel.Stream[int]) runnel.Stream[int] {
		return flow.Map(s, func(v int) int { return 2 * v })
	})
	in, out := make(chan any, 2), make(chan any, 2)
	in <- 1
	in <- 2
	close(in)
	ext.NewChanSource(in).Via(double).To(ext.NewChanSink(out))
	for v := range out {
		fmt.Println(v)
	}
	fmt.Println(double.Err())
	// Output:
	// 2
	// 4
	// <nil>
}

func ExampleNewSource() {
	squares := gostreams.NewSource(context.Background(), "squares", func(p *runnel.Pipeline) runnel.Stream[int64] {
		return runnel.From(p, source.Generate(3, func(i int64) int64 { return i * i }))
	})
	out := make(chan any, 3)
	squares.Via(gsflow.NewPassThrough()).To(ext.NewChanSink(out))
	for v := range out {
		fmt.Println(v)
	}
	fmt.Println(squares.Err())
	// Output:
	// 0
	// 1
	// 4
	// <nil>
}

func ExampleNewSink() {
	kept := sink.NewSlice[int]()
	end := gostreams.NewSink(context.Background(), "keep", func(s runnel.Stream[int]) { s.To(kept) })
	in := make(chan any, 2)
	in <- 1
	in <- 2
	close(in)
	ext.NewChanSource(in).Via(gsflow.NewPassThrough()).To(end)
	fmt.Println(kept.Values(), end.Err())
	// Output:
	// [1 2] <nil>
}

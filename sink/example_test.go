package sink_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// airports returns a pipeline with three airports and their delays.
func airports() (*runnel.Pipeline, runnel.Stream[int]) {
	p := runnel.New("airports")
	return p, runnel.From(p, source.SliceRecords([]runnel.Record[int]{
		{Value: 12, Meta: runnel.Meta{Key: []byte("LAX")}},
		{Value: 7, Meta: runnel.Meta{Key: []byte("JFK")}},
		{Value: -1, Meta: runnel.Meta{Key: []byte("SFO")}},
	}))
}

func ExampleNewSlice() {
	p, delays := airports()
	out := sink.NewSlice[int]()
	delays.To(out)
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(out.Values())
	// Output: [12 7 -1]
}

func ExampleDiscard() {
	p, delays := airports()
	out := sink.Discard[int]()
	delays.To(out)
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(out.Count())
	// Output: 3
}

func ExampleNewSeq() {
	p, delays := airports()
	out := sink.NewSeq[int]()
	delays.To(out)
	for delay, err := range out.Run(context.Background(), p) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(delay)
	}
	// Output:
	// 12
	// 7
	// -1
}

func ExampleFunc() {
	p, delays := airports()
	delays.To(sink.Func(func(_ context.Context, delay int) error {
		if delay < 0 {
			return errors.New("before its time")
		}
		fmt.Println(delay)
		return nil
	}), runnel.Skip())
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("skipped", p.Status().Sinks[0].Skipped)
	// Output:
	// 12
	// 7
	// skipped 1
}

func ExampleFuncRecord() {
	p, delays := airports()
	delays.To(sink.FuncRecord(func(_ context.Context, r runnel.Record[int]) error {
		fmt.Printf("%s: %d\n", r.Key, r.Value)
		return nil
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// LAX: 12
	// JFK: 7
	// SFO: -1
}

func ExampleFuncBatch() {
	p, delays := airports()
	delays.To(sink.FuncBatch(func(_ context.Context, b runnel.Batch[int]) error {
		fmt.Println(b.Len(), "at once:", b.Values())
		return nil
	}, sink.Idempotent()))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 3 at once: [12 7 -1]
}

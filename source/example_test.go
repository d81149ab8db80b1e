package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// show prints what a source gives.
func show[T any](src runnel.Source[T]) {
	p := runnel.New("example")
	runnel.From(p, src, runnel.Name("in")).To(sink.Func(func(_ context.Context, v T) error {
		fmt.Println(v)
		return nil
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

// showRecords prints what a source gives, with its keys.
func showRecords[T any](src runnel.Source[T]) {
	p := runnel.New("example")
	runnel.From(p, src, runnel.Name("in")).To(sink.FuncRecord(func(_ context.Context, r runnel.Record[T]) error {
		fmt.Printf("%s: %s=%v\n", r.Origin, r.Key, r.Value)
		return nil
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

func ExampleSlice() {
	show(source.Slice([]string{"LAX", "JFK"}))
	// Output:
	// LAX
	// JFK
}

func ExampleSliceRecords() {
	showRecords(source.SliceRecords([]runnel.Record[int]{
		{Value: 12, Meta: runnel.Meta{Key: []byte("LAX")}},
		{Value: 7, Meta: runnel.Meta{Key: []byte("JFK")}},
	}))
	// Output:
	// in/0@0: LAX=12
	// in/0@1: JFK=7
}

func ExampleGenerate() {
	show(source.Generate(4, func(i int64) int64 { return i * i }))
	// Output:
	// 0
	// 1
	// 4
	// 9
}

func ExampleSeq() {
	show(source.Seq(slices.Values([]string{"LAX", "JFK"})))
	// Output:
	// LAX
	// JFK
}

func ExampleSeq2() {
	count := func(yield func(int, error) bool) {
		for i := range 2 {
			if !yield(i, nil) {
				return
			}
		}
		yield(0, errors.New("page 3 is missing"))
	}
	p := runnel.New("example")
	runnel.From(p, source.Seq2(count), runnel.Name("in")).To(sink.Discard[int]())
	fmt.Println(p.Run(context.Background()))
	// Output:
	// runnel: in: read: source: seq: record 2: page 3 is missing
}

func ExampleChannel() {
	airports := make(chan string, 2)
	airports <- "LAX"
	airports <- "JFK"
	close(airports)
	show(source.Channel(airports))
	// Output:
	// LAX
	// JFK
}

func ExampleChannelRecords() {
	delays := make(chan runnel.Record[int], 1)
	delays <- runnel.Record[int]{Value: 12, Meta: runnel.Meta{Key: []byte("LAX")}}
	close(delays)
	showRecords(source.ChannelRecords(delays))
	// Output: in/0@0: LAX=12
}

func ExampleFunc() {
	countdown := 3
	show(source.Func(func(context.Context) (int, error) {
		if countdown == 0 {
			return 0, io.EOF
		}
		countdown--
		return countdown, nil
	}))
	// Output:
	// 2
	// 1
	// 0
}

func ExampleFuncBatch() {
	pages := [][]string{{"LAX", "JFK"}, {"SFO"}}
	show(source.FuncBatch(func(_ context.Context, limit int) ([]string, error) {
		if len(pages) == 0 {
			return nil, io.EOF
		}
		page := pages[0]
		pages = pages[1:]
		return page, nil
	}))
	// Output:
	// LAX
	// JFK
	// SFO
}

func ExampleTicker() {
	p := runnel.New("ticks")
	twice := flow.Take(runnel.From(p, source.Ticker(time.Millisecond)), 2)
	twice.To(sink.Func(func(context.Context, time.Time) error {
		fmt.Println("tick")
		return nil
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tick
	// tick
}

func ExamplePush() {
	orders := source.NewPush[string]()
	often := checkpoint.Every(100 * time.Millisecond) // EmitAcked waits for a checkpoint; the default is every 5 s
	p := runnel.New("orders", runnel.Checkpoint(checkpoint.Memory(), often))
	runnel.From(p, orders).To(sink.Func(func(_ context.Context, order string) error {
		fmt.Println("stored", order)
		return nil
	}))
	done := make(chan error, 1)
	go func() { done <- p.Run(context.Background()) }()

	if err := orders.EmitAcked(context.Background(), "order 1"); err == nil {
		fmt.Println("order 1 is safe")
	}
	_ = orders.Close() // it returns nil
	fmt.Println(<-done)
	fmt.Println(orders.Emit(context.Background(), "order 2"))
	// Output:
	// stored order 1
	// order 1 is safe
	// <nil>
	// runnel: closed
}

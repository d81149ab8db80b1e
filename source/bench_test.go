package source_test

import (
	"context"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// run runs a source into nothing.
func run(b *testing.B, src runnel.Source[int]) {
	b.Helper()
	p := runnel.New("bench", runnel.Checkpoint(checkpoint.Memory()))
	runnel.From(p, src).To(sink.Discard[int]())
	b.ReportAllocs()
	if err := p.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSlice(b *testing.B) { run(b, source.Slice(make([]int, b.N))) }

func BenchmarkGenerate(b *testing.B) {
	run(b, source.Generate(int64(b.N), func(i int64) int { return int(i) }))
}

func BenchmarkSeq(b *testing.B) { run(b, source.Seq(slices.Values(make([]int, b.N)))) }

func BenchmarkChannel(b *testing.B) {
	c := make(chan int, 1024)
	go func() {
		defer close(c)
		for i := range b.N {
			c <- i
		}
	}()
	run(b, source.Channel(c))
}

func BenchmarkPush(b *testing.B) {
	push := source.NewPush[int]()
	go func() {
		for i := range b.N {
			if err := push.Emit(context.Background(), i); err != nil {
				b.Error(err)
			}
		}
		_ = push.Close()
	}()
	run(b, push)
}

func BenchmarkPushInHundreds(b *testing.B) {
	push, values := source.NewPush[int](), make([]int, 100)
	go func() {
		for i := 0; i < b.N; i += len(values) {
			if err := push.Emit(context.Background(), values[:min(len(values), b.N-i)]...); err != nil {
				b.Error(err)
			}
		}
		_ = push.Close()
	}()
	run(b, push)
}

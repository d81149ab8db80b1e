package flow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// show is the end of the examples: it prints what a stream has, and runs the pipeline.
func show[T any](p *runnel.Pipeline, s runnel.Stream[T]) {
	s.To(sink.Func(func(_ context.Context, v T) error {
		_, err := fmt.Println(v)
		return err
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

func Example() {
	p := runnel.New("words")
	lines := runnel.From(p, source.Slice([]string{"to be or", "", "not to be"}))
	words := flow.FlatMap(lines, strings.Fields)
	long := flow.Filter(words, func(w string) bool { return len(w) > 2 })
	show(p, flow.Map(long, strings.ToUpper))
	// Output:
	// NOT
}

func ExampleMap() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3}))
	show(p, flow.Map(numbers, func(v int) int { return 10 * v }))
	// Output:
	// 10
	// 20
	// 30
}

func ExampleTryMap() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"1", "two", "3"}))
	show(p, flow.TryMap(words, strconv.Atoi, runnel.Skip()))
	// Output:
	// 1
	// 3
}

func ExampleTryMap_fail() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"1", "two", "3"}), runnel.Name("words"))
	flow.TryMap(words, strconv.Atoi, runnel.Name("parse")).To(sink.Discard[int]())
	fmt.Println(p.Run(context.Background()))
	// Output:
	// runnel: parse: at words/0@1: strconv.Atoi: parsing "two": invalid syntax
}

func ExampleMapRecord() {
	p := runnel.New("example")
	words := runnel.From(p, source.SliceRecords([]runnel.Record[string]{
		{Value: "warm", Meta: runnel.Meta{Key: []byte("paris")}},
		{Value: "cold", Meta: runnel.Meta{Key: []byte("oslo")}},
	}))
	show(p, flow.MapRecord(words, func(r runnel.Record[string]) (runnel.Record[string], error) {
		return runnel.Record[string]{Value: fmt.Sprintf("%s: %s", r.Key, r.Value), Meta: r.Meta}, nil
	}))
	// Output:
	// paris: warm
	// oslo: cold
}

func ExampleMapAsync() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{3, 2, 1}))
	ask := func(ctx context.Context, v int) (string, error) {
		select { // stands for a call over the network
		case <-time.After(time.Duration(v) * time.Millisecond):
			return fmt.Sprint("answer to ", v), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	show(p, flow.MapAsync(numbers, ask, runnel.Parallel(3), runnel.Timeout(time.Minute), runnel.Retry(3, time.Second)))
	// Output:
	// answer to 3
	// answer to 2
	// answer to 1
}

func ExampleMapKeyed() {
	p := runnel.New("example")
	moves := runnel.From(p, source.Slice([]string{"a1", "b1", "a2", "b2"}))
	byLetter := flow.KeyBy(moves, func(s string) byte { return s[0] })
	show(p, flow.MapKeyed(byLetter, func(_ context.Context, letter byte, move string) (string, error) {
		return fmt.Sprintf("%c plays %s", letter, move), nil
	}))
	// Output:
	// a plays a1
	// b plays b1
	// a plays a2
	// b plays b2
}

func ExampleKeyBy() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"tea", "coffee", "ten"}))
	keyed := flow.KeyBy(words, func(w string) int { return len(w) })
	show(p, flow.MapKeyed(keyed, func(_ context.Context, n int, w string) (string, error) {
		return fmt.Sprintf("%s has %d letters", w, n), nil
	}))
	// Output:
	// tea has 3 letters
	// coffee has 6 letters
	// ten has 3 letters
}

func ExampleFilter() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3, 4}))
	show(p, flow.Filter(numbers, func(v int) bool { return v%2 == 0 }))
	// Output:
	// 2
	// 4
}

func ExampleTryFilter() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"1", "-2", "three"}))
	positive := func(s string) (bool, error) {
		v, err := strconv.Atoi(s)
		return v > 0, err
	}
	show(p, flow.TryFilter(words, positive, runnel.Skip()))
	// Output:
	// 1
}

func ExampleFilterRecord() {
	p := runnel.New("example")
	words := runnel.From(p, source.SliceRecords([]runnel.Record[string]{
		{Value: "has a key", Meta: runnel.Meta{Key: []byte("k")}},
		{Value: "has none"},
	}))
	show(p, flow.FilterRecord(words, func(r runnel.Record[string]) (bool, error) { return r.Key != nil, nil }))
	// Output:
	// has a key
}

func ExampleFlatMap() {
	p := runnel.New("example")
	lines := runnel.From(p, source.Slice([]string{"to be", "", "or not"}))
	show(p, flow.FlatMap(lines, strings.Fields))
	// Output:
	// to
	// be
	// or
	// not
}

func ExampleTryFlatMap() {
	p := runnel.New("example")
	lines := runnel.From(p, source.Slice([]string{"1,2", "3,x", "4"}))
	numbers := func(line string) ([]int, error) {
		var all []int
		for _, field := range strings.Split(line, ",") {
			v, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	}
	show(p, flow.TryFlatMap(lines, numbers, runnel.Skip())) // nothing of the second line
	// Output:
	// 1
	// 2
	// 4
}

func ExampleFlatMapSeq() {
	p := runnel.New("example")
	lines := runnel.From(p, source.Slice([]string{"to be", "or not"}))
	show(p, flow.FlatMapSeq(lines, func(line string) iter.Seq[string] { return strings.FieldsSeq(line) }))
	// Output:
	// to
	// be
	// or
	// not
}

func ExampleFlatMapRecord() {
	p := runnel.New("example")
	lines := runnel.From(p, source.Slice([]string{"to be"}))
	words := flow.FlatMapRecord(lines, func(r runnel.Record[string]) ([]runnel.Record[string], error) {
		var all []runnel.Record[string]
		for _, word := range strings.Fields(r.Value) {
			meta := r.Meta
			meta.Key = []byte(word[:1])
			all = append(all, runnel.Record[string]{Value: word, Meta: meta})
		}
		return all, nil
	})
	show(p, flow.MapRecord(words, func(r runnel.Record[string]) (runnel.Record[string], error) {
		r.Value = fmt.Sprintf("%s=%s", r.Key, r.Value)
		return r, nil
	}))
	// Output:
	// t=to
	// b=be
}

func ExampleTap() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3}))
	sum := 0
	show(p, flow.Tap(numbers, func(v int) { sum += v }))
	fmt.Println("sum", sum)
	// Output:
	// 1
	// 2
	// 3
	// sum 6
}

func ExampleTryTap() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, -2, 3}))
	check := func(v int) error {
		if v < 0 {
			return errors.New("negative")
		}
		return nil
	}
	show(p, flow.TryTap(numbers, check, runnel.Skip()))
	// Output:
	// 1
	// 3
}

func ExampleTapRecord() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"tea", "ten"}))
	show(p, flow.TapRecord(words, func(r runnel.Record[string]) error {
		if r.Origin.Offset == 0 {
			fmt.Println("the first is", r.Value)
		}
		return nil
	}))
	// Output:
	// the first is tea
	// tea
	// ten
}

func ExampleBatch() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3, 4, 5}))
	show(p, flow.Batch(numbers, 2, time.Second))
	// Output:
	// [1 2]
	// [3 4]
	// [5]
}

func ExampleBatchOf() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"aa", "b", "ccc", "d", "eeeeee"}))
	show(p, flow.BatchOf(words, flow.BatchSpec[string]{
		Count: 100, Bytes: 3, Size: func(s string) int { return len(s) }, Linger: time.Second,
	}))
	// Output:
	// [aa b]
	// [ccc]
	// [d]
	// [eeeeee]
}

func ExampleUnbatch() {
	p := runnel.New("example")
	slices := runnel.From(p, source.Slice([][]int{{1, 2}, {}, {3}}))
	show(p, flow.Unbatch(slices))
	// Output:
	// 1
	// 2
	// 3
}

func ExampleMerge() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"tea", "ten"}))
	others := runnel.From(p, source.Slice([]string{"coffee"}))
	show(p, flow.Merge(words, others))
	// Unordered output:
	// tea
	// ten
	// coffee
}

func ExampleSplit() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Slice([]int{1, 2, 3, 4}))
	even, odd := flow.Split(numbers, func(v int) bool { return v%2 == 0 })
	show(p, flow.Merge(
		flow.Map(even, func(v int) string { return fmt.Sprint(v, " is even") }),
		flow.Map(odd, func(v int) string { return fmt.Sprint(v, " is odd") }),
	))
	// Unordered output:
	// 1 is odd
	// 2 is even
	// 3 is odd
	// 4 is even
}

func ExampleRoute() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"a", "bb", "c", "dd", "eee"}))
	byLength := flow.Route(words, 3, func(w string) int { return len(w) - 1 })
	byLength[0].To(sink.Discard[string]())
	show(p, flow.Merge(byLength[1], byLength[2]))
	// Unordered output:
	// bb
	// dd
	// eee
}

func ExampleTake() {
	p := runnel.New("example")
	numbers := runnel.From(p, source.Generate(-1, func(i int64) int64 { return i * i })) // without end
	show(p, flow.Take(numbers, 3))
	// Output:
	// 0
	// 1
	// 4
}

func ExampleDrop() {
	p := runnel.New("example")
	lines := runnel.From(p, source.Slice([]string{"name", "ann", "bob"}))
	show(p, flow.Drop(lines, 1))
	// Output:
	// ann
	// bob
}

func ExampleDedup() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"tea", "ten", "tea", "tea"}))
	show(p, flow.Dedup(words, func(w string) string { return w }, 10_000, time.Hour))
	// Output:
	// tea
	// ten
}

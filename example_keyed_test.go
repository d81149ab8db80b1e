package runnel_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
)

// routeOf sends all records of a word to one worker. It is the same in each process, and for a word that is restored.
func routeOf(word string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word)) // it returns no error
	return h.Sum64()
}

// counts counts words. Each worker has a copy, with the words that are routed to it.
type counts struct {
	env     runnel.StageEnv
	n       map[string]int
	changed map[string]bool // since the last snapshot
}

// Process emits one record for each that came in, so there is nothing to account for.
func (c *counts) Process(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
	for i, word := range in.Values() {
		c.n[word]++
		c.changed[word] = true
		out.Emit(fmt.Sprint(word, c.n[word]), in.Meta(i))
	}
	return nil
}

// Snapshot writes an entry for each word, so that another number of workers can share them out; or for those that changed.
func (c *counts) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	for word, n := range c.n {
		if w.Full() || c.changed[word] {
			w.Put([]byte(word), strconv.AppendInt(nil, int64(n), 10))
		}
	}
	clear(c.changed)
	return nil
}

// Restore is given the words of all workers and keeps its own.
func (c *counts) Restore(r runnel.SnapshotReader) (err error) {
	r.All(func(key, value []byte) bool {
		if word := string(key); c.env.Owns(routeOf(word)) {
			c.n[word], err = strconv.Atoi(string(value))
		}
		return err == nil
	})
	return err
}

// Counted emits each word with how often it has come.
func Counted(s runnel.Stream[string], opts ...runnel.StageOption) runnel.Stream[string] {
	open := func(env runnel.StageEnv) (runnel.Stage[string, string], error) {
		return &counts{env: env, n: map[string]int{}, changed: map[string]bool{}}, nil
	}
	return runnel.Apply(s, "counted", routeOf, open, append(opts, runnel.Stateful())...)
}

// A stage whose records are routed by key runs in parallel, and its number of workers may change from run to run.
func ExampleParallel() {
	store, words := checkpoint.Memory(), []string{"a", "b", "a", "c", "b", "a"}
	for run, workers := range []int{3, 2} {
		p := runnel.New("words", runnel.Checkpoint(store))
		out := sink.NewSlice[string]()
		Counted(runnel.From(p, source.Slice(words[:3*(run+1)])), runnel.Parallel(workers)).To(out)
		if err := p.Run(context.Background()); err != nil {
			fmt.Println(err)
		}
		fmt.Println(slices.Sorted(slices.Values(out.Values()))) // order is kept for each word
	}
	// Output:
	// [a1 a2 b1]
	// [a3 b2 c1]
}

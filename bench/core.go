package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// The functions of the user. Every contender takes them as values, as a library must, so nobody profits from inlining.

//go:noinline
func addOne(x int) int { return x + 1 }

//go:noinline
func isEven(x int) bool { return x%2 == 0 }

//go:noinline
func triple(x int) int { return x * 3 }

// chain is what a contender of core gets: map, filter, map.
type chain struct {
	first func(int) int
	keep  func(int) bool
	last  func(int) int
}

var userChain = chain{addOne, isEven, triple}

func coreGroup(settings) (group, error) {
	return group{
		title: "core: integers → map → filter half → map → count",
		n:     10_000_000,
		unit:  "records/s",
		want:  func(n int) int64 { return int64(n / 2) },
		contenders: []contender{
			entry{label: "batches, three hops", work: batchesThreeHops},
			entry{label: "batches, two hops (middle in one goroutine)", work: batchesTwoHops},
			entry{label: "Runnel, checkpoints every 100 ms", work: runnelCore(numbers[int]{values: countUp}, 100*time.Millisecond)},
			entry{label: "Runnel, one checkpoint", work: runnelCore(numbers[int]{values: countUp}, time.Hour)},
			entry{label: "one loop of calls", work: oneLoop},
			entry{label: "single records, three hops", part: 5, work: singleRecords},
			entry{label: "go-streams v0.13.0", part: 20, work: goStreamsCore},
			entry{label: "watermill v1.5.1 gochannel", part: 200, work: watermillCore},
		},
	}, nil
}

// oneLoop calls the functions in turn, without any goroutine.
func oneLoop(_ context.Context, n int) (count int64, err error) {
	c := userChain
	for i := range n {
		x := c.first(i)
		if !c.keep(x) {
			continue
		}
		_ = c.last(x)
		count++
	}
	return count, nil
}

func mapped(f func(int) int) func([]int) []int {
	return func(b []int) []int {
		for i, x := range b {
			b[i] = f(x)
		}
		return b
	}
}

func filtered(keep func(int) bool) func([]int) []int {
	return func(b []int) []int {
		kept := b[:0]
		for _, x := range b {
			if keep(x) {
				kept = append(kept, x)
			}
		}
		return kept
	}
}

func fillNumbers(b []int, from, to int) []int {
	for i := from; i < to; i++ {
		b = append(b, i)
	}
	return b
}

func numberHops(steps ...func([]int) []int) hops[[]int] {
	return hops[[]int]{
		fresh: func() []int { return make([]int, 0, batchSize) },
		fill:  func(b []int, from, to int) []int { return fillNumbers(b[:0], from, to) },
		steps: steps,
		size:  func(b []int) int { return len(b) },
	}
}

// batchesThreeHops has a goroutine for each step: source, map, filter, and the last map with the counting.
func batchesThreeHops(ctx context.Context, n int) (int64, error) {
	c := userChain
	return numberHops(mapped(c.first), filtered(c.keep), mapped(c.last)).run(ctx, n)
}

// batchesTwoHops has a goroutine for the source, one for map, filter and map, and one that counts.
func batchesTwoHops(ctx context.Context, n int) (int64, error) {
	c := userChain
	first, keep, last := mapped(c.first), filtered(c.keep), mapped(c.last)
	middle := func(b []int) []int { return last(keep(first(b))) }
	return numberHops(middle, func(b []int) []int { return b }).run(ctx, n)
}

// singleRecords has the goroutines of batchesThreeHops, with a buffered channel of single records between them.
func singleRecords(ctx context.Context, n int) (count int64, err error) {
	c := userChain
	g, ctx := errgroup.WithContext(ctx)
	source, first, kept := make(chan int, batchSize), make(chan int, batchSize), make(chan int, batchSize)
	g.Go(func() error {
		defer close(source)
		for i := range n {
			if err := send(ctx, source, i); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(first)
		for x := range source {
			if err := send(ctx, first, c.first(x)); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(kept)
		for x := range first {
			if !c.keep(x) {
				continue
			}
			if err := send(ctx, kept, x); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for x := range kept {
			_ = c.last(x)
			count++
		}
		return nil
	})
	err = g.Wait()
	return count, err
}

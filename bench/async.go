package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"github.com/sourcegraph/conc/stream"
	"golang.org/x/sync/errgroup"
)

const (
	workers    = 2
	asyncBatch = 64
)

// block is a record of async: 1 KiB.
type block [1024]byte

type digest [sha256.Size]byte

// hash is the user's function of async.
//
//go:noinline
func hash(b *block) digest { return sha256.Sum256(b[:]) }

var userHash = hash

// blockAt makes record i out of a template, so that every contender pays the same for its input: eight bytes.
func blockAt(b *block, i int) { binary.LittleEndian.PutUint64(b[:], uint64(i)) }

func asyncGroup(settings) (group, error) {
	return group{
		title: "async: SHA-256 of 1 KiB, two workers, results in order",
		n:     400_000,
		unit:  "records/s",
		want:  func(n int) int64 { return int64(n) },
		contenders: []contender{
			entry{label: "errgroup, batches of 64", work: hashBatches},
			entry{label: "Runnel", work: runnelAsync},
			entry{label: "conc/stream v0.3.0, single records", work: hashConc},
			entry{label: "conc/stream v0.3.0, batches of 64", work: hashConcBatches},
			entry{label: "go-streams v0.13.0 (does not keep the order)", work: hashGoStreams},
			entry{label: "go-streams v0.13.0, one worker (keeps the order)", work: hashGoStreamsOrdered},
		},
	}, nil
}

// job is a batch on its way through a worker: whoever waits for its results waits for ready.
type job struct {
	blocks  []block
	digests []digest
	ready   chan struct{} // holds one element when the digests are there
}

func newJob() *job {
	return &job{blocks: make([]block, 0, asyncBatch), digests: make([]digest, 0, asyncBatch), ready: make(chan struct{}, 1)}
}

// fill puts records from to … in.
func (j *job) fill(from, to int) {
	j.blocks = j.blocks[:to-from]
	for i := range j.blocks {
		blockAt(&j.blocks[i], from+i)
	}
}

func (j *job) hash() {
	j.digests = j.digests[:0]
	for i := range j.blocks {
		j.digests = append(j.digests, userHash(&j.blocks[i]))
	}
}

// hashBatches sends every batch to the workers and, in order, to the one who collects.
func hashBatches(ctx context.Context, n int) (count int64, err error) {
	g, ctx := errgroup.WithContext(ctx)
	todo, ordered := make(chan *job, workers), make(chan *job, 2*workers)
	spare := make(chan *job, 4*workers)
	g.Go(func() error {
		defer close(todo)
		defer close(ordered)
		for from := 0; from < n; from += asyncBatch {
			j := take(spare, newJob)
			j.fill(from, min(from+asyncBatch, n))
			if err := send(ctx, ordered, j); err != nil {
				return err
			}
			if err := send(ctx, todo, j); err != nil {
				return err
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for j := range todo {
				j.hash()
				j.ready <- struct{}{}
			}
			return nil
		})
	}
	var order check
	g.Go(func() error {
		for j := range ordered {
			select {
			case <-j.ready:
			case <-ctx.Done():
				return ctx.Err()
			}
			order.see(j)
			give(spare, j)
		}
		return nil
	})
	err = g.Wait()
	return order.count, err
}

// check counts the records that come in their order.
type check struct{ count int64 }

func (c *check) see(j *job) {
	for i := range j.blocks {
		c.one(&j.blocks[i])
	}
}

func (c *check) one(b *block) {
	if binary.LittleEndian.Uint64(b[:]) == uint64(c.count) {
		c.count++
	}
}

// hashConc runs one task a record.
func hashConc(ctx context.Context, n int) (count int64, err error) {
	s := stream.New().WithMaxGoroutines(workers)
	var order check
	for i := range n {
		b := new(block)
		blockAt(b, i)
		s.Go(func() stream.Callback {
			_ = userHash(b)
			return func() { order.one(b) }
		})
	}
	s.Wait()
	return order.count, ctx.Err()
}

// hashConcBatches runs one task a batch.
func hashConcBatches(ctx context.Context, n int) (count int64, err error) {
	s := stream.New().WithMaxGoroutines(workers)
	spare := make(chan *job, 8*workers)
	var order check
	for from := 0; from < n; from += asyncBatch {
		j := take(spare, newJob)
		j.fill(from, min(from+asyncBatch, n))
		s.Go(func() stream.Callback {
			j.hash()
			return func() {
				order.see(j)
				give(spare, j)
			}
		})
	}
	s.Wait()
	return order.count, ctx.Err()
}

// hashGoStreams has one operator with two workers, which hand on whatever is ready first.
func hashGoStreams(ctx context.Context, n int) (int64, error) {
	return goStreamsHash(ctx, n, workers)
}

// hashGoStreamsOrdered has one worker, since more do not keep the order.
func hashGoStreamsOrdered(ctx context.Context, n int) (int64, error) {
	return goStreamsHash(ctx, n, 1)
}

func goStreamsHash(ctx context.Context, n, parallelism int) (count int64, err error) {
	in := make(chan any, asyncBatch)
	go func() {
		defer close(in)
		for i := range n {
			b := new(block)
			blockAt(b, i)
			if send[any](ctx, in, b) != nil {
				return
			}
		}
	}()
	for range ext.NewChanSource(in).Via(flow.NewMap(userHash, parallelism)).Out() {
		count++
	}
	return count, ctx.Err()
}

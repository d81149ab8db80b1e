package main

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/sink/filesink"
	"github.com/runnel-go/runnel/source/filesource"
)

// numbers is a source of the integers up to n, in batches as a reader makes them; fill may add metadata.
type numbers[T any] struct {
	n      int
	values func(buf []T, from int)            // fills in the values from from on
	meta   func(d *runnel.Draft[T], from int) // may be nil
}

func (s numbers[T]) Open(_ context.Context, env runnel.SourceEnv, _ checkpoint.Position) (runnel.Reader[T], error) {
	return &numberReader[T]{numbers: s, size: env.MaxBatch}, nil
}

type numberReader[T any] struct {
	numbers[T]
	buffers    runnel.Buffers[T]
	size, next int
}

func (r *numberReader[T]) Read(context.Context) (runnel.Fetch[T], error) {
	if r.next == r.n {
		return runnel.Fetch[T]{}, io.EOF
	}
	from := r.next
	r.next = min(r.n, from+r.size)
	d := r.buffers.Take(r.next - from)
	r.values(d.Values, from)
	if r.meta != nil {
		r.meta(&d, from)
	}
	return runnel.Fetch[T]{
		Batch:    d.Batch(len(d.Values)),
		Position: checkpoint.Position{"0": binary.BigEndian.AppendUint64(nil, uint64(r.next))},
	}, nil
}

func (r *numberReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

func (r *numberReader[T]) Close(context.Context) error { return nil }

func countUp(buf []int, from int) {
	for i := range buf {
		buf[i] = from + i
	}
}

// runnelCore is the chain in Runnel, with a checkpoint every interval.
func runnelCore(src numbers[int], interval time.Duration) func(context.Context, int) (int64, error) {
	return func(ctx context.Context, n int) (int64, error) {
		src.n = n
		p := runnel.New("core", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(interval)))
		first := flow.Map(runnel.From(p, src), userChain.first)
		last := flow.Map(flow.Filter(first, userChain.keep), userChain.last)
		count := sink.Discard[int]()
		last.To(count)
		err := p.Run(ctx)
		return count.Count(), err
	}
}

// withMeta gives every record what metaAt does: an event time and an offset of its own, and a key.
func withMeta(at time.Time) func(*runnel.Draft[int], int) {
	key, part := []byte("key"), runnel.NewAssignment("numbers", "0")
	return func(d *runnel.Draft[int], from int) {
		keys, times, offsets := d.Keys(), d.Times(), d.Offsets(part)
		for i := range d.Values {
			keys[i], times[i], offsets[i] = key, at, int64(from+i)
		}
	}
}

// hashed is a result of async: the block and its hash.
type hashed struct {
	block  *block
	digest digest
}

// runnelAsync hashes with two workers, in order. Blocks are used again, as in the version by hand.
func runnelAsync(ctx context.Context, n int) (int64, error) {
	pool := &sync.Pool{New: func() any { return new(block) }}
	p := runnel.New("async")
	blocks := runnel.From(p, numbers[*block]{n: n, values: func(buf []*block, from int) {
		for i := range buf {
			buf[i] = pool.Get().(*block)
			blockAt(buf[i], from+i)
		}
	}})
	order := &orderSink{pool: pool}
	flow.MapAsync(blocks, func(_ context.Context, b *block) (hashed, error) {
		return hashed{b, userHash(b)}, nil
	}, runnel.Parallel(workers)).To(order)
	err := p.Run(ctx)
	return order.count, err
}

// orderSink counts the results that come in their order.
type orderSink struct {
	check
	pool *sync.Pool
}

func (s *orderSink) Open(context.Context, runnel.SinkEnv) (runnel.Writer[hashed], error) {
	return s, nil
}

func (s *orderSink) Write(_ context.Context, b runnel.Batch[hashed]) error {
	for _, h := range b.Values() {
		s.one(h.block)
		s.pool.Put(h.block)
	}
	return nil
}

func (s *orderSink) Flush(context.Context) error { return nil }

func (s *orderSink) Close(context.Context) error { return nil }

// convertRunnel is the program of file in Runnel, with checkpoints every 500 ms in a folder beside the output.
func convertRunnel(workers int) func(in, out string) error {
	return func(in, out string) error {
		state, err := os.MkdirTemp(filepath.Dir(out), "state")
		if err != nil {
			return err
		}
		defer os.RemoveAll(state)
		p := runnel.New("file", runnel.Checkpoint(checkpoint.Dir(state), checkpoint.Every(500*time.Millisecond)))
		var flights runnel.Stream[flight]
		if workers == 1 {
			flights = runnel.From(p, filesource.NDJSON[flight](in))
		} else {
			flights = flow.Decode(runnel.From(p, filesource.Lines(in)), filesource.ParseJSON[flight](), runnel.Parallel(workers))
		}
		late := flow.Filter(flights, func(f flight) bool { return f.Delay > 15 })
		late.To(filesink.CSV(out, csvColumns, flightRow(), filesink.Replace()))
		return p.Run(context.Background())
	}
}

var csvColumns = []string{"id", "date", "delay", "distance", "origin", "destination"}

// flightRow returns a function that fills the same row each time.
func flightRow() func(flight) []string {
	row := make([]string, len(csvColumns))
	return func(f flight) []string {
		row[0], row[1] = strconv.Itoa(f.ID), f.Date
		row[2], row[3] = strconv.Itoa(f.Delay), strconv.Itoa(f.Distance)
		row[4], row[5] = f.Origin, f.Destination
		return row
	}
}

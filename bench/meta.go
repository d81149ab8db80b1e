package main

import (
	"context"
	"time"
)

// meta is what Runnel carries beside a value: key, event time, headers and origin.
type meta struct {
	key     []byte
	time    time.Time
	headers []header
	origin  origin
}

type header struct {
	name  string
	value []byte
}

type origin struct {
	source, partition string
	offset            int64
}

// columns is a batch of values beside their metadata.
type columns struct {
	values []int
	meta   []meta
}

// record is a value together with its metadata.
type record struct {
	value int
	meta
}

func metaGroup(settings) (group, error) {
	return group{
		title: "meta: as core over three hops, with key, time, headers and origin beside each value",
		n:     10_000_000,
		unit:  "records/s",
		want:  func(n int) int64 { return int64(n / 2) },
		contenders: []contender{
			entry{label: "values alone", work: batchesThreeHops},
			entry{label: "Runnel, with metadata", work: runnelCore(numbers[int]{values: countUp, meta: withMeta(time.Now())}, 100*time.Millisecond)},
			entry{label: "columns without metadata", work: columnsAlone},
			entry{label: "columns with metadata", work: columnsWithMeta},
			entry{label: "slices of records", work: slicesOfRecords},
			entry{label: "slices of records, a new slice in each map", part: 10, work: copiedRecords},
		},
	}, nil
}

func metaAt(i int, at time.Time) meta {
	return meta{time: at, origin: origin{source: "numbers", partition: "0", offset: int64(i)}}
}

func columnHops(fill func(b *columns, from, to int)) hops[*columns] {
	c := userChain
	return hops[*columns]{
		fresh: func() *columns { return &columns{values: make([]int, 0, batchSize)} },
		fill: func(b *columns, from, to int) *columns {
			fill(b, from, to)
			return b
		},
		steps: []func(*columns) *columns{mapColumns(c.first), filterColumns(c.keep), mapColumns(c.last)},
		size:  func(b *columns) int { return len(b.values) },
	}
}

func columnsAlone(ctx context.Context, n int) (int64, error) {
	return columnHops(func(b *columns, from, to int) { b.values = fillNumbers(b.values[:0], from, to) }).run(ctx, n)
}

func columnsWithMeta(ctx context.Context, n int) (int64, error) {
	now := time.Now()
	return columnHops(func(b *columns, from, to int) {
		b.values = fillNumbers(b.values[:0], from, to)
		b.meta = b.meta[:0]
		for i := from; i < to; i++ {
			b.meta = append(b.meta, metaAt(i, now))
		}
	}).run(ctx, n)
}

func mapColumns(f func(int) int) func(*columns) *columns {
	g := mapped(f)
	return func(b *columns) *columns {
		b.values = g(b.values)
		return b
	}
}

func filterColumns(keep func(int) bool) func(*columns) *columns {
	return func(b *columns) *columns {
		n := 0
		for i, x := range b.values {
			if !keep(x) {
				continue
			}
			b.values[n] = x
			if b.meta != nil {
				b.meta[n] = b.meta[i]
			}
			n++
		}
		b.values = b.values[:n]
		b.meta = b.meta[:min(n, len(b.meta))]
		return b
	}
}

func recordHops(first, last func([]record) []record) hops[[]record] {
	now := time.Now()
	return hops[[]record]{
		fresh: func() []record { return make([]record, 0, batchSize) },
		fill: func(b []record, from, to int) []record {
			b = b[:0]
			for i := from; i < to; i++ {
				b = append(b, record{i, metaAt(i, now)})
			}
			return b
		},
		steps: []func([]record) []record{first, filterRecords(userChain.keep), last},
		size:  func(b []record) int { return len(b) },
	}
}

func slicesOfRecords(ctx context.Context, n int) (int64, error) {
	return recordHops(mapRecords(userChain.first), mapRecords(userChain.last)).run(ctx, n)
}

// copiedRecords makes a new batch in each map, as it must where the map changes the type.
func copiedRecords(ctx context.Context, n int) (int64, error) {
	return recordHops(copyRecords(userChain.first), copyRecords(userChain.last)).run(ctx, n)
}

func mapRecords(f func(int) int) func([]record) []record {
	return func(b []record) []record {
		for i := range b {
			b[i].value = f(b[i].value)
		}
		return b
	}
}

func copyRecords(f func(int) int) func([]record) []record {
	return func(b []record) []record {
		out := make([]record, len(b))
		for i := range b {
			out[i] = record{f(b[i].value), b[i].meta}
		}
		return out
	}
}

func filterRecords(keep func(int) bool) func([]record) []record {
	return func(b []record) []record {
		kept := b[:0]
		for i := range b {
			if keep(b[i].value) {
				kept = append(kept, b[i])
			}
		}
		return kept
	}
}

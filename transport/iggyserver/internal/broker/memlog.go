package broker

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/runnel-go/runnel/transport/wire"
)

// memLog is a log in memory.
type memLog struct {
	segmentBytes uint64

	mu       sync.RWMutex
	batches  []storedBatch // by offset; guarded by mu, as all that follows
	segments []int         // how many batches each segment has, the oldest first; the last one is open
	open     uint64        // bytes of the open segment
	next     uint64        // offset of the next message
	end      uint64        // bytes of all that was ever stored
}

// storedBatch is a batch with what is needed to find it.
type storedBatch struct {
	data []byte
	base uint64 // offset of the first message
	time uint64 // when it was stored, in microseconds since 1970
	ends uint64 // bytes of all that was ever stored, up to its end
}

func newMemLog(segmentBytes uint64) *memLog {
	return &memLog{segmentBytes: segmentBytes, segments: []int{0}}
}

// Append implements [Log].
func (l *memLog) Append(batch []byte) error {
	h, err := wire.DecodeBatchHeader(batch)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.BaseOffset != l.next {
		return fmt.Errorf("append: batch begins at offset %d, the log goes on at %d", h.BaseOffset, l.next)
	}
	l.add(storedBatch{data: batch, base: h.BaseOffset, time: h.BaseTimestamp}, h.Count)
	return nil
}

// Read implements [Log].
func (l *memLog) Read(dst []byte, from uint64, limit ReadLimit) ([]byte, uint32, error) {
	batches := l.from(from)
	var count uint32
	begin := len(dst)
	for i := range batches {
		room := limit.Bytes - (len(dst) - begin)
		more := ReadLimit{Count: limit.Count - count, Bytes: room, AtLeastOne: limit.AtLeastOne && count == 0}
		longer, n, err := AppendWithin(dst, batches[i].data, from, more)
		if err != nil {
			return dst, count, fmt.Errorf("read at offset %d: %w", batches[i].base, err)
		}
		dst, count = longer, count+n
		if n == 0 || count == limit.Count {
			break
		}
	}
	return dst, count, nil
}

// from returns the batches from that with the offset on. They do not change: appending goes on behind them, and removing
// leaves them to who has them.
func (l *memLog) from(offset uint64) []storedBatch {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if offset >= l.next {
		return nil
	}
	return l.batches[l.index(offset):]
}

// index returns the place of the batch with the offset, or of the oldest one if the offset was removed.
func (l *memLog) index(offset uint64) int {
	at, exact := slices.BinarySearchFunc(l.batches, offset, func(b storedBatch, offset uint64) int {
		switch {
		case b.base < offset:
			return -1
		case b.base > offset:
			return 1
		}
		return 0
	})
	if !exact && at > 0 {
		at--
	}
	return at
}

// Since implements [Log].
func (l *memLog) Since(micros uint64) (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	at, _ := slices.BinarySearchFunc(l.batches, micros, func(b storedBatch, micros uint64) int {
		if b.time < micros {
			return -1
		}
		return 1
	})
	if at == len(l.batches) {
		return l.next, nil
	}
	return l.batches[at].base, nil
}

// Span implements [Log].
func (l *memLog) Span() Span {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := Span{First: l.next, Next: l.next, Segments: uint32(len(l.segments))}
	if len(l.batches) > 0 {
		s.First = l.batches[0].base
		s.Bytes = l.end - l.batches[0].begins()
		s.OldestUntil = l.batches[l.segments[0]-1].time
		s.Latest = l.batches[len(l.batches)-1].time
	}
	return s
}

func (b *storedBatch) begins() uint64 { return b.ends - uint64(len(b.data)) }

// After implements [Log].
func (l *memLog) After(offset uint64) uint64 {
	batches := l.from(offset)
	if len(batches) == 0 {
		return 0
	}
	return batches[len(batches)-1].ends - batches[0].begins()
}

// DropSegments implements [Log].
func (l *memLog) DropSegments(count uint32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.segments), int(min(count, 1<<30)))
	gone := 0
	for _, batches := range l.segments[:n] {
		gone += batches
	}
	l.batches = slices.Clone(l.batches[gone:]) // so that the memory of the others is free once no read has them
	l.segments = slices.Clone(l.segments[n:])
	if len(l.segments) == 0 {
		l.segments, l.open = []int{0}, 0
	}
	return nil
}

// Truncate implements [Log]. It stores what stays anew, as reads may have the batches that go.
func (l *memLog) Truncate(next uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if next >= l.next {
		return nil
	}
	old := l.batches
	if len(old) > 0 {
		l.end = old[0].begins()
	}
	l.batches, l.segments, l.open, l.next = nil, []int{0}, 0, next
	for _, b := range old {
		if b.base >= next {
			break
		}
		kept, count, err := wire.AppendSlice(nil, b.data, b.base, uint32(min(next-b.base, math.MaxUint32)))
		if err != nil {
			return fmt.Errorf("truncate to offset %d: %w", next, err)
		}
		if len(kept) == len(b.data) {
			kept = b.data // all of it
		}
		l.add(storedBatch{data: kept, base: b.base, time: b.time}, count)
	}
	return nil
}

// add puts a batch behind the others, in a new segment if the open one is full.
func (l *memLog) add(b storedBatch, count uint32) {
	size := uint64(len(b.data))
	if l.open > 0 && l.open+size > l.segmentBytes {
		l.segments, l.open = append(l.segments, 0), 0
	}
	l.end += size
	b.ends = l.end
	l.batches = append(l.batches, b)
	l.segments[len(l.segments)-1]++
	l.open += size
	l.next = b.base + uint64(count)
}

// Close implements [Log].
func (l *memLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches, l.segments, l.open = nil, []int{0}, 0
	return nil
}

// Remove implements [Log].
func (l *memLog) Remove() error { return l.Close() }

// NewMemoryLog returns a log in memory, as a broker without a store has it: for what is compared with it.
func NewMemoryLog(segmentBytes uint64) Log { return newMemLog(segmentBytes) }

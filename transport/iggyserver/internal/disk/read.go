package disk

import (
	"fmt"
	"slices"
	"sort"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// readAhead is how much is read at a time, unless a batch is larger.
const readAhead = 64 << 10

// spot is where a read of a segment begins and ends. What is behind the end may be in the making.
type spot struct {
	name    string
	at, end int64
}

// spot returns where the batch with an offset, or one shortly before it, is; ok is false at the end of the log.
func (l *log) spot(offset uint64) (p spot, first uint64, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if offset >= l.next || l.bytes == 0 {
		return spot{}, 0, false
	}
	i := max(0, sort.Search(len(l.segments), func(i int) bool { return l.segments[i].base > offset })-1)
	s := l.segments[i]
	k := max(0, sort.Search(len(s.index), func(k int) bool { return s.index[k].base > offset })-1)
	return spot{name: s.name, at: s.index[k].at, end: s.size}, max(offset, s.base), true
}

// Read implements [broker.Log].
func (l *log) Read(dst []byte, from uint64, limit broker.ReadLimit) ([]byte, uint32, error) {
	l.reading.RLock()
	defer l.reading.RUnlock()
	r := reader{dst: dst, kept: len(dst), from: from, limit: limit}
	for !r.done {
		p, first, ok := l.spot(r.from)
		if !ok {
			break
		}
		r.from = first
		if err := r.read(&l.store.files, p); err != nil {
			return dst, 0, fmt.Errorf("read %s at offset %d: %w", p.name, r.from, err)
		}
	}
	return r.dst[:r.kept], r.count, nil
}

// reader gathers batches. What it reads from a file lies in dst right behind what it keeps.
type reader struct {
	dst   []byte
	kept  int    // of dst
	count uint32 // messages in that
	from  uint64
	limit broker.ReadLimit
	done  bool

	file file
	at   int64 // in the file, where dst ends
	end  int64
}

// read gathers what one segment has.
func (r *reader) read(files *files, p spot) error {
	f, err := files.take(p.name)
	if err != nil {
		return err
	}
	defer files.give(f)
	r.file, r.at, r.end, r.dst = f, p.at, p.end, r.dst[:r.kept]
	for !r.done && r.at-int64(len(r.dst)-r.kept) < r.end {
		if err := r.batch(); err != nil {
			return err
		}
	}
	return nil
}

// batch takes the next batch, or what of it is wanted.
func (r *reader) batch() error {
	if err := r.ahead(wire.BatchHeaderSize); err != nil {
		return err
	}
	h, err := wire.DecodeBatchHeader(r.dst[r.kept:])
	if err != nil {
		return err
	}
	if err := r.ahead(int(h.Length)); err != nil {
		return err
	}
	begin, behind := r.kept, r.kept+int(h.Length)
	if h.BaseOffset+uint64(h.Count) <= r.from {
		r.dst = slices.Delete(r.dst, begin, behind) // moves few bytes: the index led here
		return nil
	}
	if r.from <= h.BaseOffset && h.Count <= r.limit.Count && int(h.Length) <= r.limit.Bytes {
		r.take(behind, h.Count)
		r.from = h.BaseOffset + uint64(h.Count)
		return nil
	}
	return r.part(r.dst[begin:behind], &h)
}

// part takes a part of a batch.
func (r *reader) part(batch []byte, h *wire.BatchHeader) error {
	longer, n, err := broker.AppendWithin(r.dst[:r.kept], slices.Clone(batch), r.from, r.limit)
	if err != nil {
		return err
	}
	r.done = n == 0 || r.from+uint64(n) < h.BaseOffset+uint64(h.Count)
	r.from += uint64(n)
	rest := slices.Clone(r.dst[r.kept+len(batch):])
	r.take(len(longer), n)
	longer = append(longer, rest...)
	r.dst = longer
	return nil
}

// take keeps what lies before end.
func (r *reader) take(end int, count uint32) {
	r.limit.AtLeastOne = r.limit.AtLeastOne && count == 0
	r.limit.Bytes -= end - r.kept
	r.kept = end
	r.count += count
	r.limit.Count -= count
	r.done = r.done || r.limit.Count == 0
}

// ahead has at least so many bytes read behind what is kept, and more if there is room.
func (r *reader) ahead(n int) error {
	have := len(r.dst) - r.kept
	if have >= n {
		return nil
	}
	want := max(n-have, min(readAhead, cap(r.dst)-len(r.dst)))
	want = int(min(int64(want), r.end-r.at))
	r.dst = slices.Grow(r.dst, want)
	got, err := r.file.ReadAt(r.dst[len(r.dst):len(r.dst)+want], r.at)
	r.dst, r.at = r.dst[:len(r.dst)+got], r.at+int64(got)
	if len(r.dst)-r.kept < n && err == nil {
		return errTorn
	}
	return err
}

// After implements [broker.Log].
func (l *log) After(offset uint64) uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if offset >= l.next {
		return 0
	}
	left := l.bytes
	for _, s := range l.segments {
		k := sort.Search(len(s.index), func(k int) bool { return s.index[k].base > offset }) - 1
		if k >= 0 {
			left = min(left, l.after(s)+uint64(s.size-s.index[k].at))
		}
	}
	return left
}

// after is the number of bytes in later segments.
func (l *log) after(s *segment) (bytes uint64) {
	for i := len(l.segments) - 1; i >= 0 && l.segments[i] != s; i-- {
		bytes += uint64(l.segments[i].size)
	}
	return bytes
}

// Since implements [broker.Log].
func (l *log) Since(micros uint64) (uint64, error) {
	l.reading.RLock()
	defer l.reading.RUnlock()
	l.mu.RLock()
	next, segments := l.next, l.segments
	i := sort.Search(len(segments), func(i int) bool { return segments[i].last >= micros })
	if i == len(segments) {
		l.mu.RUnlock()
		return next, nil
	}
	s := segments[i]
	k := max(0, sort.Search(len(s.index), func(k int) bool { return s.index[k].time >= micros })-1)
	p := spot{name: s.name, at: s.index[k].at, end: s.size}
	l.mu.RUnlock()
	f, err := l.store.files.take(p.name)
	if err != nil {
		return 0, err
	}
	defer l.store.files.give(f)
	head := make([]byte, wire.BatchHeaderSize)
	for at := p.at; at < p.end; {
		if _, err := f.ReadAt(head, at); err != nil {
			return 0, err
		}
		h, err := wire.DecodeBatchHeader(head)
		if err != nil || h.BaseTimestamp >= micros {
			return h.BaseOffset, err
		}
		at += int64(h.Length)
	}
	return next, nil
}

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/runnel-go/runnel/transport/wire"
)

// DropSegments implements [broker.Log]: the oldest first, so that a crash leaves no gap. If all go, an empty one keeps the
// next offset.
func (l *log) DropSegments(count uint32) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	n := min(len(l.segments), int(min(count, math.MaxInt32)))
	if n == len(l.segments) && n > 0 && l.segments[n-1].size > 0 {
		s, err := l.create(l.next)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.segments = append(l.segments[:n:n], s)
		l.mu.Unlock()
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	for ; n > 0 && l.segments[0].size > 0; n-- {
		if err := l.unlink(l.segments[0]); err != nil {
			return err
		}
		l.mu.Lock()
		l.bytes -= uint64(l.segments[0].size)
		l.segments = l.segments[1:]
		l.mu.Unlock()
	}
	return nil
}

// unlink removes the file of a segment.
func (l *log) unlink(s *segment) error {
	if err := errors.Join(l.store.files.forget(s.name), os.Remove(s.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Truncate implements [broker.Log]: the newest segments go first, so that a crash leaves no gap.
func (l *log) Truncate(next uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.reading.Lock()
	defer l.reading.Unlock()
	if next >= l.next {
		return nil
	}
	last, err := l.truncate(next)
	if err != nil {
		l.broken = err // what is there is not what is known
		return fmt.Errorf("truncate to offset %d: %w", next, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments[:len(l.segments):len(l.segments)], last)
	l.next, l.bytes = next, 0
	for _, s := range l.segments {
		l.bytes += uint64(s.size)
	}
	return nil
}

// truncate removes files, and returns what the last segment is then.
func (l *log) truncate(next uint64) (*segment, error) {
	for n := len(l.segments) - 1; n >= 0; n-- {
		s := l.segments[n]
		l.mu.Lock()
		l.segments = l.segments[:n:n]
		l.mu.Unlock()
		if s.base < next {
			return l.shorten(s, next)
		}
		if err := l.unlink(s); err != nil {
			return nil, err
		}
	}
	return l.create(next)
}

// shorten cuts a segment in two, and returns what stays.
func (l *log) shorten(s *segment, next uint64) (*segment, error) {
	f, err := l.store.files.take(s.name)
	if err != nil {
		return nil, err
	}
	defer l.store.files.give(f)
	kept := newSegment(s.name, s.base)
	head := make([]byte, wire.BatchHeaderSize)
	for kept.size < s.size {
		if _, err := f.ReadAt(head, kept.size); err != nil {
			return nil, err
		}
		h, err := wire.DecodeBatchHeader(head)
		if err != nil {
			return nil, err
		}
		if h.BaseOffset+uint64(h.Count) > next {
			return kept, l.divide(f, kept, &h, next)
		}
		kept.add(&h)
	}
	return kept, f.Truncate(kept.size)
}

// divide ends a segment with the part of a batch that lies before an offset, if there is one.
func (l *log) divide(f file, kept *segment, h *wire.BatchHeader, next uint64) error {
	batch := make([]byte, h.Length)
	if _, err := f.ReadAt(batch, kept.size); err != nil {
		return err
	}
	if err := f.Truncate(kept.size); err != nil || next <= h.BaseOffset {
		return err
	}
	part, _, err := wire.AppendSlice(nil, batch, h.BaseOffset, uint32(next-h.BaseOffset))
	if err == nil {
		err = wire.StampBatch(part, l.spec.Partition, h.BaseOffset, h.BaseTimestamp)
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(part, kept.size); err != nil {
		return err
	}
	h.Length = uint64(len(part))
	kept.add(h)
	return nil
}

// Remove implements [broker.Log].
func (l *log) Remove() error {
	l.fail(os.ErrClosed)
	l.reading.Lock()
	defer l.reading.Unlock()
	l.store.forget(l)
	var faults []error
	segments := l.all()
	l.mu.Lock()
	l.segments, l.bytes = nil, 0
	l.mu.Unlock()
	for _, s := range segments {
		faults = append(faults, l.store.files.forget(s.name))
	}
	return errors.Join(append(faults, os.RemoveAll(l.dir))...)
}

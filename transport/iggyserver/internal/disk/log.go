package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/internal/fsync"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// log is the log of a partition: segments in a folder. Locks: writing comes first, then reading, then mu.
type log struct {
	store *Store
	dir   string
	spec  broker.LogSpec

	writing sync.Mutex   // one change at a time
	broken  error        // why nothing may be appended any more; guarded by writing
	made    bool         // whether the folder is there; guarded by writing
	reading sync.RWMutex // shared by who reads files, alone for who takes them away

	mu       sync.RWMutex
	segments []*segment // the oldest first; guarded by mu, as what follows
	next     uint64     // offset of the next message
	bytes    uint64
}

// segment is a file of batches.
type segment struct {
	name  string // path
	base  uint64 // first offset, or that of the next message
	size  int64
	index []entry     // of some batches, the first one among them
	last  uint64      // when the newest batch was stored
	dirty atomic.Bool // it may have what is not durable
}

func newSegment(name string, base uint64) *segment {
	s := &segment{name: name, base: base}
	s.dirty.Store(true)
	return s
}

// entry is where a batch is.
type entry struct {
	base, time uint64
	at         int64
}

// indexEvery is how many bytes are between entries of the index, at least: it is what a read may have to skip.
const indexEvery = 32 << 10

// add takes note of a batch behind the others.
func (s *segment) add(h *wire.BatchHeader) {
	if len(s.index) == 0 || s.size-s.index[len(s.index)-1].at >= indexEvery {
		s.index = append(s.index, entry{base: h.BaseOffset, time: h.BaseTimestamp, at: s.size})
	}
	s.size += int64(h.Length)
	s.last = h.BaseTimestamp
}

func (l *log) segmentName(base uint64) string {
	return filepath.Join(l.dir, fmt.Sprintf("%020d.log", base))
}

// Append implements [broker.Log]: in one write. After an error the file is as it was.
func (l *log) Append(batch []byte) error {
	h, err := wire.DecodeBatchHeader(batch)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	switch {
	case l.broken != nil:
		return fmt.Errorf("append to %s: an earlier error: %w", l.dir, l.broken)
	case h.BaseOffset != l.next:
		return fmt.Errorf("append: batch begins at offset %d, the log goes on at %d", h.BaseOffset, l.next)
	}
	s, err := l.room(int64(len(batch)))
	if err == nil {
		err = l.write(s, batch)
	}
	if err != nil {
		l.store.options.Logger.Error("messages were not stored and are refused", "folder", l.dir, "error", err)
		return fmt.Errorf("append: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.add(&h)
	l.next += uint64(h.Count)
	l.bytes += h.Length
	return nil
}

// room returns the open segment, a new one if so many bytes do not fit into the last.
func (l *log) room(size int64) (*segment, error) {
	if n := len(l.segments); n > 0 {
		s := l.segments[n-1]
		if s.size == 0 || uint64(s.size+size) <= l.spec.SegmentBytes {
			return s, nil
		}
	}
	s, err := l.create(l.next)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments[:len(l.segments):len(l.segments)], s)
	return s, nil
}

// create makes the file of an empty segment.
func (l *log) create(base uint64) (*segment, error) {
	durable := l.store.options.Fsync != FsyncNever
	if !l.made {
		if err := os.MkdirAll(l.dir, dirMode); err != nil {
			return nil, err
		}
		if durable {
			if err := fsync.Dir(filepath.Dir(l.dir)); err != nil {
				return nil, err
			}
		}
		l.made = true
	}
	s := newSegment(l.segmentName(base), base)
	f, err := l.store.files.take(s.name)
	if err != nil {
		return nil, err
	}
	defer l.store.files.give(f)
	if durable {
		return s, fsync.Dir(l.dir)
	}
	return s, nil
}

// write puts bytes behind a segment.
func (l *log) write(s *segment, b []byte) error {
	f, err := l.store.files.take(s.name)
	if err != nil {
		return err
	}
	defer l.store.files.give(f)
	if _, err := f.WriteAt(b, s.size); err != nil {
		l.broken = f.Truncate(s.size)
		return errors.Join(err, l.broken)
	}
	s.dirty.Store(true) // behind the write: a sync in between does not know it
	switch fsync := l.store.options.Fsync; {
	case fsync == FsyncAlways:
		if err := f.Sync(); err != nil {
			l.broken = err // what is on disk is not known any more
			return errors.Join(err, f.Truncate(s.size))
		}
	case fsync > 0:
		l.store.wrote(l)
	}
	return nil
}

// sync makes everything durable. If that is not possible nothing more is appended: what is on disk is not known any more.
func (l *log) sync() error {
	err := l.syncFiles()
	if err != nil {
		l.fail(err)
	}
	return err
}

func (l *log) syncFiles() error {
	l.reading.RLock()
	defer l.reading.RUnlock()
	for _, s := range l.all() {
		if !s.dirty.Swap(false) {
			continue
		}
		f, err := l.store.files.take(s.name)
		if err == nil {
			err = f.Sync()
			l.store.files.give(f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// fail has all further appends refused.
func (l *log) fail(err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.broken = err
}

// all returns the segments.
func (l *log) all() []*segment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.segments
}

// Span implements [broker.Log].
func (l *log) Span() broker.Span {
	l.mu.RLock()
	defer l.mu.RUnlock()
	span := broker.Span{First: l.next, Next: l.next, Bytes: l.bytes, Segments: uint32(max(1, len(l.segments)))}
	for i := len(l.segments) - 1; i >= 0 && span.Latest == 0; i-- {
		span.Latest = l.segments[i].last
	}
	if len(l.segments) > 0 {
		span.First, span.OldestUntil = l.segments[0].base, l.segments[0].last
	}
	return span
}

// Close implements [broker.Log]. The files are closed by the store.
func (l *log) Close() error {
	l.fail(os.ErrClosed)
	return nil
}

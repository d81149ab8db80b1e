package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// openLog reads and checks what there is of a log.
func openLog(s *Store, dir string, spec broker.LogSpec) (*log, error) {
	l := &log{store: s, dir: dir, spec: spec}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.made = true
	for i, e := range entries {
		base, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), ".log"), 10, 64)
		if err != nil || filepath.Base(l.segmentName(base)) != e.Name() {
			return nil, fmt.Errorf("%s is no segment", filepath.Join(dir, e.Name()))
		}
		if err := l.recover(base, i == 0, i == len(entries)-1); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// recover reads and checks a segment. Only the newest may have an end that is torn.
func (l *log) recover(base uint64, oldest, newest bool) error {
	seg := newSegment(l.segmentName(base), base)
	if oldest {
		l.next = base
	}
	if base != l.next {
		return &DamageError{File: seg.name, Err: fmt.Errorf("it begins at offset %d, the segment before ends at %d", base, l.next)}
	}
	f, err := l.store.files.take(seg.name)
	if err != nil {
		return err
	}
	defer l.store.files.give(f)
	size, err := sizeOf(f)
	for err == nil && seg.size < size {
		err = l.recoverBatch(seg, f, size)
	}
	if errors.Is(err, errTorn) && newest {
		l.store.options.Logger.Warn("cut off what a process that ended left half written",
			"file", seg.name, "offset", seg.size, "bytes", size-seg.size)
		err = f.Truncate(seg.size)
	}
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return err
	case err != nil:
		return &DamageError{File: seg.name, Offset: seg.size, Err: err}
	}
	l.segments = append(l.segments, seg)
	l.bytes += uint64(seg.size)
	return nil
}

// recoverBatch reads and checks the next batch of a segment. The error is errTorn if what follows may be the beginning of
// a batch, or zeros, and nothing else.
func (l *log) recoverBatch(seg *segment, f file, size int64) error {
	left := size - seg.size
	head := make([]byte, min(left, wire.BatchHeaderSize))
	if _, err := f.ReadAt(head, seg.size); err != nil {
		return err
	}
	if int64(len(head)) == left && left < wire.BatchHeaderSize {
		return errTorn
	}
	h, err := wire.DecodeBatchHeader(head)
	switch {
	case err != nil && zerosFrom(f, seg.size, size):
		return errTorn
	case err != nil:
		return err
	case h.BaseOffset != l.next, h.PartitionID != uint64(l.spec.Partition):
		return fmt.Errorf("a batch of partition %d at offset %d, not of %d at %d",
			h.PartitionID, h.BaseOffset, l.spec.Partition, l.next)
	}
	batch := make([]byte, min(left, int64(h.Length)))
	if _, err := f.ReadAt(batch, seg.size); err != nil {
		return err
	}
	if int64(h.Length) > left {
		return cutShort(batch, h.Count)
	}
	if _, err := wire.VerifyBatch(batch); err != nil {
		if zerosFrom(f, seg.size+int64(h.Length), size) {
			return errTorn
		}
		return err
	}
	seg.add(&h)
	l.next += uint64(h.Count)
	return nil
}

// cutShort looks at a batch that is longer than the file: it is torn if all that is there of its messages is right, or
// else its length is.
func cutShort(batch []byte, count uint32) error {
	whole := bytes.Clone(batch)
	if err := setLength(whole); err != nil {
		return err
	}
	r := wire.NewRecords(whole)
	var n uint32
	for r.Next() {
		if err := r.Verify(); err != nil {
			return err
		}
		n++
	}
	if n >= count || !errors.Is(r.Err(), wire.ErrShort) {
		return fmt.Errorf("a batch that is longer than its messages: %w", errFormat)
	}
	return errTorn
}

// setLength makes the length of a batch that of what is there.
func setLength(batch []byte) error {
	h, err := wire.DecodeBatchHeader(batch)
	if err != nil {
		return err
	}
	h.Length = uint64(len(batch))
	copy(batch, wire.AppendBatchHeader(nil, h))
	return nil
}

// zerosFrom says whether a file has nothing but zeros from a place on, as one may whose system lost power.
func zerosFrom(f file, at, size int64) bool {
	b := make([]byte, 64<<10)
	for at < size {
		n := min(int64(len(b)), size-at)
		if _, err := f.ReadAt(b[:n], at); err != nil || len(bytes.TrimLeft(b[:n], "\x00")) > 0 {
			return false
		}
		at += n
	}
	return true
}

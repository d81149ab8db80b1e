package disk

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/runnel-go/runnel/internal/fsync"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// When a journal is written anew: it is so many times as large as it was then, and more than so much.
const (
	growth      = 4
	smallGrowth = 1 << 20
)

// journal is the file of entries: a record for each commit, the last value of a key counts. It is written anew, with the
// values that count, when it is opened and when it has grown much.
type journal struct {
	name    string
	options Options
	fresh   bool // whether it was not there before
	torn    bool // whether its end was cut off when it was opened

	mu     sync.Mutex
	file   file              // guarded by mu, as what follows
	size   int64             // up to the last record that counts
	limit  int64             // the size at which it is written anew
	starts uint64            // how often it was opened before
	found  map[string][]byte // until it is loaded
	buffer []byte
	broken error // why nothing may be written any more
	dirty  bool
}

func openJournal(name string, options Options) (*journal, error) {
	j := &journal{name: name, options: options}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		j.fresh, j.found = true, map[string][]byte{}
	case err != nil:
		return nil, err
	default:
		if err := j.read(data); err != nil {
			return nil, err
		}
		j.starts++
	}
	return j, j.rewrite(j.found)
}

// read takes the entries from what the file has.
func (j *journal) read(data []byte) error {
	starts, err := readHead(data)
	if err != nil {
		return &DamageError{File: j.name, Err: err}
	}
	j.starts = starts
	entries, end, err := replay(data)
	switch {
	case errors.Is(err, errTorn):
		j.torn = true
		j.options.Logger.Warn("cut off what a process that ended left half written",
			"file", j.name, "offset", end, "bytes", int64(len(data))-end)
	case err != nil:
		return &DamageError{File: j.name, Offset: end, Err: err}
	}
	j.found = entries
	return nil
}

// replay carries out all records, and returns where the last one ends that is whole.
func replay(data []byte) (entries map[string][]byte, end int64, err error) {
	entries = map[string][]byte{}
	at := journalHead
	for at < len(data) {
		payload, size, err := nextRecord(data[at:])
		if err == nil {
			err = apply(entries, payload)
		}
		if err != nil {
			return entries, int64(at), err
		}
		at += size
	}
	return entries, int64(at), nil
}

// rewrite replaces the file by one that has these entries, durably.
func (j *journal) rewrite(entries map[string][]byte) error {
	data := appendHead(nil, j.starts)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		data = appendRecord(data, []broker.Change{{Key: key, Value: entries[key]}})
	}
	next := j.name + ".new"
	f, err := j.options.open(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // it is replaced; some systems want it closed for that
	}
	err = os.Rename(next, j.name)
	if err == nil {
		err = fsync.Dir(filepath.Dir(j.name))
	}
	opened, openErr := j.options.open(j.name, os.O_RDWR)
	if err = errors.Join(err, openErr); err != nil {
		j.broken = err // which of the two files is there is not known
		return err
	}
	j.file, j.size = opened, int64(len(data))
	j.limit = max(growth*j.size, smallGrowth)
	return nil
}

// checkBeside refuses a folder that has messages but no journal: it says what they are.
func (j *journal) checkBeside(partitions string) error {
	entries, err := os.ReadDir(partitions)
	if err != nil || !j.fresh || len(entries) == 0 {
		return err
	}
	return errors.Join(fmt.Errorf("%s is missing, though %s has messages", j.name, partitions), j.close(), os.Remove(j.name))
}

func (j *journal) load(entry func(key string, value []byte) error) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	found := j.found
	j.found = nil
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if err := entry(key, found[key]); err != nil {
			return 0, fmt.Errorf("%s: %w", j.name, err)
		}
	}
	return j.starts, nil
}

// commit appends a record, in one write. After an error the file is as it was.
func (j *journal) commit(changes []broker.Change) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return fmt.Errorf("%s: an earlier error: %w", j.name, j.broken)
	}
	j.buffer = appendRecord(j.buffer[:0], changes)
	_, err := j.file.WriteAt(j.buffer, j.size)
	if err != nil {
		j.broken = j.file.Truncate(j.size)
		return errors.Join(err, j.broken)
	}
	if j.options.Fsync == FsyncAlways {
		if err := j.file.Sync(); err != nil {
			j.broken = err // what is on disk is not known any more
			return errors.Join(err, j.file.Truncate(j.size))
		}
	}
	j.size += int64(len(j.buffer))
	j.dirty = true
	if j.size > j.limit {
		j.compact()
	}
	return nil
}

// compact writes the journal anew. If that is not possible it goes on as it is, for as long again.
func (j *journal) compact() {
	data := make([]byte, j.size)
	_, err := j.file.ReadAt(data, 0)
	var entries map[string][]byte
	if err == nil {
		entries, _, err = replay(data)
	}
	if err == nil {
		err = j.rewrite(entries)
	}
	if err != nil {
		j.limit = 2 * j.size
		j.options.Logger.Error("the journal could not be written anew", "file", j.name, "error", err)
	}
}

func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.dirty || j.broken != nil {
		return j.broken
	}
	j.dirty = false
	j.broken = j.file.Sync()
	return j.broken
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = os.ErrClosed
	}
	return j.file.Close()
}

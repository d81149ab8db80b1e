// Package disk keeps what the embedded Iggy server must not forget in a folder: a journal of the metadata and of the offsets
// of consumers, and an append-only log of segments for each partition.
//
//	store, err := disk.Open(dir, disk.Options{Fsync: disk.FsyncEvery(time.Second)})
//	b, err := broker.New(broker.Config{Store: store})
//	…
//	err = errors.Join(b.Close(), store.Close())
//
// In the folder are lock, journal, and partitions/STREAM.TOPIC.PARTITION.INCARNATION/OFFSET.log: a segment is named by its
// first offset and has batches as the protocol has them, whose checksums tell damage. A partition that never had a message
// has no folder.
//
// Open reads and checks everything. What a process left half written at the end of a file when it was killed is cut off,
// and reported; it was never acknowledged. Damage anywhere else is a [*DamageError], and the file is left as it is.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/runnel-go/runnel/internal/fsync"
	"github.com/runnel-go/runnel/internal/lockfile"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// ErrInUse is returned by [Open] for a folder that a process uses.
var ErrInUse = errors.New("folder is in use by another process")

// DamageError says where a file holds what nobody wrote there, though valid data may follow.
type DamageError struct {
	// File is the path of the file.
	File string
	// Offset is the place in it, in bytes.
	Offset int64
	// Err is what is wrong there.
	Err error
}

// Error names file and place.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap returns what is wrong.
func (e *DamageError) Unwrap() error { return e.Err }

// Store is a folder in use. It implements [broker.Store]; its methods may be called concurrently.
type Store struct {
	dir     string
	options Options
	lock    *os.File
	journal *journal
	files   files
	stop    chan struct{}
	syncing sync.WaitGroup

	mu     sync.Mutex
	opened map[string]bool // folders of partitions; guarded by mu, as what follows
	dirty  map[*log]bool   // logs with what is not durable
}

var _ broker.Store = (*Store)(nil)

// Open takes a folder, which it makes if it is not there. Errors: [ErrInUse] and [*DamageError].
func Open(dir string, options Options) (*Store, error) {
	s, err := open(dir, options.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return s, nil
}

func open(dir string, options Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, partitionsName), dirMode); err != nil {
		return nil, err
	}
	if options.Fsync != FsyncNever {
		if err := fsync.Dir(filepath.Dir(dir)); err != nil {
			return nil, err
		}
	}
	lock, err := lockfile.Lock(filepath.Join(dir, "lock"), fileMode)
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, options: options, lock: lock, opened: map[string]bool{}, dirty: map[*log]bool{}, stop: make(chan struct{}),
		files: files{open: options.open, most: options.OpenFiles, all: map[string]*openedFile{}},
	}
	if s.journal, err = openJournal(filepath.Join(dir, "journal"), options); err == nil {
		err = s.journal.checkBeside(filepath.Join(dir, partitionsName))
	}
	if err != nil {
		return nil, errors.Join(err, lockfile.Unlock(lock))
	}
	if options.Fsync > 0 {
		s.syncing.Go(s.syncLoop)
	}
	return s, nil
}

// partitionsName is the folder of the folders of partitions.
const partitionsName = "partitions"

// Load implements [broker.Store].
func (s *Store) Load(entry func(key string, value []byte) error) (uint64, error) {
	return s.journal.load(entry)
}

// Commit implements [broker.Store].
func (s *Store) Commit(changes ...broker.Change) error {
	err := s.journal.commit(changes)
	if err != nil {
		s.options.Logger.Error("a change was not stored and is refused", "file", s.journal.name, "error", err)
	}
	return err
}

// OpenLog implements [broker.Store].
func (s *Store) OpenLog(spec broker.LogSpec) (broker.Log, error) {
	name := fmt.Sprintf("%d.%d.%d.%d", spec.Stream, spec.Topic, spec.Partition, spec.Incarnation)
	s.mu.Lock()
	s.opened[name] = true
	s.mu.Unlock()
	return openLog(s, filepath.Join(s.dir, partitionsName, name), spec)
}

// setAsideName is the folder of folders of partitions that the journal does not know any more, though it may have.
const setAsideName = "set-aside"

// Prune implements [broker.Store]. If the end of the journal was cut off, the record of a partition may have been in it, as a
// bit that flipped there looks like an end that was half written: its messages are set aside and not removed then.
func (s *Store) Prune() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, partitionsName))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if s.opened[e.Name()] || strings.Count(e.Name(), ".") != 3 {
			continue
		}
		path := filepath.Join(s.dir, partitionsName, e.Name())
		if s.journal.torn {
			if err := s.setAside(path); err != nil {
				return err
			}
			continue
		}
		s.options.Logger.Warn("removed what was left of a deleted partition", "folder", path, "bytes", dirSize(path))
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// setAside moves the folder of a partition to where nobody removes it.
func (s *Store) setAside(path string) error {
	aside := filepath.Join(s.dir, setAsideName)
	if err := os.MkdirAll(aside, dirMode); err != nil {
		return err
	}
	to, err := os.MkdirTemp(aside, filepath.Base(path)+"-") // one of that name may be there already
	if err != nil {
		return err
	}
	s.options.Logger.Error("set aside the messages of a partition whose record may have been at the end of the journal that was cut off",
		"folder", path, "to", to, "bytes", dirSize(path))
	return errors.Join(os.Rename(path, filepath.Join(to, filepath.Base(path))), fsync.Dir(aside))
}

// Close makes everything durable, unless the policy is [FsyncNever], and gives the folder back. The broker is closed before.
func (s *Store) Close() error {
	close(s.stop)
	s.syncing.Wait()
	var err error
	if s.options.Fsync != FsyncNever {
		err = s.sync()
	}
	return errors.Join(err, s.files.close(), s.journal.close(), lockfile.Unlock(s.lock))
}

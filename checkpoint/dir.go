package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Dir returns a store that keeps checkpoints in a folder of the local disk, one file each. It is durable: a file is
// written under another name, synced, and renamed, so that a crash or loss of power at any moment leaves the former
// checkpoint or the new one.
//
// The path is not empty: "." is the working directory. A relative one is taken from the working directory at Open.
//
// Open creates the folder, and whatever is missing above it, if it is not there. The folder belongs to one pipeline
// and, while that runs, to one run: a lock file names the process that holds it, and the lock ends with the process
// even if that is killed. The disk must be local, or its locks and renames be as good as those of a local one.
//
// The two newest chains are kept, and at least three checkpoints; older ones are removed when a new one is stored.
// How long a chain becomes is up to who saves: each change is a file, and Load reads all of a chain.
// [Inspect] lists what is in the folder, also during a run; [Reset] empties it.
func Dir(path string) Store {
	return dirStore{path: path, system: system{makeFolder, openDisk, acquire}}
}

// system is what the store needs of the operating system.
type system struct {
	make    func(path string) error
	open    func(path string) folder
	acquire func(path, purpose string) (lease, error)
}

type dirStore struct {
	path   string
	system system
}

var _ Validator = dirStore{}

func (s dirStore) Durable() bool { return true }

// Validate refuses an empty path, which is more often a setting that is missing than the working directory.
func (s dirStore) Validate() error { return named("Dir", s.path) }

// named refuses a path of a folder that is empty.
func named(function, path string) error {
	if path == "" {
		return fmt.Errorf(`checkpoint: %s has an empty path: name the folder, or say "." for the working directory`, function)
	}
	return nil
}

// Open takes the folder for one run and removes what a crash left half written.
func (s dirStore) Open(ctx context.Context, pipeline string) (Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// The working directory may change during the run; the folder must not.
	path, err := filepath.Abs(s.path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := s.system.make(path); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	lease, err := s.system.acquire(path, "pipeline "+pipeline)
	if err != nil {
		return nil, err
	}
	l := &dirLog{path: path, pipeline: pipeline, files: s.system.open(path), lease: lease, out: newEncoder()}
	if err := l.takeStock(); err != nil {
		return nil, errors.Join(err, lease.release())
	}
	return l, nil
}

// takeStock reads what is stored and makes sure that it stays.
func (l *dirLog) takeStock() error {
	found, err := list(l.files)
	if err != nil {
		return fmt.Errorf("checkpoint: list %s: %w", l.path, err)
	}
	if l.index, err = readIndex(l.files, found.stored); err != nil {
		return fmt.Errorf("checkpoint: read %s: %w", l.path, err)
	}
	for _, e := range l.index {
		if e.bad == nil && e.pipeline != l.pipeline {
			return fmt.Errorf("%w: %s holds checkpoints of %q, not of %q", ErrOtherPipeline, l.path, e.pipeline, l.pipeline)
		}
	}
	for _, name := range found.temps {
		if err := l.files.Remove(name); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	// The process before may have died between a rename and its sync. What is returned from here on was decided, so
	// it must not vanish with the power.
	if err := l.files.Sync(); err != nil {
		return fmt.Errorf("checkpoint: sync %s: %w", l.path, err)
	}
	return nil
}

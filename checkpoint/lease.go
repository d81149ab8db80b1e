package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/runnel-go/runnel/internal/lockfile"
)

const (
	lockName = "runnel.lock"
	// maxHolder bounds what is read of a lock file; a holder takes far less.
	maxHolder = 4 << 10
)

// lease is the right to change a folder.
type lease interface {
	// check returns [ErrLeaseLost] if somebody took the lock file away.
	check() error
	release() error
}

// holder is what the lock file says of who holds it, for people to read.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	// For is what the lease was taken for.
	For string `json:"for"`
}

func (h holder) String() string {
	return fmt.Sprintf("pid %d on host %s since %s, %s", h.PID, h.Host, h.Since.Format(time.RFC3339), h.For)
}

// diskLease is a locked lock file. The lock ends with the process, however that ends.
type diskLease struct {
	path string
	f    *os.File
}

// acquire locks the folder for a purpose, which others are told. Errors: [ErrInUse], with who holds it.
func acquire(path, purpose string) (lease, error) {
	name := filepath.Join(path, lockName)
	f, err := lockfile.Lock(name, fileMode)
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s is held by %s", ErrInUse, path, readHolder(name))
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: lock %s: %w", path, err)
	}
	l := &diskLease{path: name, f: f}
	if err := l.sign(purpose); err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: lock %s: %w", path, err), l.release())
	}
	return l, nil
}

// sign writes who holds the lock.
func (l *diskLease) sign(purpose string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	text, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Since: time.Now().Truncate(time.Second), For: purpose})
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.WriteAt(append(text, '\n'), 0)
	return err
}

// readHolder describes who holds a lock, as far as can be known: it may be written at this moment.
func readHolder(name string) string {
	const unknown = "an unknown process"
	f, err := os.Open(name)
	if err != nil {
		return unknown
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil {
		return unknown
	}
	var h holder
	if json.Unmarshal(text, &h) != nil || h.PID == 0 {
		return unknown
	}
	return h.String()
}

func (l *diskLease) check() error {
	now, err := os.Stat(l.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}
	locked, err := l.f.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}
	if !os.SameFile(now, locked) {
		return fmt.Errorf("%w: %s was replaced", ErrLeaseLost, l.path)
	}
	return nil
}

// release wipes the holder, so that it is not mistaken for a present one, and unlocks.
func (l *diskLease) release() error {
	return errors.Join(l.f.Truncate(0), lockfile.Unlock(l.f))
}

package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/runnel-go/runnel/internal/fsync"
)

// Who may read: state holds what users' records held, so nobody outside the owner's group.
const (
	folderMode = 0o750
	fileMode   = 0o640
)

// folder is the folder of a store: the seam at which tests inject errors and lose power. Names are relative to it.
// Nothing is durable before Sync, of the file for its bytes and of the folder for its name.
type folder interface {
	fs.FS
	Create(name string) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	Sync() error
}

// file is a file that is being written.
type file interface {
	io.Writer
	Sync() error
	Close() error
}

// diskFolder is a folder of the operating system.
type diskFolder struct {
	fs.FS
	path string
}

func openDisk(path string) folder {
	return diskFolder{FS: os.DirFS(path), path: path}
}

// openExisting opens a folder of the user's choice, which may not be one.
func openExisting(path string) (folder, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return openDisk(path), nil
}

func (d diskFolder) Create(name string) (file, error) {
	return os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
}

func (d diskFolder) Rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

func (d diskFolder) Remove(name string) error { return os.Remove(filepath.Join(d.path, name)) }

func (d diskFolder) Sync() error { return fsync.Dir(d.path) }

// makeFolder creates path and what is missing above it, durably.
func makeFolder(path string) error {
	var missing []string
	for at := path; ; at = filepath.Dir(at) {
		_, err := os.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(path, folderMode); err != nil {
		return err
	}
	for _, made := range missing {
		if err := fsync.Dir(filepath.Dir(made)); err != nil {
			return err
		}
	}
	return nil
}

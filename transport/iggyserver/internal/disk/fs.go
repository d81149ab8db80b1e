package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Who may read: messages and hashes of passwords are for the owner alone.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// file is an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// opener opens a file with the flags of package os: the seam at which tests have a disk without room.
type opener func(name string, flag int) (file, error)

func openFile(name string, flag int) (file, error) { return os.OpenFile(name, flag, fileMode) }

// syncDir makes the names in a folder durable. Windows has no such call; its file system journals them.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// sizeOf is the number of bytes of a file.
func sizeOf(f file) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// dirSize is the number of bytes of the files in a folder, as far as it can be told.
func dirSize(path string) (bytes int64) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

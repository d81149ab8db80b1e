package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

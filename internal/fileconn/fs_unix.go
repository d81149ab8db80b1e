//go:build unix

package fileconn

import (
	"io/fs"
	"os"
	"syscall"
)

func openFile(name string, flag int, perm fs.FileMode) (File, error) {
	return openPlain(name, flag, perm)
}

func stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir syncs the directory itself.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}

// IDOf returns the identity of a file.
func IDOf(info fs.FileInfo) FileID {
	switch sys := info.Sys().(type) {
	case FileID:
		return sys
	case *syscall.Stat_t:
		return FileID{Device: uint64(sys.Dev), Inode: uint64(sys.Ino)} //nolint:unconvert // the widths differ by system
	}
	return FileID{}
}

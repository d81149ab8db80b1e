//go:build !unix && !windows

package fileconn

import (
	"io/fs"
	"os"
)

func openFile(name string, flag int, perm fs.FileMode) (File, error) {
	return openPlain(name, flag, perm)
}

func stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir does nothing: the system has no such call.
func (OS) SyncDir(string) error { return nil }

// IDOf returns the identity of a file: here only test file systems tell.
func IDOf(info fs.FileInfo) FileID {
	id, _ := info.Sys().(FileID)
	return id
}

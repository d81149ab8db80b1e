// Package fileconn holds what the file source and the file sink share: the seam to the file system and compression.
package fileconn

import (
	"io"
	"io/fs"
	"os"
)

// FS is the part of a file system that the connectors use. [OS] is the machine's; package faultfs has those of tests.
// Names are those of package os. It is safe for concurrent use.
type FS interface {
	// OpenFile opens a file with the flags of package os.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Stat returns what is known of the file that a name leads to.
	Stat(name string) (fs.FileInfo, error)
	// ReadDir returns the entries of a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// MkdirAll makes a directory and its parents where they are missing.
	MkdirAll(name string, perm fs.FileMode) error
	// Rename gives a file another name and replaces what had it.
	Rename(from, to string) error
	// Remove takes a name away; the file stays readable for who has it open.
	Remove(name string) error
	// Truncate sets the length of a file.
	Truncate(name string, size int64) error
	// SyncDir makes the names in a directory durable: files that were made, renamed or removed there.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	// Name returns the name that the file was opened with.
	Name() string
	// Stat returns what is known of the file, whatever its name is now.
	Stat() (fs.FileInfo, error)
	// Sync makes what was written durable; the name of a new file needs [FS.SyncDir] too.
	Sync() error
	// Truncate sets the length of the file and leaves the place of reading and writing where it is.
	Truncate(size int64) error
}

// FileID tells files of one machine apart while they exist. An inode is given to another file once its own is gone.
// The zero value means that the system does not tell.
type FileID struct {
	// Device is the number of the file system.
	Device uint64
	// Inode is the number of the file in it.
	Inode uint64
}

// Open opens a file to be read.
func Open(fsys FS, name string) (File, error) { return fsys.OpenFile(name, os.O_RDONLY, 0) }

// Create opens an empty file to be written; what had the name is cut to nothing.
func Create(fsys FS, name string, perm fs.FileMode) (File, error) {
	return fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
}

// OS is the file system of the machine.
type OS struct{}

var _ FS = OS{}

// OpenFile calls [os.OpenFile]. On Windows a file that is only read can be renamed and removed by others meanwhile.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return openFile(name, flag, perm)
}

// Stat calls [os.Stat].
func (OS) Stat(name string) (fs.FileInfo, error) { return stat(name) }

// ReadDir calls [os.ReadDir].
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// MkdirAll calls [os.MkdirAll].
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// Rename calls [os.Rename].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove calls [os.Remove].
func (OS) Remove(name string) error { return os.Remove(name) }

// Truncate calls [os.Truncate].
func (OS) Truncate(name string, size int64) error { return os.Truncate(name, size) }

// openPlain is os.OpenFile, but a nil *os.File in a File would not be nil.
func openPlain(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

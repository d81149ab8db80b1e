// Package faultfs holds file systems for tests: [Mem] lives in memory and can lose what was not synced, and [Inject]
// makes calls of any file system fail.
package faultfs

import (
	"io/fs"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Op is the kind of a call.
type Op string

// The calls that a [Hook] sees.
const (
	OpOpen     Op = "open"     // FS.OpenFile
	OpStat     Op = "stat"     // FS.Stat, File.Stat
	OpReadDir  Op = "readdir"  // FS.ReadDir
	OpMkdir    Op = "mkdir"    // FS.MkdirAll
	OpRename   Op = "rename"   // FS.Rename, by its old name
	OpRemove   Op = "remove"   // FS.Remove
	OpTruncate Op = "truncate" // FS.Truncate, File.Truncate
	OpSyncDir  Op = "syncdir"  // FS.SyncDir
	OpRead     Op = "read"     // File.Read, File.ReadAt
	OpWrite    Op = "write"    // File.Write
	OpSeek     Op = "seek"     // File.Seek
	OpSync     Op = "sync"     // File.Sync
	OpClose    Op = "close"    // File.Close: the file is closed, then the error returned
)

// Call is a call that is about to be made.
type Call struct {
	// Op is the kind of the call.
	Op Op
	// Name is the file or directory, as the caller named it.
	Name string
	// Len is the number of bytes of a read or write.
	Len int
}

// Hook is asked before each call: nil lets it happen, [Short] does a part of it, any other error is returned in its
// place. It is called from the caller's goroutine, also concurrently.
type Hook func(Call) error

// Short makes a read or write end after N bytes and return Err, which may be nil.
type Short struct { //nolint:errname // no failure by itself: it comes in the place of one
	// N is the number of bytes that are read or written.
	N int
	// Err is what the call returns.
	Err error
}

// Error says what it is: it never reaches the caller of the file.
func (*Short) Error() string { return "short read or write" }

// Inject returns a file system that asks hook before each call of fsys and of its files.
func Inject(fsys fileconn.FS, hook Hook) fileconn.FS { return injected{fsys, hook} }

type injected struct {
	fsys fileconn.FS
	hook Hook
}

func (i injected) OpenFile(name string, flag int, perm fs.FileMode) (fileconn.File, error) {
	if err := i.hook(Call{Op: OpOpen, Name: name}); err != nil {
		return nil, err
	}
	f, err := i.fsys.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &injectedFile{f, i.hook}, nil
}

func (i injected) Stat(name string) (fs.FileInfo, error) {
	if err := i.hook(Call{Op: OpStat, Name: name}); err != nil {
		return nil, err
	}
	return i.fsys.Stat(name)
}

func (i injected) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := i.hook(Call{Op: OpReadDir, Name: name}); err != nil {
		return nil, err
	}
	return i.fsys.ReadDir(name)
}

func (i injected) MkdirAll(name string, perm fs.FileMode) error {
	if err := i.hook(Call{Op: OpMkdir, Name: name}); err != nil {
		return err
	}
	return i.fsys.MkdirAll(name, perm)
}

func (i injected) Rename(from, to string) error {
	if err := i.hook(Call{Op: OpRename, Name: from}); err != nil {
		return err
	}
	return i.fsys.Rename(from, to)
}

func (i injected) Remove(name string) error {
	if err := i.hook(Call{Op: OpRemove, Name: name}); err != nil {
		return err
	}
	return i.fsys.Remove(name)
}

func (i injected) Truncate(name string, size int64) error {
	if err := i.hook(Call{Op: OpTruncate, Name: name}); err != nil {
		return err
	}
	return i.fsys.Truncate(name, size)
}

func (i injected) SyncDir(name string) error {
	if err := i.hook(Call{Op: OpSyncDir, Name: name}); err != nil {
		return err
	}
	return i.fsys.SyncDir(name)
}

package faultfs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// memFile is an open file of a [Mem].
type memFile struct {
	m      *Mem
	node   *inode
	name   string
	flag   int
	at     int64 // guarded by m.mu
	closed bool  // guarded by m.mu
}

func (f *memFile) Name() string { return f.name }

// usable returns an error if the file is closed, or not open for what op needs. m.mu is held.
func (f *memFile) usable(op string, unwanted int) error {
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	if f.flag&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR) == unwanted {
		return pathError(op, f.name, syscall.EBADF)
	}
	return nil
}

func (f *memFile) Read(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	n, err := f.readAt(p, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.readAt(p, off)
}

func (f *memFile) readAt(p []byte, off int64) (int, error) {
	if err := f.usable("read", os.O_WRONLY); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathError("read", f.name, syscall.EINVAL)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.usable("write", os.O_RDONLY); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		f.at = int64(len(f.node.data))
	}
	fits := len(p)
	if f.m.capacity >= 0 {
		left := int64(len(f.node.data)) - f.at + f.m.capacity - f.m.used
		fits = int(max(0, min(left, int64(len(p)))))
	}
	if end := f.at + int64(fits); end > int64(len(f.node.data)) {
		f.m.resize(f.node, end)
	}
	copy(f.node.data[f.at:], p[:fits])
	f.node.changed = time.Now()
	f.at += int64(fits)
	if fits < len(p) {
		return fits, pathError("write", f.name, syscall.ENOSPC)
	}
	return fits, nil
}

func (f *memFile) Seek(offset int64, whence int) (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, pathError("seek", f.name, fs.ErrClosed)
	}
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += int64(len(f.node.data))
	}
	if offset < 0 {
		return 0, pathError("seek", f.name, syscall.EINVAL)
	}
	f.at = offset
	return offset, nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return nil, pathError("stat", f.name, fs.ErrClosed)
	}
	return f.node.info(f.name), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("sync", f.name, fs.ErrClosed)
	}
	f.node.synced = slices.Clone(f.node.data)
	return nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.usable("truncate", os.O_RDONLY); err != nil {
		return err
	}
	f.m.resize(f.node, size)
	return nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.m.open--
	f.node.handles--
	f.m.drop(f.node)
	return nil
}

// memInfo is what is known of a file.
type memInfo struct {
	name    string
	size    int64
	changed time.Time
	id      fileconn.FileID
	dir     bool
}

// info returns what is known of the file now. The file system's mu is held.
func (n *inode) info(path string) memInfo {
	return memInfo{
		name: filepath.Base(path), size: int64(len(n.data)), changed: n.changed,
		id: fileconn.FileID{Device: 1, Inode: n.id},
	}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.changed }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return i.id }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

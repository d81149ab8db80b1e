package faultfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Mem is a file system in memory that knows what is durable: the bytes that were there at [fileconn.File].Sync, and the
// names that were there at [fileconn.FS].SyncDir; directories are durable at once. The number of an inode is given to
// the next new file as soon as its own is gone. There are no links and no permissions. It is safe for concurrent use.
type Mem struct {
	mu       sync.Mutex
	names    map[string]*inode // guarded by mu
	durable  map[string]*inode // guarded by mu: what names would be after a crash
	dirs     map[string]bool   // guarded by mu
	free     []uint64          // guarded by mu: numbers of inodes that are gone
	next     uint64            // guarded by mu
	open     int               // guarded by mu: files that are open
	used     int64             // guarded by mu: bytes of all inodes
	capacity int64             // guarded by mu; negative means no limit
}

var _ fileconn.FS = (*Mem)(nil)

// inode is a file; the file system's mu guards it.
type inode struct {
	id      uint64
	data    []byte
	synced  []byte
	changed time.Time
	names   int // how many names lead here
	handles int // how often it is open
}

// NewMem returns a file system with no file in it. The directory of any name is there once [Mem.MkdirAll] made it, "."
// and the root from the start.
func NewMem() *Mem {
	return &Mem{
		names:    map[string]*inode{},
		durable:  map[string]*inode{},
		dirs:     map[string]bool{".": true, string(filepath.Separator): true},
		capacity: -1,
	}
}

// SetCapacity bounds the bytes of all files. A write beyond it is short and returns ENOSPC. A negative number means no
// limit, which is the default.
func (m *Mem) SetCapacity(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

// OpenFiles returns how many files are open.
func (m *Mem) OpenFiles() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// Crash returns what a loss of power now would leave: synced names with their synced bytes, and up to keep bytes at the
// end of each file that were written and not synced. m and its open files go on as if nothing had happened.
func (m *Mem) Crash(keep int) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := NewMem()
	after.next, after.capacity = m.next, m.capacity
	for dir := range m.dirs {
		after.dirs[dir] = true
	}
	for name, node := range m.durable {
		data := slices.Clone(node.synced)
		if len(node.data) > len(data) {
			data = append(data, node.data[len(data):min(len(data)+keep, len(node.data))]...)
		}
		left := &inode{id: node.id, data: data, synced: slices.Clone(data), changed: node.changed, names: 1}
		after.names[name], after.durable[name] = left, left
		after.used += int64(len(data))
	}
	return after
}

// OpenFile opens a file; O_CREATE, O_EXCL, O_TRUNC, O_APPEND and the three ways of access are understood.
func (m *Mem) OpenFile(name string, flag int, _ fs.FileMode) (fileconn.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := filepath.Clean(name)
	if m.dirs[path] {
		return nil, pathError("open", name, syscall.EISDIR)
	}
	node := m.names[path]
	switch {
	case node == nil && flag&os.O_CREATE == 0, node == nil && !m.dirs[filepath.Dir(path)]:
		return nil, pathError("open", name, fs.ErrNotExist)
	case node != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, pathError("open", name, fs.ErrExist)
	case node == nil:
		node = m.create(path)
	case flag&os.O_TRUNC != 0:
		m.resize(node, 0)
	}
	m.open++
	node.handles++
	return &memFile{m: m, node: node, name: name, flag: flag}, nil
}

// create makes an inode. mu is held.
func (m *Mem) create(path string) *inode {
	id := m.next + 1
	if len(m.free) > 0 {
		id = slices.Min(m.free)
		m.free = slices.DeleteFunc(m.free, func(f uint64) bool { return f == id })
	} else {
		m.next = id
	}
	node := &inode{id: id, changed: time.Now(), names: 1}
	m.names[path] = node
	return node
}

// drop forgets an inode that no name and no handle leads to. mu is held.
func (m *Mem) drop(node *inode) {
	if node.names == 0 && node.handles == 0 {
		m.free = append(m.free, node.id)
		m.used -= int64(len(node.data))
	}
}

// resize sets the length of a file. mu is held.
func (m *Mem) resize(node *inode, size int64) {
	m.used += size - int64(len(node.data))
	if size <= int64(len(node.data)) {
		node.data = node.data[:size:size]
	} else {
		node.data = append(node.data, make([]byte, size-int64(len(node.data)))...)
	}
	node.changed = time.Now()
}

// Stat returns size, time of change, mode and identity of a file or directory.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := filepath.Clean(name)
	if m.dirs[path] {
		return memInfo{name: filepath.Base(path), dir: true}, nil
	}
	node := m.names[path]
	if node == nil {
		return nil, pathError("stat", name, fs.ErrNotExist)
	}
	return node.info(path), nil
}

// ReadDir returns the files and directories right below a directory.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := filepath.Clean(name)
	if !m.dirs[dir] {
		return nil, pathError("readdir", name, fs.ErrNotExist)
	}
	var entries []fs.DirEntry
	for path, node := range m.names {
		if filepath.Dir(path) == dir {
			entries = append(entries, fs.FileInfoToDirEntry(node.info(path)))
		}
	}
	for path := range m.dirs {
		if path != dir && filepath.Dir(path) == dir {
			entries = append(entries, fs.FileInfoToDirEntry(memInfo{name: filepath.Base(path), dir: true}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll makes a directory and its parents.
func (m *Mem) MkdirAll(name string, _ fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for path := filepath.Clean(name); !m.dirs[path]; path = filepath.Dir(path) {
		if m.names[path] != nil {
			return pathError("mkdir", name, syscall.ENOTDIR)
		}
		m.dirs[path] = true
	}
	return nil
}

// Rename gives a file another name. Directories cannot be renamed.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	source, target := filepath.Clean(from), filepath.Clean(to)
	node := m.names[source]
	if node == nil || !m.dirs[filepath.Dir(target)] {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrNotExist}
	}
	if source == target {
		return nil
	}
	if replaced := m.names[target]; replaced != nil {
		replaced.names--
		m.drop(replaced)
	}
	delete(m.names, source)
	m.names[target] = node
	return nil
}

// Remove takes the name of a file away. Directories cannot be removed.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := filepath.Clean(name)
	node := m.names[path]
	if node == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	delete(m.names, path)
	node.names--
	m.drop(node)
	return nil
}

// Truncate sets the length of a file.
func (m *Mem) Truncate(name string, size int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	node := m.names[filepath.Clean(name)]
	if node == nil {
		return pathError("truncate", name, fs.ErrNotExist)
	}
	m.resize(node, size)
	return nil
}

// SyncDir makes the names in a directory durable.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := filepath.Clean(name)
	if !m.dirs[dir] {
		return pathError("sync", name, fs.ErrNotExist)
	}
	for path := range m.durable {
		if filepath.Dir(path) == dir && m.names[path] == nil {
			delete(m.durable, path)
		}
	}
	for path, node := range m.names {
		if filepath.Dir(path) == dir {
			m.durable[path] = node
		}
	}
	return nil
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

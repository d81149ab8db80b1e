package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// memFolder is a folder in memory that forgets, when the power is lost, what was not synced: the bytes of a file
// whose Sync was not called, and each change of a name after the last Sync of the folder.
type memFolder struct {
	live    map[string]*memFile
	durable map[string]*memFile
	pending []rename // changes of names since the last sync, in order
	// before is asked ahead of every change; its error is that of the change, which then does not happen, but for a
	// write, of which the first half happens.
	before func(op, name string) error
	ops    []string
}

// memFile is an inode: it lives on under another name.
type memFile struct {
	data   []byte
	synced int
	folder *memFolder
	name   string
}

// rename takes one name away and gives another to a file; either may be empty.
type rename struct {
	remove, add string
	file        *memFile
}

func (r rename) in(names map[string]*memFile) {
	delete(names, r.remove)
	if r.file != nil {
		names[r.add] = r.file
	}
}

func newMemFolder() *memFolder {
	return &memFolder{live: map[string]*memFile{}, durable: map[string]*memFile{}}
}

func (m *memFolder) ask(op, name string) error {
	m.ops = append(m.ops, op)
	if m.before == nil {
		return nil
	}
	if err := m.before(op, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (m *memFolder) change(r rename) {
	r.in(m.live)
	m.pending = append(m.pending, r)
}

func (m *memFolder) Open(name string) (fs.File, error) {
	files := fstest.MapFS{}
	for name, f := range m.live {
		files[name] = &fstest.MapFile{Data: f.data}
	}
	return files.Open(name)
}

func (m *memFolder) Create(name string) (file, error) {
	if err := m.ask("create", name); err != nil {
		return nil, err
	}
	f := &memFile{folder: m, name: name}
	m.change(rename{add: name, file: f})
	return f, nil
}

func (m *memFolder) Rename(from, to string) error {
	if err := m.ask("rename", from); err != nil {
		return err
	}
	f, ok := m.live[from]
	if !ok {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	m.change(rename{remove: from, add: to, file: f})
	return nil
}

func (m *memFolder) Remove(name string) error {
	if err := m.ask("remove", name); err != nil {
		return err
	}
	if _, ok := m.live[name]; !ok {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	m.change(rename{remove: name})
	return nil
}

func (m *memFolder) Sync() error {
	if err := m.ask("sync folder", "."); err != nil {
		return err
	}
	m.durable, m.pending = maps.Clone(m.live), nil
	return nil
}

func (f *memFile) Write(b []byte) (int, error) {
	if err := f.folder.ask("write", f.name); err != nil {
		f.data = append(f.data, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	f.data = append(f.data, b...)
	return len(b), nil
}

func (f *memFile) Sync() error {
	if err := f.folder.ask("sync", f.name); err != nil {
		return err
	}
	f.synced = len(f.data)
	return nil
}

func (f *memFile) Close() error { return f.folder.ask("close", f.name) }

// loss says what a crash leaves of what was not synced.
type loss struct {
	name string
	// keeps says whether a change of a name survives.
	keeps func() bool
	// tail returns what of the bytes of a file that were not synced survives.
	tail func(unsynced []byte) []byte
}

// losses are the ends of a process and of the power that tests go through; random ones follow the seeds.
func losses(seeds int) []loss {
	list := []loss{
		{"process killed", func() bool { return true }, func(b []byte) []byte { return b }},
		{"all that was not synced lost", func() bool { return false }, func([]byte) []byte { return nil }},
		{"names kept, bytes lost", func() bool { return true }, func([]byte) []byte { return nil }},
		{"names kept, bytes zero", func() bool { return true }, func(b []byte) []byte { return make([]byte, len(b)) }},
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		list = append(list, loss{
			name:  "by seed",
			keeps: func() bool { return r.IntN(2) == 0 },
			tail:  func(b []byte) []byte { return b[:r.IntN(len(b)+1)] },
		})
	}
	return list
}

// after returns the folder as it is found after the crash.
func (m *memFolder) after(l loss) *memFolder {
	names := maps.Clone(m.durable)
	for _, r := range m.pending {
		if l.keeps() {
			r.in(names)
		}
	}
	next := newMemFolder()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		data := append(slices.Clone(f.data[:f.synced]), l.tail(f.data[f.synced:])...)
		next.live[name] = &memFile{data: data, synced: len(data), folder: next, name: name}
	}
	next.durable = maps.Clone(next.live)
	return next
}

// noLease is a lease that nobody else asks for.
type noLease struct{}

func (noLease) check() error { return nil }

func (noLease) release() error { return nil }

func (m *memFolder) store() Store {
	return dirStore{path: "/state", system: system{
		make:    func(string) error { return nil },
		open:    func(string) folder { return m },
		acquire: func(string, string) (lease, error) { return noLease{}, nil },
	}}
}

func TestPowerLossForgetsWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	m := newMemFolder()
	f, err := m.Create("a")
	require.NoError(t, err)
	_, err = f.Write([]byte("synced"))
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	_, err = f.Write([]byte(" and not"))
	require.NoError(t, err)
	killed, lost := losses(0)[0], losses(0)[1]
	read := func(l loss, name string) string {
		t.Helper()
		data, err := fs.ReadFile(m.after(l), name)
		if errors.Is(err, fs.ErrNotExist) {
			return "no file"
		}
		require.NoError(t, err)
		return string(data)
	}
	require.Equal(t, "synced and not", read(killed, "a"))
	require.Equal(t, "no file", read(lost, "a"))
	require.NoError(t, m.Sync())
	require.Equal(t, "synced", read(lost, "a"))
	require.NoError(t, m.Rename("a", "b"))
	require.Equal(t, "synced", read(lost, "a"))
	require.Equal(t, "no file", read(killed, "a"))
	require.Equal(t, "synced and not", read(killed, "b"))
	require.NoError(t, m.Sync())
	require.NoError(t, m.Remove("b"))
	require.Equal(t, "synced", read(lost, "b"))
	require.Equal(t, "no file", read(killed, "b"))
}

var ctx = context.Background()

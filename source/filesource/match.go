package filesource

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// found is a file that is there.
type found struct {
	path    string
	id      fileconn.FileID
	size    int64
	changed int64 // when it was written to last, in Unix nanoseconds
}

func foundAt(path string, info fs.FileInfo) found {
	return found{path: path, id: fileconn.IDOf(info), size: info.Size(), changed: max(0, info.ModTime().UnixNano())}
}

// matcher finds the files of a pattern.
type matcher struct {
	fsys    fileconn.FS
	pattern string
	files   []found
	dirs    []string // that were looked into, or would have been
}

// matchFiles returns the regular files of a pattern by their paths, each once whatever the number of its names, and the
// directories that decide which they are.
func matchFiles(fsys fileconn.FS, pattern string) ([]found, []string, error) {
	m := &matcher{fsys: fsys, pattern: pattern}
	info, err := fsys.Stat(pattern)
	switch {
	case err == nil && info.IsDir():
		err = m.directory(filepath.Clean(pattern))
	case err == nil:
		m.dirs = append(m.dirs, filepath.Dir(pattern))
		m.add(filepath.Clean(pattern), info)
	case hasMeta(pattern): // whatever the error: on Windows such a name is not even valid
		volume := filepath.VolumeName(pattern)
		err = m.expand(volume, strings.Split(filepath.ToSlash(filepath.Clean(pattern[len(volume):])), "/"))
	case absent(err):
		m.dirs, err = append(m.dirs, filepath.Dir(pattern)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(m.files, func(a, b found) int { return strings.Compare(a.path, b.path) })
	slices.Sort(m.dirs)
	return uniqueFiles(m.files), slices.Compact(m.dirs), nil
}

// uniqueFiles leaves out further names of a file.
func uniqueFiles(files []found) []found {
	ids := make(map[fileconn.FileID]bool, len(files))
	paths := make(map[string]bool, len(files))
	return slices.DeleteFunc(files, func(f found) bool {
		again := paths[f.path] || ids[f.id]
		paths[f.path] = true
		ids[f.id] = f.id != fileconn.FileID{}
		return again
	})
}

// directory adds the files right in a directory but those whose name begins with a dot.
func (m *matcher) directory(dir string) error {
	entries, err := m.list(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && err == nil {
			err = m.stat(filepath.Join(dir, e.Name()))
		}
	}
	return err
}

// expand adds the files below dir that match the elements of a path.
func (m *matcher) expand(dir string, elements []string) error {
	element, rest := elements[0], elements[1:]
	switch {
	case element == "" || !hasMeta(element):
		next := join(dir, element)
		if len(rest) > 0 {
			return m.expand(next, rest)
		}
		m.dirs = append(m.dirs, orDot(dir))
		return m.stat(next)
	case element == "**" && len(rest) > 0:
		if err := m.expand(dir, rest); err != nil {
			return err
		}
		return m.eachDir(dir, func(sub string) error { return m.expand(sub, elements) })
	}
	entries, err := m.list(orDot(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(element, e.Name()); !ok { // a bad pattern is found by Validate
			continue
		}
		next := join(dir, e.Name())
		if len(rest) == 0 {
			err = m.stat(next)
		} else if m.isDir(next) {
			err = m.expand(next, rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachDir calls f with the directories right in dir but those whose name begins with a dot. Links are not followed.
func (m *matcher) eachDir(dir string, f func(string) error) error {
	entries, err := m.list(orDot(dir))
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && err == nil {
			err = f(join(dir, e.Name()))
		}
	}
	return err
}

// list returns the entries of a directory, none if it is not there.
func (m *matcher) list(dir string) ([]fs.DirEntry, error) {
	m.dirs = append(m.dirs, dir)
	entries, err := m.fsys.ReadDir(dir)
	if absent(err) {
		return nil, nil
	}
	return entries, err
}

func (m *matcher) isDir(path string) bool {
	info, err := m.fsys.Stat(path)
	return err == nil && info.IsDir()
}

// stat adds a file if it is there and regular.
func (m *matcher) stat(path string) error {
	info, err := m.fsys.Stat(path)
	if absent(err) {
		return nil // removed since it was listed, or a link to nothing
	}
	if err == nil {
		m.add(path, info)
	}
	return err
}

func (m *matcher) add(path string, info fs.FileInfo) {
	if info.Mode().IsRegular() {
		m.files = append(m.files, foundAt(path, info))
	}
}

// absent says whether err means that there is no such file, also because a part of its path is one.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func hasMeta(s string) bool { return strings.ContainsAny(s, `*?[`) }

// join is filepath.Join, but keeps that a path is absolute or relative as it was given.
func join(dir, element string) string {
	if element == "" {
		return dir + string(filepath.Separator)
	}
	return filepath.Join(dir, element)
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

package filesource

import (
	"path/filepath"
	"strings"
)

// Overlaps says whether the source would read what a sink owns, told as in [runnel.Traits.Owns]: "file " and an absolute
// path. It goes by the text of the path, as the file may not be there yet; the path of numbered files counts as it is
// written, with the verb for the number. Links are not followed.
func (s *Source[T]) Overlaps(owned string) bool {
	path, isFile := strings.CutPrefix(owned, "file ")
	pattern, err := filepath.Abs(s.pattern)
	if !isFile || s.pattern == "" || err != nil {
		return false
	}
	dir, name := filepath.Split(path)
	if path == pattern || filepath.Clean(dir) == pattern && !strings.HasPrefix(name, ".") {
		return true
	}
	return matchPath(elementsOf(pattern), elementsOf(path))
}

// elementsOf returns the elements of an absolute path, its volume among them.
func elementsOf(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

// matchPath says whether [matchFiles] would come from the elements of a pattern to those of a path.
func matchPath(pattern, path []string) bool {
	if len(pattern) == 0 || len(path) == 0 {
		return len(pattern) == len(path)
	}
	element, ok := pattern[0], pattern[0] == path[0]
	switch {
	case element == "**" && len(pattern) > 1:
		return matchPath(pattern[1:], path) || !strings.HasPrefix(path[0], ".") && matchPath(pattern, path[1:])
	case hasMeta(element):
		ok, _ = filepath.Match(element, path[0]) // a bad pattern is found by Validate
	}
	return ok && matchPath(pattern[1:], path[1:])
}

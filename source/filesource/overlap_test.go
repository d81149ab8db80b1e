package filesource

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
)

func TestSourceOverlapsWithTheFilesThatItWouldRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a.csv", "a.csv", true},
		{"./d/../a.csv", "a.csv", true},
		{"a.csv", "b.csv", false},
		{"a.csv", "d/a.csv", false},
		{"d", "d/a.csv", true},
		{"d/", "d/a.csv", true},
		{"d", "d/.a.csv", false},
		{"d", "d/sub/a.csv", false},
		{"d", "dd/a.csv", false},
		{"d", "d/o-%06d.csv", true},
		{"d/*.csv", "d/a.csv", true},
		{"d/*.csv", "d/o-%06d.csv", true},
		{"d/*.csv", "d/a.txt", false},
		{"d/*.csv", "d/sub/a.csv", false},
		{"d/o-[ab].csv", "d/o-b.csv", true},
		{"*/a.csv", "d/a.csv", true},
		{"*/a.csv", "a.csv", false},
		{"**/a.csv", "a.csv", true},
		{"**/a.csv", "d/sub/a.csv", true},
		{"**/a.csv", "d/.git/a.csv", false},
		{"**/sub/**/*.csv", "d/sub/x/y/a.csv", true},
		{"**/sub/**/*.csv", "d/a.csv", false},
		{"d/**", "d/a.csv", true},
		{"d/**", "d/sub/a.csv", false},
		{"[x].csv", "[x].csv", true},
		{"", "a.csv", false},
		{"[", "a.csv", false},
	} {
		path, err := filepath.Abs(filepath.FromSlash(c.path))
		require.NoError(t, err)
		s := Lines(filepath.FromSlash(c.pattern))
		require.Equal(t, c.want, s.Overlaps("file "+path), "%s, %s", c.pattern, c.path)
		require.False(t, s.Overlaps("topic "+path), "%s, %s", c.pattern, c.path)
	}
}

// TestOverlapsAgreesWithWhatIsFound compares the rule by text with the one that looks at a file system.
func TestOverlapsAgreesWithWhatIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var paths []string
	for _, name := range []string{"a.log", ".b.log", "[x].log", "sub/c.log", "sub/deep/d.log", ".git/e.log", "sub/.f.log"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
		paths = append(paths, path)
	}
	for _, pattern := range []string{
		"a.log", "", "sub", "*.log", "[ax].log", "[x].log", "*/*.log", "**", "**/*.log", "**/deep/*", "sub/**/*.log", "*/*/*", ".git/**/e.log",
	} {
		s := Lines(filepath.Join(root, filepath.FromSlash(pattern)))
		files, _, err := matchFiles(fileconn.OS{}, s.pattern)
		require.NoError(t, err)
		read := map[string]bool{}
		for _, f := range files {
			read[f.path] = true
		}
		for _, path := range paths {
			require.Equal(t, read[path], s.Overlaps("file "+path), "%s, %s", pattern, path)
		}
	}
}

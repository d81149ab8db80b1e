package filesource

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestMatchFilesFindsFilesInOrder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{
		"b.log", "a.log", "a.txt", ".hidden.log", "[x].log", "sub/c.log", "sub/deep/d.log", ".git/e.log",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "dir.log"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(root, "b.log"), filepath.Join(root, "link.log")))

	for _, c := range []struct {
		name, pattern string
		want, dirs    []string
	}{
		{"a file", "b.log", []string{"b.log"}, []string{""}},
		{"a file that is not there", "x.log", nil, []string{""}},
		{"a file below a file", "b.log/x", nil, []string{"b.log"}},
		{"a directory, without hidden files and further names", "", []string{"[x].log", "a.log", "a.txt", "b.log"}, []string{""}},
		{"a glob", "[ab].*", []string{"a.log", "a.txt", "b.log"}, []string{""}},
		{"a name that looks like a glob", "[x].log", []string{"[x].log"}, []string{""}},
		{"a glob of directories", "*/c.log", []string{"sub/c.log"}, []string{"", ".git", "dir.log", "sub"}},
		{"any depth", "**/[c-z].log", []string{"sub/c.log", "sub/deep/d.log"}, []string{"", "dir.log", "sub", "sub/deep"}},
		{"any depth, a fixed name", "**/d.log", []string{"sub/deep/d.log"}, []string{"", "dir.log", "sub", "sub/deep"}},
		{"a directory that is not there", "none/*.log", nil, []string{"none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files, dirs, err := matchFiles(fileconn.OS{}, filepath.Join(root, c.pattern))
			require.NoError(t, err)
			var got []string
			for _, f := range files {
				rel, err := filepath.Rel(root, f.path)
				require.NoError(t, err)
				require.EqualValues(t, len(rel), f.size)
				got = append(got, rel)
			}
			require.Equal(t, c.want, got)
			for i := range c.dirs {
				c.dirs[i] = filepath.Join(root, c.dirs[i])
			}
			require.Subset(t, c.dirs, dirs)
		})
	}
}

func TestMatchFilesTakesRelativePaths(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	for _, name := range []string{"a.log", "b.log", "d/c.log"} {
		require.NoError(t, m.MkdirAll(filepath.Dir(name), 0o755))
		f, err := fileconn.Create(m, name, 0o644)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for pattern, want := range map[string][]string{
		"a.log": {"a.log"}, "./a.log": {"a.log"}, "*.log": {"a.log", "b.log"}, "./*.log": {"a.log", "b.log"},
		".": {"a.log", "b.log"}, "**/*.log": {"a.log", "b.log", "d/c.log"}, "*/*": {"d/c.log"}, "d": {"d/c.log"},
	} {
		files, _, err := matchFiles(m, pattern)
		require.NoError(t, err)
		var got []string
		for _, f := range files {
			got = append(got, f.path)
		}
		require.Equal(t, want, got, pattern)
	}
}

func TestMatchFilesReportsWhatCannotBeListed(t *testing.T) {
	t.Parallel()
	for _, op := range []faultfs.Op{faultfs.OpReadDir, faultfs.OpStat} {
		fsys := faultfs.Inject(memWith(t, map[string]string{"a": ""}), func(c faultfs.Call) error {
			if c.Op == op {
				return &fs.PathError{Op: string(op), Path: c.Name, Err: syscall.EACCES}
			}
			return nil
		})
		_, _, err := matchFiles(fsys, "*")
		require.ErrorIs(t, err, fs.ErrPermission)
	}
}

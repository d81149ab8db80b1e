package fsync_test

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fsync"
)

func TestDirWantsAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, fsync.Dir(dir))
	if runtime.GOOS != "windows" {
		require.ErrorIs(t, fsync.Dir(filepath.Join(dir, "missing")), fs.ErrNotExist)
	}
}

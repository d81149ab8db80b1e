//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package checkpoint

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLockOfAFileThatLostItsNameKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), lockName)
	f, err := lockFile(name)
	require.NoError(t, err)
	require.True(t, isAt(f, name))
	require.NoError(t, os.Remove(name))
	require.False(t, isAt(f, name))
	require.NoError(t, os.WriteFile(name, nil, fileMode))
	require.False(t, isAt(f, name), "another file of that name")
	require.NoError(t, unlockFile(f))
}

func TestUnlockEndsTheLockThoughAForkHasACopyOfTheFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), lockName)
	f, err := lockFile(name)
	require.NoError(t, err)
	held, err := syscall.Dup(int(f.Fd()))
	require.NoError(t, err)
	defer syscall.Close(held)
	_, err = lockFile(name)
	require.ErrorIs(t, err, errHeld)
	require.NoError(t, unlockFile(f))
	again, err := lockFile(name)
	require.NoError(t, err)
	require.NoError(t, unlockFile(again))
}

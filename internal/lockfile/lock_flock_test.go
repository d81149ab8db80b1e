//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLockOfAFileThatLostItsNameKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(name, 0o600)
	require.NoError(t, err)
	require.True(t, isAt(f, name))
	require.NoError(t, os.Remove(name))
	require.False(t, isAt(f, name))
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	require.False(t, isAt(f, name), "another file of that name")
	require.NoError(t, Unlock(f))
}

func TestUnlockEndsTheLockThoughAForkHasACopyOfTheFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(name, 0o600)
	require.NoError(t, err)
	held, err := syscall.Dup(int(f.Fd()))
	require.NoError(t, err)
	defer syscall.Close(held)
	_, err = Lock(name, 0o600)
	require.ErrorIs(t, err, ErrHeld)
	require.NoError(t, Unlock(f))
	again, err := Lock(name, 0o600)
	require.NoError(t, err)
	require.NoError(t, Unlock(again))
}

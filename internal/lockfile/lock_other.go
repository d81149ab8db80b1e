//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lockfile

import (
	"errors"
	"io/fs"
	"os"
)

// Lock creates the file of that name and holds the lock while it exists. The system knows no lock that ends with
// the process: after a crash the file, which names the process that is gone, has to be removed by hand.
func Lock(name string, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrHeld
	}
	return f, err
}

// Unlock closes the file and removes it.
func Unlock(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

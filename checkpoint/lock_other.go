//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package checkpoint

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile creates the file of that name and holds the lock while it exists. The system knows no lock that ends with
// the process: after a crash the file, which names the process that is gone, has to be removed by hand.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, errHeld
	}
	return f, err
}

func unlockFile(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

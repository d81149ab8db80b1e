//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks the file of that name with flock(2), which it creates if needed. The lock belongs to the open file,
// so that a second one in the same process is refused too, and ends when the process does.
func Lock(name string, perm os.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, perm)
		if err != nil {
			return nil, err
		}
		if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Somebody may have removed or replaced the file in between: then the lock keeps nobody out.
		if isAt(f, name) {
			return f, nil
		}
		if err := Unlock(f); err != nil {
			return nil, err
		}
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		}
		return os.NewSyscallError("flock", err)
	}
}

func isAt(f *os.File, name string) bool {
	at, err := os.Stat(name)
	if err != nil {
		return false
	}
	is, err := f.Stat()
	return err == nil && os.SameFile(at, is)
}

// Unlock unlocks and closes. Closing alone would not do: a process that is forked at this moment has a copy of the
// open file until it starts its program, and the lock would live on with it.
func Unlock(f *os.File) error {
	return errors.Join(flock(f, syscall.LOCK_UN), f.Close())
}

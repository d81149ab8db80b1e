//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fileconn

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes the advisory lock of a file for writing, with flock(2). The lock belongs to the open file: a second one in
// the same process is refused too, and closing it, or the end of the process, gives the lock back. It returns
// [ErrLocked] while another has it. Files of a file system that is not the machine's have no lock.
func Lock(f File) error {
	open, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return nil
	}
	for {
		err := syscall.Flock(int(open.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		}
		return os.NewSyscallError("flock", err)
	}
}

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is ERROR_SHARING_VIOLATION of Windows' system error codes.
const errSharingViolation syscall.Errno = 32

// Lock opens the file of that name, which it creates if needed, for writing and lets others only read it: who
// wants to write is refused until it is closed, by this process or by its end.
func Lock(name string, perm os.FileMode) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, ErrHeld
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// Unlock closes the file.
func Unlock(f *os.File) error { return f.Close() }

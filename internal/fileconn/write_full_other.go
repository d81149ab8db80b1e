//go:build !unix

package fileconn

import (
	"errors"
	"io"
	"syscall"
)

// The numbers of ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL in Windows' system error codes.
const (
	errHandleDiskFull syscall.Errno = 39
	errDiskFull       syscall.Errno = 112
)

// WriteCanBeRepeated says whether a write that failed so was surely not done and may succeed later: the disk was full,
// or the write was short.
func WriteCanBeRepeated(err error) bool {
	for _, e := range [...]error{io.ErrShortWrite, errHandleDiskFull, errDiskFull} {
		if errors.Is(err, e) {
			return !errors.Is(err, ErrLost)
		}
	}
	return false
}

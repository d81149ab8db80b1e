//go:build unix

package fileconn

import (
	"errors"
	"io"
	"syscall"
)

// WriteCanBeRepeated says whether a write that failed so was surely not done and may succeed later: the disk or the
// quota was full, or the write was short.
func WriteCanBeRepeated(err error) bool {
	for _, e := range [...]error{io.ErrShortWrite, syscall.ENOSPC, syscall.EDQUOT, syscall.EAGAIN, syscall.EINTR} {
		if errors.Is(err, e) {
			return !errors.Is(err, ErrLost)
		}
	}
	return false
}

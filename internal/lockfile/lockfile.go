// Package lockfile locks a file so that only one process uses what the file stands for. The lock ends with the process,
// however that ends, where the system has such a lock.
package lockfile

import "errors"

// ErrHeld is returned by Lock while another holds the lock.
var ErrHeld = errors.New("lock is held")

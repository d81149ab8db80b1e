// Package fsync makes durable what file systems keep in memory for a while.
package fsync

import (
	"errors"
	"os"
	"runtime"
)

// Dir makes the names in a folder durable. Windows has no such call; its file system journals them.
func Dir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

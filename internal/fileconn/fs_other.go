//go:build !unix

package fileconn

import "io/fs"

// SyncDir does nothing: the system has no such call, and keeps names durable by itself.
func (OS) SyncDir(string) error { return nil }

// IDOf returns the identity of a file: here only test file systems tell.
func IDOf(info fs.FileInfo) FileID {
	id, _ := info.Sys().(FileID)
	return id
}

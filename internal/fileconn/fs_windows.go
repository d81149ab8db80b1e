package fileconn

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens a file that is only read so that others can rename and remove it, which package os does not.
func openFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag != os.O_RDONLY {
		return openPlain(name, flag, perm)
	}
	f, err := openShared(name, syscall.GENERIC_READ)
	if err != nil {
		return nil, err
	}
	return sharedFile{f}, nil
}

// openShared opens a file or directory, and leaves others all rights to it.
func openShared(name string, access uint32) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(path, access, share, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

func stat(name string) (fs.FileInfo, error) {
	f, err := openShared(name, 0)
	if err != nil {
		return nil, err
	}
	info, err := sharedFile{f}.Stat()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return info, err
}

// sharedFile is a file whose identity can be told.
type sharedFile struct{ *os.File }

// Stat returns what is known of the file, with its identity.
func (f sharedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	var d syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &d); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	id := FileID{Device: uint64(d.VolumeSerialNumber), Inode: uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow)}
	return identified{info, id}, nil
}

// identified is what is known of a file, with its identity.
type identified struct {
	fs.FileInfo
	id FileID
}

// Sys returns the identity.
func (i identified) Sys() any { return i.id }

// SyncDir does nothing: the system has no such call, and keeps names durable by itself.
func (OS) SyncDir(string) error { return nil }

// IDOf returns the identity of a file, which is known of what was read or asked for by name.
func IDOf(info fs.FileInfo) FileID {
	id, _ := info.Sys().(FileID)
	return id
}

package faultfs

import (
	"errors"
	"io/fs"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// injectedFile asks the hook before each call of a file.
type injectedFile struct {
	fileconn.File
	hook Hook
}

func (f *injectedFile) Read(p []byte) (int, error) {
	return f.transfer(OpRead, p, f.File.Read)
}

func (f *injectedFile) ReadAt(p []byte, off int64) (int, error) {
	return f.transfer(OpRead, p, func(p []byte) (int, error) { return f.File.ReadAt(p, off) })
}

func (f *injectedFile) Write(p []byte) (int, error) {
	return f.transfer(OpWrite, p, f.File.Write)
}

// transfer reads or writes p, or the part of it that a [Short] allows.
func (f *injectedFile) transfer(op Op, p []byte, do func([]byte) (int, error)) (int, error) {
	err := f.hook(Call{Op: op, Name: f.Name(), Len: len(p)})
	if err == nil {
		return do(p)
	}
	var short *Short
	if !errors.As(err, &short) {
		return 0, err
	}
	n, err := do(p[:min(short.N, len(p))])
	if err != nil {
		return n, err
	}
	return n, short.Err
}

func (f *injectedFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.hook(Call{Op: OpSeek, Name: f.Name()}); err != nil {
		return 0, err
	}
	return f.File.Seek(offset, whence)
}

func (f *injectedFile) Stat() (fs.FileInfo, error) {
	if err := f.hook(Call{Op: OpStat, Name: f.Name()}); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *injectedFile) Sync() error {
	if err := f.hook(Call{Op: OpSync, Name: f.Name()}); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *injectedFile) Truncate(size int64) error {
	if err := f.hook(Call{Op: OpTruncate, Name: f.Name()}); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *injectedFile) Close() error {
	fault := f.hook(Call{Op: OpClose, Name: f.Name()})
	err := f.File.Close()
	if fault != nil {
		return fault
	}
	return err
}

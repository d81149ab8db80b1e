package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// keepRewinds is of how many rewinds the files set aside are kept: enough to look into the last faults, while a
// pipeline that fails and rewinds at every start does not fill the disk.
const keepRewinds = 3

// Rewind gives every file after n another name, the newest first: were it cut short, the newest of those left is as
// readable as it was before.
func (l *dirLog) Rewind(ctx context.Context, n Number) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	if err := l.lease.check(); err != nil {
		return err
	}
	if n > 0 {
		if _, err := l.load(ctx, n); err != nil {
			return err
		}
	}
	if l.newest().number <= n {
		return nil
	}
	if err := l.setAside(ctx, n); err != nil {
		return fmt.Errorf("checkpoint: rewind %s to %d: %w", l.path, n, err)
	}
	return nil
}

func (l *dirLog) setAside(ctx context.Context, n Number) error {
	found, err := list(l.files)
	if err != nil {
		return err
	}
	rewind := 1
	if k := len(found.aside); k > 0 {
		rewind = found.aside[k-1].rewind + 1
	}
	if err := l.forget(found.aside, rewind-keepRewinds); err != nil {
		return err
	}
	l.tip = nil
	for l.newest().number > n {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := l.newest().number
		err := l.files.Rename(storedName(last), asideName(last, rewind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// Each by itself, since loss of power may keep any part of what was not synced, and so break a chain.
		if err := l.files.Sync(); err != nil {
			return err
		}
		l.index = l.index[:len(l.index)-1]
	}
	return nil
}

// forget removes what rewinds up to the given one set aside.
func (l *dirLog) forget(aside []asideFile, upTo int) error {
	for _, a := range aside {
		if a.rewind > upTo {
			break
		}
		if err := l.files.Remove(a.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Reset removes every checkpoint of a folder of [Dir], and what was set aside, so that the next run of the pipeline
// starts anew. It returns the names of the files that it removed, also with an error. Other files stay.
//
// It holds the lease meanwhile. The newest checkpoint goes last: should it be cut short, no older one comes into force.
// Errors: [ErrInUse] while a run holds the folder; one that is [fs.ErrNotExist] if there is no such folder.
func Reset(ctx context.Context, path string) ([]string, error) {
	if err := named("Reset", path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	files, err := openExisting(path)
	if err != nil {
		return nil, err
	}
	found, err := list(files)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: reset %s: %w", path, err)
	}
	if len(found.names()) == 0 {
		return nil, nil // and no lock file in a folder that may be another thing's
	}
	lease, err := acquire(path, "to reset it")
	if err != nil {
		return nil, err
	}
	removed, err := reset(ctx, files)
	if err := errors.Join(err, lease.release()); err != nil {
		return removed, fmt.Errorf("checkpoint: reset %s: %w", path, err)
	}
	return removed, nil
}

func reset(ctx context.Context, files folder) ([]string, error) {
	found, err := list(files)
	if err != nil {
		return nil, err
	}
	names := found.names()
	var removed []string
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		if i == len(names)-1 {
			if err := files.Sync(); err != nil {
				return removed, err
			}
		}
		if err := files.Remove(name); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, files.Sync()
}

package filesink

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrExists is returned by Open when a start without a checkpoint finds a file that holds something, and neither
	// [Replace] nor [Append] says what to do with it.
	ErrExists = errors.New("there is a file already")
	// ErrLoss is returned by Open when a file is not, or no longer, what the checkpoint says. See [AllowLoss].
	ErrLoss = errors.New("the file is not what the checkpoint says")
	// ErrInUse is returned by Open while another sink, of this process or another, writes the file.
	ErrInUse = errors.New("the file is being written by another sink, of this pipeline or of another process; each needs a name of its own")
	// ErrChanged is returned at a checkpoint when somebody else has moved, removed, replaced, cut or written to the file.
	// Files that are to be rotated are numbered ones, which only appear when they are finished.
	ErrChanged = errors.New("the file was changed by somebody else")
	// ErrMismatch is returned by Open when the checkpoint was taken with settings that the file cannot be continued with:
	// another compression, another header, one file in place of many.
	ErrMismatch = errors.New("the settings are not those of the checkpoint")
	// ErrLineFeed is the error of a line that has a line feed in it.
	ErrLineFeed = errors.New("there is a line feed in the line")
	// ErrFields is the error of a row that has not as many fields as the header, or none.
	ErrFields = errors.New("wrong number of fields")
)

var errNilOption = errors.New("an option is nil")

// at names the file that err is about, once.
func at(name string, err error) error {
	if err == nil {
		return nil
	}
	if name == "" {
		return fmt.Errorf("filesink: %w", err)
	}
	var path *fs.PathError
	if errors.As(err, &path) && err == error(path) { //nolint:errorlint // only the outermost error is taken apart
		return fmt.Errorf("filesink: %s: %s: %w", path.Path, path.Op, path.Err)
	}
	return fmt.Errorf("filesink: %s: %w", name, err)
}

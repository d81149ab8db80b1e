package filesource

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Causes of a [RecordError]: of one record, which goes by the error policy of the source.
var (
	// ErrTooLong is the cause when a line or CSV record exceeds [MaxLineBytes].
	ErrTooLong = errors.New("longer than the limit")
	// ErrNUL is the cause when a line holds nothing but NUL bytes.
	ErrNUL = errors.New("nothing but NUL bytes")
	// ErrUTF8 is the cause when [RequireUTF8] is set and a record is not valid UTF-8.
	ErrUTF8 = errors.New("not valid UTF-8")
	// ErrBareQuote is the cause when a CSV field that does not begin with a quote has one.
	ErrBareQuote = errors.New("quote in a field that does not begin with one")
	// ErrQuote is the cause when a quote within a CSV field neither ends it nor is doubled, or when a quoted field does
	// not end before the file does. In the latter case the record ends at its first line, and reading goes on at the
	// next.
	ErrQuote = errors.New("quote that is not doubled or not closed")
	// ErrFieldCount is the cause when a CSV record has another number of fields than the first of its file.
	ErrFieldCount = errors.New("wrong number of fields")
)

// Errors of a file or of the source, which end the run.
var (
	// ErrNoFiles is returned by Open when no file matches the pattern, unless [AllowNone] or [Follow] is set. For a path
	// without wildcards that does not exist the error is [fs.ErrNotExist] too.
	ErrNoFiles = errors.New("no file matches")
	// ErrColumns is returned when the header of a CSV file does not fit the struct. As a file without a header gives its
	// first record for one, the error holds nothing of it, but with [ExactColumns] the names that are too many.
	ErrColumns = errors.New("columns do not fit")
	// ErrUTF16 is returned for a file that begins with a byte order mark of UTF-16, unless [Raw] is set.
	ErrUTF16 = errors.New("file is UTF-16, not UTF-8")
	// ErrGarbage is returned, behind all records, when an archive is followed by something else than padding. An archive
	// that is cut gives io.ErrUnexpectedEOF.
	ErrGarbage = fileconn.ErrGarbage
)

// RecordError says which record of a file could not be read. It does not hold the record itself: that is the value of
// the [runnel.Failed] that it comes with.
type RecordError struct {
	// Path is the file.
	Path string
	// Line is the number of the record's first line, counted from 1.
	Line int64
	// Offset is where the record begins, in bytes; in an archive, of what is unpacked.
	Offset int64
	// Length is the length of the record in bytes, without what ends it.
	Length int64
	// Err is the cause: one of this package's, or what the decoder returned.
	Err error
}

// Error names the line and the cause. The file and the offset are left to what the error comes with, which has them as
// the record's origin: a [runnel.Failed], or the [runnel.StageError] that the run ends with.
func (e *RecordError) Error() string {
	return fmt.Sprintf("filesource: line %d, %d bytes long: %v", e.Line, e.Length, e.Err)
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// aside returns err without the path that its place, which is told beside it, names already.
func aside(path string, err error) error {
	var named *fs.PathError
	if !errors.As(err, &named) || err != error(named) || filepath.Clean(named.Path) != filepath.Clean(path) { //nolint:errorlint // only the outermost error is taken apart
		return err
	}
	return fmt.Errorf("%s: %w", named.Op, named.Err)
}

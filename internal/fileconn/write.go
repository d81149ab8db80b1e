package fileconn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// tailBytes is how much of the end of a file [Mark.Sum] covers: enough to tell one file from another, little enough to
// be hashed at every checkpoint.
const tailBytes = 1024

// ErrLost is returned when the disk may not hold what was written: a sync failed, and the system does not write again
// what it gave up. Nothing more is written to the file; what is durable is found out by opening it anew.
var ErrLost = errors.New("a sync failed, and what is on the disk is unknown")

// ErrLocked is returned when another writer, of this process or another, has the file.
var ErrLocked = errors.New("another writer has it open")

// Mark is a length of a file, and what tells that the bytes before it are those that were written.
type Mark struct {
	// Size is the length.
	Size int64 `json:"size"`
	// Sum is a hash of the last bytes before Size.
	Sum string `json:"sum,omitempty"`
}

// Output writes a file behind a length that ends with a whole record. What a failed write left behind that length is
// cut off, at once or, if that fails too, before the next write: it is never taken as written. It is not safe for
// concurrent use.
type Output struct {
	file   File
	size   int64  // what counts as written
	tail   []byte // the last bytes of it, up to tailBytes
	torn   bool   // the file may be longer, or its place for writing elsewhere
	dirty  bool   // something changed since the last sync
	broken error  // why nothing may be written any more
}

// NewOutput writes f from size on and cuts what lies beyond. The file is open for reading and writing.
func NewOutput(f File, size int64) (*Output, error) {
	o := &Output{file: f, size: size, torn: true, dirty: true}
	var err error
	if o.tail, err = readTail(f, size); err != nil {
		return nil, err
	}
	return o, o.repair()
}

// Name returns the name that the file was opened with.
func (o *Output) Name() string { return o.file.Name() }

// Size returns how many bytes count as written.
func (o *Output) Size() int64 { return o.size }

// Mark returns the length now.
func (o *Output) Mark() Mark { return Mark{Size: o.size, Sum: sum(o.tail)} }

// Write writes p behind what counts as written, and returns how much of p does now: all of it, or after an error the
// bytes up to the greatest of ends, in rising order, that the disk took. The rest is cut off again and can be written
// once more.
func (o *Output) Write(p []byte, ends []int) (int, error) {
	if err := o.repair(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	o.dirty = true
	n, err := o.file.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err == nil {
		o.advance(p)
		return len(p), nil
	}
	o.torn = true
	whole := 0
	for _, end := range ends {
		if end > n {
			break
		}
		whole = end
	}
	o.advance(p[:whole])
	if cut := o.repair(); cut != nil {
		err = errors.Join(err, cut)
	}
	return whole, err
}

// Cut gives up what was written behind size.
func (o *Output) Cut(size int64) error {
	if size > o.size {
		return fmt.Errorf("cut to %d bytes: only %d are written", size, o.size)
	}
	tail, err := readTail(o.file, size)
	if err != nil {
		return err
	}
	o.size, o.tail, o.torn, o.dirty = size, tail, true, true
	return o.repair()
}

// Sync makes everything written durable; the name of a new file needs [FS.SyncDir] too. After an error it returns
// [ErrLost] for ever.
func (o *Output) Sync() error {
	if err := o.repair(); err != nil {
		return err
	}
	if !o.dirty {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		o.broken = fmt.Errorf("%w: %w", ErrLost, err)
		return o.broken
	}
	o.dirty = false
	return nil
}

// Close closes the file. What a failed write left behind is cut off if that is possible.
func (o *Output) Close() error {
	err := o.repair()
	if errors.Is(err, ErrLost) {
		err = nil
	}
	return errors.Join(err, o.file.Close())
}

// repair brings the file to the length that counts.
func (o *Output) repair() error {
	if o.broken != nil {
		return o.broken
	}
	if !o.torn {
		return nil
	}
	if err := o.file.Truncate(o.size); err != nil {
		return err
	}
	if _, err := o.file.Seek(o.size, io.SeekStart); err != nil {
		return err
	}
	o.torn = false
	return nil
}

// advance counts p as written.
func (o *Output) advance(p []byte) {
	o.size += int64(len(p))
	if len(p) >= tailBytes {
		o.tail = append(o.tail[:0], p[len(p)-tailBytes:]...)
		return
	}
	if over := len(o.tail) + len(p) - tailBytes; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	o.tail = append(o.tail, p...)
}

// Matches says whether the bytes before the mark are those that were there when it was taken. A file that is shorter
// does not match.
func Matches(f File, m Mark) (bool, error) {
	tail, err := readTail(f, m.Size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return sum(tail) == m.Sum, nil
}

// readTail reads the last bytes before size.
func readTail(f File, size int64) ([]byte, error) {
	tail := make([]byte, min(size, tailBytes), tailBytes)
	n, err := f.ReadAt(tail, size-int64(len(tail)))
	switch {
	case n == len(tail):
		return tail, nil
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	}
	return nil, err
}

func sum(tail []byte) string {
	if len(tail) == 0 {
		return ""
	}
	h := sha256.Sum256(tail)
	return hex.EncodeToString(h[:16])
}
